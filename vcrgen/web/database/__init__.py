"""Databases of boards and studies: connections, transactions, and the version of a schema."""
