"""Frozen records of the scorer: answers, predictions, matches and scores.

Scores are shares from 0 to 1; only the report turns them into percent and rounds. Offsets are character offsets.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, NamedTuple

from vcrgen.data.views import View

UNSTATED = "-"  # the mode of outputs of which no file says whether they were easy or hard
CellName = tuple[str, View]
"""A cell by its variant (a mode of covers, or the language of an MCQ benchmark) and its view."""


class Outcome(StrEnum):
    """The outcome of one span. Five ways to have no answer are five different outcomes."""

    EXACT = "exact"
    WRONG = "wrong"
    SHORT = "short"  # fewer tokens than the span, or (vlmevalkit) no n-gram that shares a token: no candidate
    BEYOND_LIMIT = "beyond_limit"  # not in the part of the output that is read
    REFUSED = "refused"
    EMPTY = "empty"
    NULL = "null"
    FAILED = "failed"  # the tool that asked the model wrote that the call failed
    MISSING = "missing"


class Scores(NamedTuple):
    """The metrics of one span, as shares; all are 0 where there is nothing to compare it with.

    ``docs/scoring.md`` says what each is. Reports, JSON and evidence have them under these names, in this order.
    """

    exact: float = 0.0
    jaccard: float = 0.0
    precision: float = 0.0
    recall: float = 0.0
    f1: float = 0.0
    rouge1: float = 0.0
    similarity: float = 0.0
    character: float = 0.0


METRICS = Scores._fields


_NOTHING: Mapping[str, Any] = MappingProxyType({})


class AnswerSpan(NamedTuple):
    """One masked span. Like `Question` a named tuple, as both are read from the key once for every output."""

    text: str  # the masked text
    tokens: tuple[str, ...] | None = None  # its tokens as the dataset recorded them, in the caption's context, or None
    ink: Mapping[str, float] = _NOTHING  # visible ink by mode, as a share; empty where unknown
    # what else may make it hard, by name: the cover, the font, the strip's place. Empty unless items differ
    traits: Mapping[str, str] = _NOTHING
    bits: Mapping[str, float] = _NOTHING  # that its visible pixels leave, by mode; empty where unknown


class Question(NamedTuple):
    """One image with its spans, in reading order."""

    question_id: str
    spans: tuple[AnswerSpan, ...]
    part: str = ""  # of a hidden set: `feedback` or `final`; empty where a set is not divided

    @property
    def answers(self) -> tuple[str, ...]:
        """The texts of the spans."""
        return tuple([span.text for span in self.spans])


class Prediction(NamedTuple):
    """One model output, as a file gives it."""

    place: str  # where it stands, for messages: `line 17`
    question_id: str | None  # the id it names, or None where the format names a row number only
    output: str | None  # the text; None where the file has null or nothing
    row: int | None = None  # the row number it names, or None
    view: View | None = None  # the image the model saw, or None where the file does not say
    mode: str | None = None  # `easy` or `hard`, or None
    model: str | None = None
    answers: tuple[str, ...] | None = None  # the answers the file itself holds, to check that it belongs to the dataset
    flaws: tuple[str, ...] = ()  # what was odd about the output, by the names of `output_matcher.PROBLEMS`
    # Of MCQ benchmarks only; log-probabilities are as the file has them, which may be anything.
    lang: str | None = None  # the language that was asked in, or None where the file does not say
    rotation: int = 0  # the order of the options: option i stood beside label i - rotation
    logprobs: Any = None
    label_logprobs: Any = None

    @property
    def failed(self) -> bool:
        """True where the tool that asked the model wrote that the call failed."""
        return "failed" in self.flaws


class SpanMatch(NamedTuple):
    """One span against one output: the evidence behind every number.

    A named tuple, because one is made for every span: a frozen dataclass takes five times as long to make.

    Attributes:
        answer: The span's text.
        outcome: The outcome.
        ngram: The nearest n-gram's tokens, joined; empty if there is none.
        start: Where the n-gram starts in the output as the model gave it, or -1.
        end: Where it ends, or -1.
        distance: Edit distance between span and n-gram in characters, or None if there is no n-gram.
        scores: The metrics.
        verbatim: Whether the span's text stands in the output as it is, whatever the tokens.
    """

    answer: str
    outcome: Outcome
    ngram: str = ""
    start: int = -1
    end: int = -1
    distance: int | None = None
    scores: Scores = Scores()
    verbatim: bool = False

    @property
    def exact(self) -> bool:
        """Exact match."""
        return self.scores.exact == 1.0

    @property
    def jaccard(self) -> float:
        """Jaccard index of the token sets."""
        return self.scores.jaccard

    def as_dict(self) -> dict[str, float]:
        """The metrics by name."""
        return self.scores._asdict()
