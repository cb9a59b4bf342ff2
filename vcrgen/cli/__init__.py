"""The command line: the only room that knows typer and rich. Commands parse, call and print.

Each module holds the commands of one subject and adds them to ``app`` when it is imported; the help shows them in the
order of the imports below. Options of a model in ``vcrgen/config.py`` are made by ``options.py``.
"""

from vcrgen.cli.root import app  # isort: split

from vcrgen.cli import (  # noqa: F401
    analyze,
    analyze_items,
    baseline,
    bloom,
    bloom_audit,
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

__all__ = ["app"]
