"""Pages on this machine, to look at a dataset."""
