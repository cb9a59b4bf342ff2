"""Baselines: a dataset's pictures -> a reader -> a file of outputs that the scorer takes."""
