"""Frozen records that cross a stage boundary, and their invariants. Nothing else.

Offsets are character offsets into the shown caption. Pixels are counted from the top left corner; a box holds its
``x0``/``y0`` and not its ``x1``/``y1``.
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
class Line:
    """One rendered line: characters ``start`` to ``end`` of the shown caption."""

    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A caption broken into lines.

    Attributes:
        text: The shown caption: all lines, joined by the language's joiner.
        lines: The rendered lines, from the top.
        width: Width of the strip in pixels.
        line_height: Distance between baselines in pixels.
    """

    text: str
    lines: tuple[Line, ...]
    width: int
    line_height: int

    @property
    def height(self) -> int:
        """Height of the strip in pixels: one row more than its lines, as in VCR-WIKI."""
        return self.line_height * len(self.lines) + 1


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A rectangle of pixels."""

    x0: int
    y0: int
    x1: int
    y1: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CoveredSpan:
    """A span under its cover, in one mode.

    Attributes:
        span: The span.
        boxes: The cover's rectangles in the strip, one for every line the span runs over.
        visible_ink: Darkness left after covering, as a share of the darkness before (0 to 1).
        rows_above: Rows of the span's ink that are visible above the cover; the least over its lines.
        rows_below: The same below the cover.
    """

    span: Span
    boxes: tuple[Box, ...]
    visible_ink: float
    rows_above: int
    rows_below: int
