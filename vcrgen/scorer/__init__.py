"""The scorer: answers + predictions -> match -> tally -> statistics -> report.

The names below are loaded when they are first used; none needs an image library, a network or a dataset.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vcrgen.dataset.views import View
    from vcrgen.scorer.answer_key import AnswerKey
    from vcrgen.scorer.answers import load_answers
    from vcrgen.scorer.api import match_span, match_spans
    from vcrgen.scorer.comparison import Comparison, compare
    from vcrgen.scorer.records import METRICS, Outcome, SpanMatch
    from vcrgen.scorer.results import RunResult
    from vcrgen.scorer.run import Options, Session, Validation, score
    from vcrgen.scorer.scorer import Scorer, make_scorer
    from vcrgen.scorer.tables import render

_HOMES = {
    "METRICS": "vcrgen.scorer.records",
    "AnswerKey": "vcrgen.scorer.answer_key",
    "Comparison": "vcrgen.scorer.comparison",
    "Options": "vcrgen.scorer.run",
    "Outcome": "vcrgen.scorer.records",
    "RunResult": "vcrgen.scorer.results",
    "Scorer": "vcrgen.scorer.scorer",
    "Session": "vcrgen.scorer.run",
    "SpanMatch": "vcrgen.scorer.records",
    "Validation": "vcrgen.scorer.run",
    "View": "vcrgen.dataset.views",
    "compare": "vcrgen.scorer.comparison",
    "load_answers": "vcrgen.scorer.answers",
    "make_scorer": "vcrgen.scorer.scorer",
    "match_span": "vcrgen.scorer.api",
    "match_spans": "vcrgen.scorer.api",
    "render": "vcrgen.scorer.tables",
    "score": "vcrgen.scorer.run",
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
    return getattr(importlib.import_module(_HOMES[name]), name)
