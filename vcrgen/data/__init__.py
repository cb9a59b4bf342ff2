"""A dataset on a disk or in a store: manifest, schema, rows, pictures, key of a hidden set; tasks, exports."""
