"""A finished dataset on a disk or in a store: manifest, schema, rows, pictures, statistics, key of a hidden set."""
