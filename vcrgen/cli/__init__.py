"""The command line: the only room that knows typer and rich. Commands parse, call and print.

Each module holds the commands of one subject and adds them to ``app`` when it is imported; the order in which the
help shows them is in ``root.py``. Options of a model in ``vcrgen/config.py`` are made by ``options.py``.
"""

from vcrgen.cli.root import app, join_lines  # isort: split

from vcrgen.cli import (  # noqa: F401
    analyze,
    analyze_items,
    baseline,
    bloom,
    bloom_audit,
    bloom_coverage,
    build,
    contamination,
    datasets,
    doctor,
    finetune,
    fonts,
    hidden,
    leaderboard,
    predict,
    profile,
    score,
    study,
)

join_lines(app)

__all__ = ["app"]
