"""Leaderboards: submissions from strangers are stored, scored in a process of their own, ranked and shown.

    file + facts -> intake -> store -> worker (scoring, ranking) -> store -> pages, exports
    hidden set -> ladder while it is open -> closing (final split, ranking) -> rotation (retired, published)

``store/`` is the only place that knows the database, and ``disclosure.py`` the only one that decides what of a hidden
set's scores may be seen. What people see is made of the records that ``store/reader.py`` hands out; those have passed it.
"""
