"""Chinese captions."""
