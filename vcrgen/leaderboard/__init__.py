"""Leaderboards: submissions from strangers are stored, scored in a process of their own, ranked and shown.

    file + facts -> intake -> store -> worker (scoring, ranking) -> store -> pages, exports
    hidden set -> ladder while it is open -> closing (final split, ranking) -> rotation (retired, published)

``store/`` is the only place that knows the database, and ``disclosure.py`` the only one that decides what of a hidden
set's scores may be seen. Pages and exports render the records of ``store/reader.py``, which have passed it.
"""
