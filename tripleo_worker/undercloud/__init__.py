"""The embedded undercloud: real OpenStack services on loopback, under one supervisor.

::

    up ── preflight ── rendering ──► supervisor ── unit ── processes
                                        │
                   services.py, steps: what runs, what it needs, how readiness shows

The command starts a supervisor that lives in a session of its own and follows the state
file that it writes. Nothing but the ``undercloud`` command and the tests imports this room.
"""
