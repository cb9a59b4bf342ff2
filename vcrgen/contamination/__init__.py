"""Whether a model had seen a set: outputs of one model on several datasets -> tests -> a report.

``outputs.py`` reads and matches outputs as the scorer does, ``evidence.py`` makes shares and differences of them,
``run.py`` knows the order, ``tables.py`` and ``page.py`` say it.
"""
