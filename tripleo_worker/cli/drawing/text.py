"""Words and numbers as people read them, safe for a terminal."""

from __future__ import annotations

import unicodedata
from datetime import timedelta

#: Letter-like marks that turn the direction of text around, and so can hide what it says.
_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")


def safe(text: str) -> str:
    r"""One line without anything that a terminal would obey; such marks show as ``\x1b``."""
    return "".join(_shown(sign) for sign in text.strip())


def clipped(text: str, width: int) -> str:
    """At most ``width`` characters, the end cut with a mark."""
    return text if len(text) <= width else text[: max(width - 1, 0)] + "…"


def lasting(span: timedelta) -> str:
    """``4.2 s``, ``1:04`` or ``2:03:07``."""
    seconds = span.total_seconds()
    if seconds < 10:
        return f"{seconds:.1f} s"
    return clock(span) if seconds >= 60 else f"{seconds:.0f} s"


def clock(span: timedelta) -> str:
    """``0:42``, ``1:04`` or ``2:03:07``: a width that does not jump while it counts."""
    minutes, seconds = divmod(int(span.total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def about(span: timedelta) -> str:
    """A time that is only guessed, without digits that nobody knows."""
    seconds = round(span.total_seconds())
    if seconds < 10:
        return "a few seconds"
    if seconds < 60:
        return f"about {round(seconds, -1)} s"
    if seconds < 3600:
        return f"about {round(seconds / 60)} min"
    return f"about {seconds / 3600:.1f} h"


def _shown(sign: str) -> str:
    if sign in "\n\t\r":
        return " "
    if sign in _TURNING or unicodedata.category(sign) in ("Cc", "Cs"):
        number = ord(sign)
        return f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}"
    return sign
