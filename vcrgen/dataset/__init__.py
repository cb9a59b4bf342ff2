"""Finished datasets: manifest, schema, rows, pictures, statistics, key of a hidden set."""
