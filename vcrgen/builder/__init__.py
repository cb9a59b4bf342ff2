"""From image-caption pairs to a dataset: sources, filters, masks, layout, drawing, encoding, shards."""
