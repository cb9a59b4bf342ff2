"""The built-in generator: questions about drawn scenes, without a model and without a network."""
