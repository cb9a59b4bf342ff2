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
    "View": "dataset.views", "AnswerKey": "scorer.answer_key", "load_answers": "scorer.answers",
    "match_span": "scorer.api", "match_spans": "scorer.api", "Comparison": "scorer.comparison",
    "compare": "scorer.comparison", "METRICS": "scorer.records", "Outcome": "scorer.records",
    "SpanMatch": "scorer.records", "RunResult": "scorer.results", "Options": "scorer.run", "Session": "scorer.run",
    "Validation": "scorer.run", "score": "scorer.run", "Scorer": "scorer.scorer", "make_scorer": "scorer.scorer",
    "render": "scorer.tables",
}  # fmt: skip
__all__ = [
    "METRICS", "AnswerKey", "Comparison", "Options", "Outcome", "RunResult", "Scorer", "Session", "SpanMatch",
    "Validation", "View", "compare", "load_answers", "make_scorer", "match_span", "match_spans", "render", "score",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'vcrgen.scorer' has no attribute {name!r}")
    return getattr(importlib.import_module(f"vcrgen.{_HOMES[name]}"), name)
