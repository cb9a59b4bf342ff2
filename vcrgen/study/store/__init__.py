"""The database of a study: one SQLite file, a module for each of its subjects, and no other code knows its tables."""
