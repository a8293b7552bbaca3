"""Passwords and keys of one undercloud: generated once, then kept."""

from __future__ import annotations

import base64
import secrets
from pathlib import Path

import msgspec

from tripleo_worker.errors import UndercloudError
from tripleo_worker.undercloud.files import write_private


def _password() -> str:
    return secrets.token_urlsafe(24)


def _fernet_key() -> str:
    return base64.urlsafe_b64encode(secrets.token_bytes(32)).decode()


def _hex_key() -> str:
    return secrets.token_hex(16)


class Credentials(msgspec.Struct, frozen=True, kw_only=True):
    """Every secret that a template may name."""

    admin: str = msgspec.field(default_factory=_password)
    keystone: str = msgspec.field(default_factory=_password)
    swift: str = msgspec.field(default_factory=_password)
    zaqar: str = msgspec.field(default_factory=_password)
    mistral: str = msgspec.field(default_factory=_password)
    heat: str = msgspec.field(default_factory=_password)
    heat_domain_admin: str = msgspec.field(default_factory=_password)
    ironic: str = msgspec.field(default_factory=_password)
    worker: str = msgspec.field(default_factory=_password)
    redis: str = msgspec.field(default_factory=_password)
    rabbitmq: str = msgspec.field(default_factory=_password)
    #: Salt of the broker's password hash, so that its definitions stay the same text.
    rabbitmq_salt: str = msgspec.field(default_factory=lambda: secrets.token_hex(4))
    zaqar_signing_key: str = msgspec.field(default_factory=_password)
    #: Encrypts what Heat stores; exactly 32 characters.
    heat_encryption_key: str = msgspec.field(default_factory=_hex_key)
    swift_hash_prefix: str = msgspec.field(default_factory=_hex_key)
    swift_hash_suffix: str = msgspec.field(default_factory=_hex_key)
    fernet_staged: str = msgspec.field(default_factory=_fernet_key)
    fernet_primary: str = msgspec.field(default_factory=_fernet_key)
    credential_staged: str = msgspec.field(default_factory=_fernet_key)
    credential_primary: str = msgspec.field(default_factory=_fernet_key)


def load_or_generate(path: Path) -> Credentials:
    """The credentials kept in a file; generated and written there (0600) if it is absent.

    A field that a newer release added is generated and kept as well.

    Raises:
        UndercloudError: the file cannot be read.
    """
    try:
        credentials = msgspec.json.decode(path.read_bytes(), type=Credentials)
    except FileNotFoundError:
        credentials = Credentials()
    except (msgspec.DecodeError, OSError) as error:
        raise UndercloudError(
            f"{path} cannot be read: {error}.",
            remedy="Restore the file, or start afresh with `tripleo-worker undercloud reset`.",
        ) from error
    write_private(path, msgspec.json.format(msgspec.json.encode(credentials), indent=1).decode())
    return credentials
