"""Outputs of a finished dataset: pages to look at, and the forms that other tools read."""
