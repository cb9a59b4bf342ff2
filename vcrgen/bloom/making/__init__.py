"""Question sets made with a model: stages, records in and records out, and the run that asks."""
