"""People look at a part of a question set: what they get, what they say, and what it tells of the whole set."""
