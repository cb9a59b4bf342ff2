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
    OTHER_SCRIPT = "other_script"
    SENSITIVE = "sensitive"
    NO_GLYPH = "no_glyph"
    STACKED_MARKS = "stacked_marks"
    UNDECODABLE = "undecodable_image"
    TRUNCATED = "truncated_image"
    NO_FRAME = "no_frame"
    OVERSIZED = "oversized_image"
    TINY = "tiny_image"
    TOO_TALL = "too_tall"
    NO_NGRAM = "no_maskable_ngram"
    COVER_MISSED = "cover_missed_the_text"
    NO_ROOM = "no_room_for_distractors"
    ANSWER_NOT_SHOWN = "answer_not_shown"
    DUPLICATE = "duplicate"
    IN_REFERENCE = "in_reference"
    UNREADABLE_ROW = "unreadable_row"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One image-caption pair as a source gives it."""

    source_id: str  # the id in the source, or one made of file name and row; for people, not unique by force
    image: bytes | None  # the encoded image, or None where the source has none or it could not be read
    caption: str | None  # the caption as given, or None
    answers: tuple[str, ...] | None = None  # texts to cover (the ``crossed_text`` of an example); None to choose spans
    problem: str = ""  # what was wrong while reading the row (a missing file, bad base64), or the empty string


@dataclass(frozen=True, slots=True, kw_only=True)
class Reject:
    """A pair that was set aside."""

    source_id: str  # as in :class:`Item`
    reason: Reason  # the type of the reason
    detail: str  # what a person needs to understand the case; never an answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One masked text: characters ``start`` to ``end`` of the shown caption."""

    start: int
    end: int
    text: str  # ``caption[start:end]``; it occurs only once in the caption
    tokens: tuple[str, ...]  # the segmenter's tokens of the span

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end or len(self.text) != self.end - self.start:
            raise ValueError(f"span {self.start}:{self.end} does not fit its text of {len(self.text)} characters")
