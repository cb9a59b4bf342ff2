"""The scorer: answers + predictions -> match -> tally -> statistics -> report.

The names below are loaded when they are first used; none needs an image library, a network or a dataset.
"""

from typing import TYPE_CHECKING

from vcrgen.core.lazy import attach

if TYPE_CHECKING:
    from vcrgen.data.views import View
    from vcrgen.scorer.answer_key import AnswerKey
    from vcrgen.scorer.answers import load_answers
    from vcrgen.scorer.api import match_image, match_span, match_spans
    from vcrgen.scorer.comparison import Comparison, compare
    from vcrgen.scorer.options import ScoreOptions
    from vcrgen.scorer.records import METRICS, Outcome, SpanMatch
    from vcrgen.scorer.results import RunResult
    from vcrgen.scorer.run import score
    from vcrgen.scorer.score_report import render
    from vcrgen.scorer.scorer import Scorer, make_scorer
    from vcrgen.scorer.session import Validation
    from vcrgen.scorer.span_session import Session

__all__ = [
    "METRICS",
    "AnswerKey",
    "Comparison",
    "Outcome",
    "RunResult",
    "ScoreOptions",
    "Scorer",
    "Session",
    "SpanMatch",
    "Validation",
    "View",
    "compare",
    "load_answers",
    "make_scorer",
    "match_image",
    "match_span",
    "match_spans",
    "render",
    "score",
]

__getattr__, __dir__ = attach(
    __name__,
    {
        "data.views": ["View"],
        "scorer.answer_key": ["AnswerKey"],
        "scorer.answers": ["load_answers"],
        "scorer.api": ["match_image", "match_span", "match_spans"],
        "scorer.comparison": ["Comparison", "compare"],
        "scorer.records": ["METRICS", "Outcome", "SpanMatch"],
        "scorer.results": ["RunResult"],
        "scorer.options": ["ScoreOptions"],
        "scorer.run": ["score"],
        "scorer.scorer": ["Scorer", "make_scorer"],
        "scorer.session": ["Validation"],
        "scorer.span_session": ["Session"],
        "scorer.score_report": ["render"],
    },
)
