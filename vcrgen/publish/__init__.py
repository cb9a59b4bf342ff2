"""What is made of a finished dataset: pages to look at, and the forms other tools read."""
