"""What the stages of a build hand one another."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from PIL import Image

from vcrgen.builder.bands import Band, Pixels
from vcrgen.records import Item, Mode, Span
from vcrgen.typeset.records import Box, CoveredSpan, Layout
from vcrgen.typeset.style import Style

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class PairKeys:
    """Hashes by which pairs are told apart and kept together, in hex; one record of ``keys.KEY_DTYPE``.

    Attributes:
        pair: Of image bytes and caption; also the ``question_id``.
        image: Of the source image's bytes.
        caption: Of the shown caption.
    """

    pair: str
    image: str
    caption: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """An item that passed all filters but the text pipeline's.

    Attributes:
        item: As the source gives it.
        keys: Its hashes.
        style: How it is set and covered.
        image: VI.
        layout: The lines of the shown caption.
    """

    item: Item
    keys: PairKeys
    style: Style
    image: Image.Image
    layout: Layout


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What all views of a pair are put together from.

    Attributes:
        photo: VI.
        strip: The uncovered strip: brightness, shape (height, width), 255 = white.
        cells: The spans in reading order, each with the places of the strip that show it.
    """

    photo: Band
    strip: Pixels
    cells: Mapping[Span, tuple[Box, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class View(Generic[T]):
    """The images of one pair under one set of covers: bands of rows from the top, or the bytes of files.

    Attributes:
        stacked: VI+TEI.
        only_it: TEI only, of the same size.
        only_it_small: The strip.
        spans: The spans under their covers.
        strip_y: Top row of the strip in ``stacked``, in pixels.
        only_it_strip_y: The same in ``only_it``.
    """

    stacked: T
    only_it: T
    only_it_small: T
    spans: tuple[CoveredSpan, ...]
    strip_y: int
    only_it_strip_y: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One finished pair.

    Attributes:
        keys: Its hashes.
        source_id: Its id in the source.
        caption: The shown caption.
        image: VI, encoded.
        views: The images of each mode, encoded.
        strip_height: In pixels.
    """

    keys: PairKeys
    source_id: str
    caption: str
    image: bytes
    views: dict[Mode, View[bytes]]
    strip_height: int
