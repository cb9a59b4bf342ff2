"""Records passed between the stages of a build."""

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Generic, Self, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
from PIL import Image

from vcrgen.builder.bands import Band, Pixels
from vcrgen.core.records import Item, Mode, Reject, Span
from vcrgen.core.rng import rng_for
from vcrgen.typeset.cover import CoverRule, InkLayers, with_seed
from vcrgen.typeset.records import Box, Cell, GlyphBox, Layout, MaskedSpan
from vcrgen.typeset.style import Style

T = TypeVar("T")
Mask: TypeAlias = npt.NDArray[np.bool_]
Places: TypeAlias = Sequence[tuple[Box, CoverRule]]
"""Covers that hide no text: their places, each as high as a line, with their rules."""

_MAX_SEED = 1 << 53
KEY_LENGTH = 20  # hex digits
PICTURE_BYTES = 32  # of a difference hash
HASH_DTYPE = np.dtype([("high", ">u8"), ("low", ">u2")])  # the bytes of a hash: as numbers, they sort faster
KEY_DTYPE = np.dtype(
    [*((name, HASH_DTYPE) for name in ("pair", "caption", "pixels")), ("difference", np.uint8, PICTURE_BYTES)]
)
"""The form in which files hold the hashes of many pairs: one pair's `PairKeys` and `PictureKeys` a record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairKeys:
    """Hashes in hex of what the source gives."""

    pair: str  # of image bytes and caption; also the `question_id`
    caption: str  # of the shown caption

    @classmethod
    def of(cls, image: bytes, caption: str, strip_caption: str) -> Self:
        """Hash an encoded image, its whole normalised caption, and the part of it that the strip shows."""
        image_hash = hashlib.blake2b(image, digest_size=KEY_LENGTH // 2)
        pair_hash = image_hash.copy()
        pair_hash.update(b"\0" + caption.encode("utf-8", "surrogatepass"))
        strip_hash = hashlib.blake2b(strip_caption.encode("utf-8", "surrogatepass"), digest_size=KEY_LENGTH // 2)
        return cls(pair=pair_hash.hexdigest(), caption=strip_hash.hexdigest())


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureKeys:
    """Hashes of VI, which copies in other files share: of its pixels in hex, and its difference hash."""

    pixels: str
    difference: bytes

    @classmethod
    def of(cls, pixels: Pixels, difference: bytes) -> Self:
        """Hash the pixels."""
        # SHA-256 as processors compute it themselves: BLAKE2 takes twice the time.
        return cls(pixels=hashlib.sha256(pixels.data).hexdigest()[:KEY_LENGTH], difference=difference)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairChoices:
    """Random choices of one pair, the same for every mode: each depends on its name and nothing else."""

    dataset_seed: int
    pair: str  # the hash of the pair
    epoch: int | None = None  # of a stream, which draws anew in every epoch; None in a build
    varies_covers: bool = True  # covers have a random form; rows have none

    def rng(self, name: str, place: str = "") -> Random:
        """The generator of the choice of that name, at a place of the pair."""
        stage = name if self.epoch is None else f"{name} of stream {self.epoch}"
        return rng_for(self.dataset_seed, stage, self.pair + place)

    def seed(self, name: str, place: str = "") -> int:
        """The seed, below 2^53, of what is drawn elsewhere."""
        return int(self.rng(name, place).random() * _MAX_SEED)

    def cover_rule(self, rule: CoverRule, place: str) -> CoverRule:
        """The rule of the cover at a place of the pair."""
        return with_seed(rule, self.seed("cover form", place)) if self.varies_covers else rule

    def span_rule(self, rule: CoverRule, span: Span, draw: int) -> CoverRule:
        """The rule of a span's cover in a draw, numbered from 0."""
        return self.cover_rule(rule, f" {span.start} draw {draw}" if draw else f" {span.start}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SetItem:
    """An item whose caption is set, and whose picture is not decoded yet."""

    item: Item  # as the source gives it
    style: Style  # layout and covers
    caption: str  # the whole normalised caption
    layout: Layout  # the lines of the shown caption
    cleaned: tuple[str, ...]  # the kinds of what was cleaned in its caption


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedItem:
    """An item that passed all filters but the text pipeline's."""

    item: Item  # as the source gives it
    keys: PairKeys  # its hashes
    style: Style  # layout and covers
    image: Image.Image  # VI
    layout: Layout  # the lines of the shown caption
    cleaned: tuple[str, ...] = ()  # the kinds of what was cleaned in its caption
    # Chooses its spans anew, without refused ones; None if spans are not refused.
    replan: Callable[[Collection[Span]], tuple[Span, ...] | Reject] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PairParts:
    """The parts of a pair's images that all modes share."""

    photo: Band  # VI
    strip: Pixels  # the uncovered strip: brightness, shape (height, width), 255 = white
    layout: Layout  # lines of the strip
    cells: Mapping[Span, tuple[Cell, ...]]  # the spans in reading order, each with the places of the strip that show it
    layers: InkLayers | None  # whose ink the strip shows; None under white rows, whose strip may mix it as VCR-WIKI's
    printed: Pixels | None = None  # the strip as it is printed, RGB; None for black on white


@dataclass(frozen=True, slots=True, kw_only=True)
class PairImages(Generic[T]):
    """The images of one pair under one set of covers, as bands or as encoded files."""

    stacked: T  # VI+TEI
    only_it: T  # TEI only, of the same size
    only_it_small: T  # the strip
    spans: tuple[MaskedSpan, ...]  # the spans under their covers
    distractors: tuple[Box, ...]  # covers that hide no text, in pixels of `stacked`
    cover_mask: Mask | None  # covered pixels of `stacked` before a warp; None for box covers
    strip_y: int  # top row of the strip in `stacked`, in pixels
    only_it_strip_y: int  # the same in `only_it`
    pixel_bits: tuple[float, ...] = ()  # that the visible pixels of each span leave at least, where covers go by bits
    warp: Callable[[Mask, str], Mask] | None = None  # moves a mask with the warped image of that name

    def mask(self, name: str) -> Mask | None:
        """The mask of the covers in the image of that name, shape (height, width); None for box covers."""
        mask = self.cover_mask
        if mask is None:
            return None
        if name != "stacked":
            strip = mask[self.strip_y :]
            mask = strip if name == "only_it_small" else np.zeros_like(mask)
            if name == "only_it":
                mask[self.only_it_strip_y : self.only_it_strip_y + len(strip)] = strip
        return self.warp(mask, name) if self.warp else mask


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One finished pair."""

    keys: PairKeys  # its hashes
    picture: PictureKeys  # those of VI
    source_id: str  # its id in the source
    caption: str  # the shown caption
    cleaned: tuple[str, ...]  # the kinds of what was cleaned in its caption
    photo: bytes  # VI, encoded
    images: dict[Mode, PairImages[bytes]]  # the images of each mode, encoded
    cover_masks: dict[Mode, bytes]  # the mask of each mode, encoded; empty where all covers are boxes
    strip_height: int  # in pixels
    glyphs: tuple[GlyphBox, ...] = ()  # of the strip, where they are asked for

    @property
    def key_record(self) -> bytes:
        """A record of `KEY_DTYPE`."""
        return bytes.fromhex(self.keys.pair + self.keys.caption + self.picture.pixels) + self.picture.difference
