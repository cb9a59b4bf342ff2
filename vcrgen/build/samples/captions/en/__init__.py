"""English captions."""
