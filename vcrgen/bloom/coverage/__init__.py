"""Coverage of a taxonomy by the items of any sets."""
