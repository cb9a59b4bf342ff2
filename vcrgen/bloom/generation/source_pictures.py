"""The pictures of a source: the choice of candidates for an item, and their bytes.

Captions are read at the beginning, pictures only when an item tries them: each once, as a store may be remote, and a
row of a Parquet file is read with those before it.
"""

from __future__ import annotations

import hashlib
import math
import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice, tee
from os import SEEK_END
from threading import Lock
from typing import IO, NamedTuple

import numpy as np
import numpy.typing as npt

from vcrgen.bloom.generation.item_records import (
    Candidate,
    ItemSlot,
    LocalWork,
    OfferedPicture,
    PictureOffers,
    Scenario,
    StageCoroutine,
)
from vcrgen.bloom.importing import PICTURE_LIMITS, usable_picture
from vcrgen.bloom.options import BloomGenerationOptions
from vcrgen.builder.images import difference_hash, load_image
from vcrgen.builder.options import BuildConfig
from vcrgen.builder.source_options import SourceOptions
from vcrgen.builder.sources import check_columns, items_at, iter_captions, limit_partitions, open_source
from vcrgen.core.errors import ImageProblem, NoPairsError
from vcrgen.core.media import media_type
from vcrgen.core.records import RejectReason
from vcrgen.core.rng import rng_for, shuffled
from vcrgen.hidden.reference import HASH_WIDTH
from vcrgen.report.escape import one_line

Numbers = npt.NDArray[np.int64]

_WORD = re.compile(r"\w+")
_CAPTION_CHARS = 2_000  # of a caption that are read
_LICENCE_CHARS = 100


class PictureSource:
    """Pictures to choose from. Captions only serve to find them: no model is shown one.

    The pictures of a category follow from the source and its scenes alone, never from when other categories finish. So
    that no picture has too many items, each picture is open to few categories in a small source, and to all of them in
    a large one: see `open_buckets`.

    Attributes:
        description: Their origin in one line.

    Args:
        options: The source, and the items that a picture may have.
        kept: An empty file for the pictures that were tried, so that each is read from the source once.

    Raises:
        SourceError: The source cannot be read.
    """

    def __init__(self, options: BloomGenerationOptions, spool: IO[bytes], *, categories: int, slots: int) -> None:
        self._config = BuildConfig(**{name: getattr(options, name) for name in SourceOptions.model_fields})
        self._source = open_source(self._config)
        # A licence is read as a caption is, wherever it stands in a row.
        self._licenses = self._config.model_copy(update={"caption_column": options.license_column})
        check_columns(self._source, self._config)
        if options.license_column:
            check_columns(self._source, self._licenses, caption="license")
        self.description = self._source.description
        self._options, self._categories, self._slots = options, categories, slots
        self._lock = Lock()
        self._kept = _KeptPictures(spool)
        self._tried: dict[int, Candidate | str] = {}  # by number; a text is the reason why a picture is not usable

    @property
    def unusable(self) -> Counter[str]:
        """Pictures that are not usable, by reason."""
        return Counter(reason for reason in self._tried.values() if isinstance(reason, str))

    def offer(self, category: int, slots: Sequence[tuple[ItemSlot, Scenario]]) -> list[PictureOffers]:
        """Offer pictures for the items of a category, each with its scene, in the order of `choose`."""
        return [self._offers(numbers) for numbers in self.choose(category, [scene for _, scene in slots])]

    def choose(self, category: int, scenes: Sequence[Scenario]) -> list[list[int]]:
        """Choose pictures for the items of a category: those whose captions have most of a scene's words.

        Rarer words count for more. No picture goes to two items of a category. Where there are plenty, each item
        chooses all that it may have before the next one does, so that more items in a category change nothing for those
        before them. It takes every second picture; those between are left to the next item with the same scene. Where
        there are few, each item gets its first picture before any of them gets a second one.

        Returns:
            The numbers of pictures for each item, best first.
        """
        with self._lock:  # the first category to come here reads them
            captions = self.captions
        buckets = open_buckets(self._options.per_picture, self._categories, len(captions.rows), self._slots)
        allowed = (captions.bucket - category) % self._categories < buckets
        order = rng_for(self._options.seed, "bloom/ties", str(category)).getrandbits(64)
        ranked = {scene: captions.ranked(scene.keywords, allowed, order) for scene in scenes}
        most = 2 * self._options.pictures  # half of them in place of pictures that are not usable
        plenty = np.count_nonzero(allowed) >= 2 * most * len(scenes)
        turns, span = (1, 2 * most) if plenty else (most, 1)
        seen: set[int] = set()
        by_item: list[list[int]] = [[] for _ in scenes]
        for _ in range(turns):
            for numbers, scene in zip(by_item, scenes, strict=True):
                ranked[scene], best = tee(ranked[scene])
                numbers.extend(islice((number for number in best if number not in seen), 0, span, 2))
                seen.update(numbers)
        return by_item

    def _offers(self, numbers: Sequence[int]) -> PictureOffers:
        """Yield the pictures with these numbers, until enough of them are usable."""
        left = self._options.pictures
        for number in numbers:
            yield self._offer(number)
            left -= isinstance(self._tried[number], Candidate)
            if not left:
                return

    def _offer(self, number: int) -> StageCoroutine[OfferedPicture | None]:
        offered: OfferedPicture | None = yield LocalWork(lambda: self._try(number))
        return offered

    def _try(self, number: int) -> OfferedPicture | None:
        """Read a picture; None if it is not usable."""
        match self._tried.get(number):
            case Candidate() as candidate:  # it was offered to another item
                return OfferedPicture(candidate, self.picture(candidate))
            case str():
                return None
        row = self.captions.rows[number]
        try:
            offered = offered_picture(self._read(row.partition, row.number), row.partition, row.number, row.source_id)
        except ImageProblem as problem:
            self._tried[number] = problem.reason.value
            return None
        self._kept.add(offered.candidate.digest, offered.data)
        self._tried[number] = offered.candidate
        return offered

    def picture(self, candidate: Candidate) -> bytes:
        """The bytes of a picture that was offered."""
        return self._kept.read(candidate.digest)

    def licenses(self, candidates: Sequence[Candidate]) -> list[str]:
        """The license of each picture: its own if the source has one, or that of all."""
        by_partition: defaultdict[int, set[int]] = defaultdict(set)
        for candidate in candidates if self._options.license_column else ():
            by_partition[candidate.partition].add(candidate.row)
        own = {
            (partition, row.number): one_line(row.caption)[:_LICENCE_CHARS]
            for partition, rows in by_partition.items()
            for row in iter_captions(self._source, self._licenses, partition, max(rows) + 1)
            if row.number in rows
        }
        return [own.get((candidate.partition, candidate.row)) or self._options.license for candidate in candidates]

    def _read(self, partition: int, row: int) -> bytes:
        """The bytes of a picture as the source has them; an ImageProblem if it has none."""
        item = next(items_at(self._source, self._config, partition, [row]), None)
        if item is None or item.image is None:
            raise ImageProblem(RejectReason.NO_IMAGE, item.problem if item else "the row is gone")
        return item.image

    @cached_property
    def captions(self) -> CaptionIndex:
        """The captions, read when they are first used."""
        captions = CaptionIndex(self._rows(), self._categories)
        if not captions.rows:
            raise NoPairsError(f"{self.description} has no picture.")
        return captions

    def _rows(self) -> Iterator[tuple[SourceRow, str]]:
        for index, partition in enumerate(limit_partitions(self._source, self._config)):
            for row in iter_captions(self._source, self._config, index, partition.rows):
                yield SourceRow(index, row.number, row.source_id), row.caption


class _KeptPictures:
    """Pictures in a file, one after another, found again by their digests."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._lock = file, Lock()
        self._places: dict[str, tuple[int, int]] = {}  # where each begins, and its bytes

    def add(self, digest: str, picture: bytes) -> None:
        with self._lock:
            if digest not in self._places:
                self._places[digest] = self._file.seek(0, SEEK_END), len(picture)
                self._file.write(picture)

    def read(self, digest: str) -> bytes:
        start, size = self._places[digest]
        with self._lock:
            self._file.seek(start)
            return self._file.read(size)


class SourceRow(NamedTuple):
    """The place of a picture."""

    partition: int
    number: int
    source_id: str


class CaptionIndex:
    """Inverted index from words to the pictures whose captions have them. The captions themselves are not kept.

    Attributes:
        rows: The place of each picture.
        bucket: The bucket of each picture, one of as many as there are categories.
    """

    def __init__(self, pairs: Iterator[tuple[SourceRow, str]], categories: int) -> None:
        self.rows: list[SourceRow] = []
        by_word: defaultdict[str, array[int]] = defaultdict(lambda: array("q"))
        for number, (row, caption) in enumerate(pairs):
            self.rows.append(row)
            for word in dict.fromkeys(_words(caption)):
                by_word[word].append(number)
        self._by_word = {word: np.frombuffer(numbers, np.int64) for word, numbers in by_word.items()}
        # At random, as a source may show one thing in every second row.
        order = shuffled(rng_for(0, "bloom/hands", ""), range(len(self.rows)))
        self.bucket = np.empty(len(self.rows), np.int64)
        # Evenly, so that no category is far from a picture where there are fewer of them than categories.
        self.bucket[order] = np.arange(len(self.rows)) * categories // len(self.rows)

    def points(self, keywords: Sequence[str]) -> npt.NDArray[np.float64]:
        """The IDF-weighted number of keywords in the caption of each picture."""
        points = np.zeros(len(self.rows))
        for word in dict.fromkeys(word for text in keywords for word in _words(text)):
            if (pictures := self._by_word.get(word)) is not None:
                points[pictures] += math.log(1 + len(self.rows) / len(pictures))
        return points.round(9)  # sums of the same weights may differ in their last digits

    def ranked(self, keywords: Sequence[str], allowed: npt.NDArray[np.bool_], lot: int) -> Iterator[int]:
        """Yield the numbers of the allowed pictures, those with most of the keywords first.

        Args:
            keywords: Words, or several in one text.
            allowed: True for each picture that may be taken.
            lot: Seed of the order of equally good ones.
        """
        points = self.points(keywords)
        with_words, others = np.flatnonzero(allowed & (points > 0)), np.flatnonzero(allowed & (points == 0))
        yield from with_words[np.lexsort((_lots(with_words, lot), -points[with_words]))].tolist()
        yield from others[np.argsort(_lots(others, lot))].tolist()


def open_buckets(most: int, categories: int, pictures: int, slots: int) -> int:
    """The number of buckets that are open to a category: each category has a bucket, each picture is in one.

    A picture is open to as many categories as there are such buckets. In a source that is hardly large enough, these
    are as many as it may have items, and no item is lost at the end. From half as many pictures more on, every category
    may choose among all of them, as two seldom want the same one.
    """
    return categories if 2 * most * pictures >= 3 * slots else min(categories, most)


def _lots(numbers: Numbers, lot: int) -> npt.NDArray[np.uint64]:
    """Draw a number for each picture by SplitMix64, whose values are the same on every machine."""
    value = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(lot)
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: npt.NDArray[np.uint64] = value ^ (value >> np.uint64(31))
    return mixed


def offered_picture(data: bytes, partition: int, row: int, source_id: str) -> OfferedPicture:
    """Return a picture as it is offered to an item; the place is that of a `Candidate`.

    Raises:
        ImageProblem: It cannot be decoded, or is too large or too small.
    """
    bits = difference_hash(load_image(data, width=HASH_WIDTH, **PICTURE_LIMITS)).tobytes()
    data = sendable(data)
    digest = hashlib.sha256(data).hexdigest()
    candidate = Candidate(partition=partition, row=row, source_id=source_id, digest=digest, bits=bits)
    return OfferedPicture(candidate, data)


def sendable(data: bytes) -> bytes:
    """Return a picture in a format that servers accept."""
    return data if media_type(data) else usable_picture(data)


def _words(text: str) -> list[str]:
    return _WORD.findall(text[:_CAPTION_CHARS].casefold())
