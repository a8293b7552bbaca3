"""The services that actions call: thin, typed, errors verbatim, lists read to their end."""
