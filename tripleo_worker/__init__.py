"""Overcloud deployment through Mistral, watched live."""
