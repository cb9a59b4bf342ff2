"""Contamination tests: outputs of one model on several datasets -> tests -> a report.

``outputs.py`` reads and matches outputs as the scorer does, ``evidence.py`` makes shares and differences of them,
``examine.py`` runs all tests, ``contamination_report.py`` makes the document.
"""
