"""The scorer: answers + predictions -> match -> tally -> statistics -> report.

The names below are loaded when they are first used; none needs an image library, a network or a dataset.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vcrgen.score.answers import load_answers
    from vcrgen.score.api import match_span, match_spans
    from vcrgen.score.comparison import Comparison, compare
    from vcrgen.score.records import METRICS, AnswerKey, Outcome, SpanMatch, View
    from vcrgen.score.report import render
    from vcrgen.score.results import RunResult
    from vcrgen.score.run import Options, Session, Validation, score
    from vcrgen.score.scorer import Scorer, make_scorer

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
    "render": "report",
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
        raise AttributeError(f"module 'vcrgen.score' has no attribute {name!r}")
    return getattr(importlib.import_module(f"vcrgen.score.{_HOMES[name]}"), name)
