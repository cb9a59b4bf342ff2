"""Audit of an MCQ benchmark: people judge a random sample of its items, and the sample tells of the whole."""
