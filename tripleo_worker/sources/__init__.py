"""One adapter a bus: reads, normalises and hands over.

A source neither stores nor knows who listens. Each is a :class:`tripleo_worker.ports.Source`.
"""
