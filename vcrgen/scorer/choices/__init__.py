"""Four options and a model's reply: which option it chose, which one it finds likeliest, and an item's scores."""
