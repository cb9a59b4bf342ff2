"""Frozen records that cross a stage boundary, their invariants, and the texts that name modes. Nothing else.

Offsets are character offsets into the shown caption.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from PIL.Image import Image

MIN_INK, MAX_INK = 0.05, 0.95  # attainable by whole rows of pixels in every font size
MAX_BITS = 20  # what is left of an English span when nothing but the widths of its words can be seen
SPLIT_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")  # which is also a part of file names
_LEVEL = re.compile(r"ink-(0\.\d\d)|bits-([1-9]\d?)")


class Mode(str):
    """The mode of a cover: ``easy``, ``hard``, or a level.

    A level says the share of the ink that stays visible, ``ink-0.20``, or the bits that the visible pixels leave at
    least, ``bits-4``. In alphabetical order easy comes before hard, and both before levels of ink, which rise.

    Raises:
        ValueError: It is none of these.
    """

    __slots__ = ()

    EASY: ClassVar["Mode"]
    HARD: ClassVar["Mode"]

    def __new__(cls, name: str) -> "Mode":  # noqa: D102
        if not is_mode(name):
            raise ValueError(f"{name!r} is no mode")
        return super().__new__(cls, name)

    @classmethod
    def of_ink(cls, share: float) -> "Mode":
        """Level that leaves a share of the ink, rounded to two digits."""
        return cls(f"ink-{share:.2f}")

    @property
    def ink(self) -> float | None:
        """Share of ink that a level names; None for other modes, which depend on the language."""
        level = _LEVEL.fullmatch(self)
        return float(level[1]) if level and level[1] else None

    @property
    def bits(self) -> int:
        """Bits that the visible pixels of every span leave at least; 0 if the mode says nothing of them."""
        level = _LEVEL.fullmatch(self)
        return int(level[2]) if level and level[2] else 0


def is_mode(name: object) -> bool:
    """Return True for the name of a mode."""
    if not isinstance(name, str):
        return False
    level = _LEVEL.fullmatch(name)
    if level is None:
        return name in ("easy", "hard")
    return MIN_INK <= float(level[1]) <= MAX_INK if level[1] else int(level[2]) <= MAX_BITS


Mode.EASY, Mode.HARD = Mode("easy"), Mode("hard")
NAMED_MODES = (Mode.EASY, Mode.HARD)
"""The modes of VCR-WIKI, which leave what its covers leave."""


def read_modes(text: str) -> tuple[Mode, ...]:
    """Read ``easy``, ``hard``, ``both``, levels of ink as ``ink=0.1,0.5``, or of bits as ``bits=4,8``.

    Returns:
        The modes: easy first, levels as they rise.

    Raises:
        ValueError: The text is none of these, or names a level twice.
    """
    kind, _, levels = text.partition("=")
    if kind == "ink":
        return _read_ink(levels)
    if kind == "bits":
        return _read_bits(levels)
    if text not in (*NAMED_MODES, "both"):
        raise ValueError(
            f"{text[:80]!r} is not easy, hard, both, shares of ink by commas, as ink=0.1,0.2,0.5, or bits, as bits=4,8"
        )
    return NAMED_MODES if text == "both" else (Mode(text),)


def modes_text(modes: Sequence[Mode]) -> str:
    """Invert `read_modes`: modes of one kind as the text that names them."""
    if modes[0].bits:
        return f"bits={','.join(str(mode.bits) for mode in modes)}"
    if modes[0].ink is not None:
        return f"ink={','.join(f'{mode.ink:.2f}' for mode in modes)}"
    return "both" if len(modes) > 1 else str(modes[0])


def _read_ink(text: str) -> tuple[Mode, ...]:
    levels = []
    for share in map(str.strip, text.split(",")):
        if not re.fullmatch(r"0?\.\d\d?", share) or not MIN_INK <= float(share) <= MAX_INK:
            raise ValueError(
                f"{share[:20]!r} is no share of ink to leave; give shares from {MIN_INK} to {MAX_INK} with at most "
                "two digits, as ink=0.1,0.25,0.5"
            )
        levels.append(Mode.of_ink(float(share)))
    if len(set(levels)) < len(levels):
        raise ValueError(f"ink={text[:80]} names a share twice")
    return tuple(sorted(levels))


def _read_bits(text: str) -> tuple[Mode, ...]:
    levels = [level.strip() for level in text.split(",")]
    if not all(re.fullmatch(r"[1-9]\d?", level) for level in levels) or len(set(levels)) < len(levels):
        raise ValueError(f"bits={text[:80]} is not one whole number or several ones by commas, as bits=4,8")
    return tuple(Mode(f"bits-{level}") for level in sorted(levels, key=int))


class RejectReason(StrEnum):
    """The reason for the rejection of a pair; the value is its name in the rejects file and the summary."""

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
    BLANK = "blank"
    NO_NGRAM = "no_maskable_ngram"
    COVER_MISSED = "cover_missed_the_text"
    SETTLED = "settled_by_pixels"
    NO_ROOM = "no_room_for_distractors"
    ANSWER_NOT_SHOWN = "answer_not_shown"
    DUPLICATE = "duplicate"
    IN_REFERENCE = "in_reference"
    UNREADABLE_ROW = "unreadable_row"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One image-caption pair as a source gives it."""

    source_id: str  # the id in the source, or one made of file name and row; for people, not unique by force
    image: bytes | None  # the encoded image, or None if it is missing or unreadable
    caption: str | None  # the raw caption, or None
    answers: tuple[str, ...] | None = None  # texts to cover (the ``crossed_text`` of an example); None to choose spans
    problem: str = ""  # a problem of the row (missing file, bad base64), or empty
    picture: "Image | None" = None  # a decoded image instead of an encoded one

    def reject(self, reason: "RejectReason", detail: str) -> "Reject":
        """The reject of this pair."""
        return Reject(source_id=self.source_id, reason=reason, detail=detail)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reject:
    """A rejected pair."""

    source_id: str  # as in `Item`
    reason: RejectReason  # the type of the reason
    detail: str  # for people; never an answer


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
