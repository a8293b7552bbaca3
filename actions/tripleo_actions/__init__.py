"""Mistral actions that hold the deployment logic of an overcloud."""
