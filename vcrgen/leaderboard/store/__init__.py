"""The database of a board: its tables and log, what changes them, and the records that pages and exports show."""
