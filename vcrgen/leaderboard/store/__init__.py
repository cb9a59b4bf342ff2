"""The database of a board: tables, migrations, the log, and the questions asked of them."""
