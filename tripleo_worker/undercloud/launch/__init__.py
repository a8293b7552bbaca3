"""Entry points of the services that ship no server of their own that fits."""
