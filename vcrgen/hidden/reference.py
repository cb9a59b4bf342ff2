"""Deduplication against known pairs, by picture and by caption."""

import io
from collections.abc import Iterator
from itertools import groupby

import numpy as np
from PIL import Image

from vcrgen.builder.images import difference_hash, load_image
from vcrgen.builder.options import BuildConfig
from vcrgen.builder.sources import Source, read_rows
from vcrgen.core.errors import ImageProblem, SourceError
from vcrgen.core.records import Item
from vcrgen.hidden.near import Bits, NearIndex, has_near_duplicate
from vcrgen.text.normalise import normalise_caption

# Letters and digits of a caption that are compared, so that a caption shortened to five lines still matches.
CAPTION_START = 40
HASH_WIDTH = 256  # px: larger pictures are brought to this width before they are hashed
# Pictures added after the index was built are compared one by one; from this number on, it is rebuilt.
MAX_UNINDEXED = 1000


class Reference:
    """Pictures and captions of known pairs; pictures of more than ``max_pixels`` are not decoded."""

    def __init__(self, max_pixels: int) -> None:
        self._limits = {"max_pixels": max_pixels, "min_side": 1, "max_height": 1 << 20}
        self._captions: set[str] = set()
        self._pictures: list[bytes] = []
        self._index = NearIndex([])
        self._indexed = 0  # pictures that the index holds

    def __len__(self) -> int:
        return len(self._captions)

    def add_source(self, source: Source, config: BuildConfig) -> int:
        """Add all pictures and captions of a source, and return the number of pictures.

        Raises:
            SourceError: A column is missing, or a row cannot be read.
        """
        pictures = 0
        for pairs in pairs_by_picture(source, config):
            pictures += 1
            for pair in pairs:
                if pair.problem and pair.caption is None:
                    start = f"{config.source} cannot be compared with, because not all of it can be read"
                    raise SourceError(f"{start}: {pair.problem}, at {pair.source_id}.")
            self.add(pairs[0].image, pairs[0].caption)
            for pair in pairs[1:]:
                self.add(None, pair.caption)
        return pictures

    def add(self, image: bytes | None, caption: str | None) -> None:
        """Add one pair; without a decodable picture, by its caption alone."""
        self.add_hash(None if image is None else self.hash(image), caption)

    def add_hash(self, picture: Bits | None, caption: str | None) -> None:
        """Add one pair by the hash of its picture, or None, and its caption."""
        if start := caption_start(caption or ""):
            self._captions.add(start)
        if picture is not None:
            self._pictures.append(picture.tobytes())

    def match(self, picture: Bits | None, caption: str) -> str | None:
        """Tell what of a pair is known: its ``caption``, or the ``picture`` with this hash; None without a match."""
        if caption_start(caption) in self._captions:
            return "caption"
        if picture is None:
            return None
        if len(self._pictures) - self._indexed >= MAX_UNINDEXED:
            self._index, self._indexed = NearIndex(self._pictures), len(self._pictures)
        others = np.frombuffer(b"".join(self._pictures[self._indexed :]), np.uint8).reshape(-1, picture.size)
        return "picture" if self._index.contains_near(picture) or has_near_duplicate(others, picture) else None

    def hash(self, image: bytes) -> Bits | None:
        """Hash an encoded picture; None if it cannot be decoded."""
        try:
            width = min(HASH_WIDTH, Image.open(io.BytesIO(image)).width)
            picture = load_image(image, width=max(1, width), **self._limits)
        except (ImageProblem, OSError, ValueError, SyntaxError, Image.DecompressionBombError):
            return None
        return difference_hash(picture)


def pairs_by_picture(source: Source, config: BuildConfig) -> Iterator[list[Item]]:
    """The pairs of each picture of a source: one for each of its captions, whichever of them a build would take.

    Raises:
        SourceError: A column is missing, or a file cannot be read.
    """
    every = config.model_copy(update={"captions": "each"})
    for number, partition in enumerate(source.partitions()):
        for row in read_rows(source, every, number, range(partition.rows)):
            for _, pairs in groupby(row.items, key=lambda item: id(item.image)):  # one object for all captions of it
                yield list(pairs)


def caption_start(caption: str) -> str:
    """First letters and digits of a caption, without case, spaces and punctuation."""
    folded = normalise_caption(caption).casefold()
    return "".join(filter(str.isalnum, folded))[:CAPTION_START]
