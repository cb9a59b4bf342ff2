"""Numbers in, numbers out: bootstrap and ranking."""
