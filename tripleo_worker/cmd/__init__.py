"""The programs of the package: thin shells over its rooms."""
