"""The database of a board: tables, the log, and the questions asked of them."""
