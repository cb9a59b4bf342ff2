"""Languages, their segmenters, and which texts may be masked."""
