"""Multiple-choice benchmarks (MCQ): the option that an output names, the likeliest option, and an item's scores."""
