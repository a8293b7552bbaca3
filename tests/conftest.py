"""What holds for every test."""

from hypothesis import settings

# A law is not a race: how long an example takes depends on what else the machine does.
settings.register_profile("laws", deadline=None)
settings.load_profile("laws")
