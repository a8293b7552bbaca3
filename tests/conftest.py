"""What holds for every test."""

import signal

from hypothesis import settings

# A law is not a race: how long an example takes depends on what else the machine does.
settings.register_profile("laws", deadline=None)
settings.load_profile("laws")

# A shell lets what it starts in the background ignore Ctrl-C, and its children too: the tests
# of Ctrl-C would wait for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)
