"""People do the task: who sees what, a page that asks them, what they typed, and what a report says of it.

A dataset becomes a study (``make.py``), people are invited (``people.py``) to what the design gives them
(``design.py``), a service asks them (``service/``), and what they typed is scored (``marks.py``), summed up
(``figures.py``) and reported (``report.py``).
"""
