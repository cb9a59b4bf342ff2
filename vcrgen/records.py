"""Frozen records that cross a stage boundary, and their invariants. Nothing else.

Offsets are character offsets into the shown caption.
"""

from dataclasses import dataclass
from enum import StrEnum


class Mode(StrEnum):
    """How much of a span its cover hides."""

    EASY = "easy"
    HARD = "hard"


class Reason(StrEnum):
    """Why a pair was set aside. The value is what the rejects file and the summary show."""

    NO_IMAGE = "no_image"
    NO_CAPTION = "no_caption"
    SHORT_CAPTION = "short_caption"
    SENSITIVE = "sensitive"
    NO_GLYPH = "no_glyph"
    UNDECODABLE = "undecodable_image"
    TRUNCATED = "truncated_image"
    NO_FRAME = "no_frame"
    OVERSIZED = "oversized_image"
    TINY = "tiny_image"
    TOO_TALL = "too_tall"
    NO_NGRAM = "no_maskable_ngram"
    ANSWER_NOT_SHOWN = "answer_not_shown"
    DUPLICATE = "duplicate"
    IN_REFERENCE = "in_reference"
    UNREADABLE_ROW = "unreadable_row"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One image-caption pair as a source gives it.

    Attributes:
        source_id: The id in the source, or one made of file name and row; for people, not unique by force.
        image: The encoded image, or None where the source has none or it could not be read.
        caption: The caption as given, or None.
        answers: Texts to cover instead of choosing spans (the ``crossed_text`` of an example), or None.
        problem: What was wrong while reading the row (a missing file, bad base64), or the empty string.
    """

    source_id: str
    image: bytes | None
    caption: str | None
    answers: tuple[str, ...] | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reject:
    """A pair that was set aside.

    Attributes:
        source_id: As in :class:`Item`.
        reason: The type of the reason.
        detail: What a person needs to understand the case; never an answer.
    """

    source_id: str
    reason: Reason
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One masked text: characters ``start`` to ``end`` of the shown caption.

    Attributes:
        text: ``caption[start:end]``; it occurs only once in the caption.
        tokens: The segmenter's tokens of the span.
    """

    start: int
    end: int
    text: str
    tokens: tuple[str, ...]

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end or len(self.text) != self.end - self.start:
            raise ValueError(f"span {self.start}:{self.end} does not fit its text of {len(self.text)} characters")
