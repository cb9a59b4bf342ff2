"""The scorer: answers + predictions -> match -> tally -> statistics -> report.

The names below are loaded when they are first used; none needs an image library, a network or a dataset.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vcrgen.scorer.answers import load_answers
    from vcrgen.scorer.api import match_span, match_spans
    from vcrgen.scorer.comparison import Comparison, compare
    from vcrgen.scorer.records import METRICS, AnswerKey, Outcome, SpanMatch, View
    from vcrgen.scorer.results import RunResult
    from vcrgen.scorer.run import Options, Session, Validation, score
    from vcrgen.scorer.scorer import Scorer, make_scorer
    from vcrgen.scorer.tables import render

_HOMES = {
    "METRICS": "records",
    "AnswerKey": "records",
    "Comparison": "comparison",
    "Options": "run",
    "Outcome": "records",
    "RunResult": "results",
    "Scorer": "scorer",
    "Session": "run",
    "SpanMatch": "records",
    "Validation": "run",
    "View": "records",
    "compare": "comparison",
    "load_answers": "answers",
    "make_scorer": "scorer",
    "match_span": "api",
    "match_spans": "api",
    "render": "tables",
    "score": "run",
}
__all__ = [
    "METRICS",
    "AnswerKey",
    "Comparison",
    "Options",
    "Outcome",
    "RunResult",
    "Scorer",
    "Session",
    "SpanMatch",
    "Validation",
    "View",
    "compare",
    "load_answers",
    "make_scorer",
    "match_span",
    "match_spans",
    "render",
    "score",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'vcrgen.scorer' has no attribute {name!r}")
    return getattr(importlib.import_module(f"vcrgen.scorer.{_HOMES[name]}"), name)
