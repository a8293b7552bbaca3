"""The durable log: append gives each event its place, once; everything else reads.

``tables`` is what stands in the database, ``database`` opens it, ``ledger`` is the one
transaction that appends, ``reading`` reads, and ``store`` is the journal that the rest of
the house sees. Migrations are alembic's and run when the journal is opened.
"""
