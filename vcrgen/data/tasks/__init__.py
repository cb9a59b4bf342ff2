"""Tasks: columns and statistics of their datasets, and their scoring records."""
