"""A dataset's pictures -> a model -> a file of outputs that the scorer takes; ``job.py`` for models that cost money."""
