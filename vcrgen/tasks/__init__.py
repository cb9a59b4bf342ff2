"""What is true of one task only: the columns of its datasets, and the figures by which they are described."""
