"""Pairs that a hidden set must not hold, because they are in a known dataset: found by picture and by caption."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image

from vcrgen.builder.images import load_image
from vcrgen.builder.sources import Source, check_columns, iter_items
from vcrgen.config import BuildConfig
from vcrgen.errors import ImageProblem, SourceError
from vcrgen.hidden.near import Bits, NearIndex
from vcrgen.text.normalise import normalise_caption

# A difference hash compares neighbouring cells of a picture shrunk to this many rows: it survives resizing and JPEG.
HASH_ROWS = 16
# Of 255: JPEG and resizing change the brightness of cells that are as good as equal by less.
MARGIN = 3
# Letters and digits of a caption that count, so that a caption cut after five lines is still the same.
CAPTION_START = 40


class Reference:
    """Pictures and captions of one or several datasets; pictures of more than ``max_pixels`` are not decoded."""

    def __init__(self, max_pixels: int) -> None:
        self._limits = {"max_pixels": max_pixels, "min_side": 1, "max_height": 1 << 20}
        self._captions: set[str] = set()
        self._pictures: list[bytes] = []
        self._index: NearIndex | None = None  # made when it is first asked, anew after other pictures were taken in

    def __len__(self) -> int:
        return len(self._captions)

    def add_source(self, source: Source, config: BuildConfig) -> None:
        """Take in every pair of a source; a SourceError if a row cannot be read, or columns are missing."""
        check_columns(source, config)
        for number, partition in enumerate(source.partitions()):
            for item in iter_items(source, config, number, 0, partition.rows):
                if item.problem and item.caption is None:
                    start = f"{config.source} cannot be compared with, because not all of it can be read"
                    raise SourceError(f"{start}: {item.problem}, at {item.source_id}.")
                self.add(item.image, item.caption)

    def add(self, image: bytes | None, caption: str | None) -> None:
        """Take in one pair; a picture that cannot be decoded counts by its caption alone."""
        if start := caption_start(caption or ""):
            self._captions.add(start)
        if image is not None and (picture := self._hash(image)) is not None:
            self._pictures.append(picture.tobytes())
            self._index = None

    def match(self, image: bytes, caption: str) -> str | None:
        """Why a pair is known: ``caption`` or ``picture``; None if it is not."""
        if caption_start(caption) in self._captions:
            return "caption"
        if not self._pictures or (picture := self._hash(image)) is None:
            return None
        if self._index is None:
            self._index = NearIndex(self._pictures)
        return "picture" if self._index.has_near(picture) else None

    def _hash(self, image: bytes) -> Bits | None:
        try:
            width = min(256, Image.open(io.BytesIO(image)).width)
            picture = load_image(image, width=max(1, width), **self._limits)
        except (ImageProblem, OSError, ValueError, SyntaxError, Image.DecompressionBombError):
            return None
        return difference_hash(picture)


def caption_start(caption: str) -> str:
    """The first letters and digits of a caption, whatever its case, spaces and punctuation."""
    folded = normalise_caption(caption).casefold()
    return "".join(filter(str.isalnum, folded))[:CAPTION_START]


def difference_hash(picture: Image.Image) -> Bits:
    """256 bits: whether each cell of a picture is clearly brighter than the one on its left."""
    gray = picture.convert("L").resize((HASH_ROWS + 1, HASH_ROWS), Image.Resampling.BOX)
    cells = np.asarray(gray, dtype=np.int16)
    return np.packbits(cells[:, 1:] > cells[:, :-1] + MARGIN)
