"""Leaderboards: submissions from strangers are stored, scored in a process of their own, ranked and shown.

    file + facts -> intake -> store -> worker (scoring, ranking) -> queries -> pages, exports
    hidden set -> ladder while it is open -> closing (final split, ranking) -> rotation (retired, published)

``store/`` is the only place that knows the database, ``disclosure.py`` the only place that decides what of a hidden
set's scores may be seen, and everything that people see is made from the records of ``queries/``.
"""
