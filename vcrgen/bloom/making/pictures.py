"""The pictures of a source: which of them are looked at for an item, and their bytes.

Captions are read at the beginning, pictures only when an item comes to them: each once, as a store may be far away, and
a row of a Parquet file is read with those before it.
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

from vcrgen.bloom.importing import PICTURE_LIMITS, usable_picture
from vcrgen.bloom.making.records import Candidate, ItemPlace, LocalWork, OfferedPicture, Offers, Scenario, Steps
from vcrgen.builder.images import load_image
from vcrgen.builder.sources import check_columns, cut_at_limit, iter_captions, open_source, some_items
from vcrgen.config import BloomMakeOptions, BuildConfig
from vcrgen.errors import ImageProblem, NoPairsError
from vcrgen.hidden.reference import HASH_WIDTH, difference_hash
from vcrgen.media import media_type
from vcrgen.records import Reason
from vcrgen.report.escape import one_line
from vcrgen.rng import rng_for, shuffled

Numbers = npt.NDArray[np.int64]

_WORD = re.compile(r"\w+")
_CAPTION_CHARS = 2_000  # of a caption that are looked at
_LICENCE_CHARS = 100


class PictureSource:
    """Pictures to choose from. Captions only serve to find them: no model is shown one.

    What the items of a leaf get follows from the source and their scenes alone, never from when other leaves are done.
    So that no picture comes to have more items than it may, each picture is open to few leaves where the source is
    small, and to all of them where it is large: see :func:`open_hands`.

    Attributes:
        description: One line on where they are from.

    Args:
        options: The source, and how often a picture may be taken.
        kept: An empty file for the pictures that were looked at, so that each is read from the source once.
        leaves: How many leaves there are.
        places: How many items are wanted in all.

    Raises:
        SourceError: The source cannot be read.
    """

    def __init__(self, options: BloomMakeOptions, kept: IO[bytes], *, leaves: int, places: int) -> None:
        names = ("source", "image_column", "caption_column", "id_column", "where", "source_split", "limit")
        self._config = BuildConfig(**{name: getattr(options, name) for name in names})
        self._source = open_source(self._config)
        # A licence is read as a caption is, wherever it stands in a row.
        self._licences = self._config.model_copy(update={"caption_column": options.licence_column})
        check_columns(self._source, self._config)
        if options.licence_column:
            check_columns(self._source, self._licences, caption="licence")
        self.description = self._source.description
        self._options, self._leaves, self._places = options, leaves, places
        self._lock = Lock()
        self._kept = _KeptPictures(kept)
        self._looked: dict[int, Candidate | str] = {}  # by number; a text says why a picture is of no use

    @property
    def unusable(self) -> Counter[str]:
        """Pictures that were wanted but cannot be used, by the reason."""
        return Counter(found for found in self._looked.values() if isinstance(found, str))

    def deal(self, leaf: int, places: Sequence[tuple[ItemPlace, Scenario]]) -> list[Offers]:
        """Pictures for the items of a leaf, each with its scene, in the order of :meth:`choose`."""
        return [self._offers(numbers) for numbers in self.choose(leaf, [scene for _, scene in places])]

    def choose(self, leaf: int, scenes: Sequence[Scenario]) -> list[list[int]]:
        """Choose pictures for the items of a leaf: those whose captions have most of a scene's words.

        Rarer words count for more. No picture goes to two items of a leaf. Where there are plenty, each item chooses
        all that it may have before the next one does, so that more items in a leaf change nothing for those before
        them. It takes every second picture; those between are left to the next item with the same scene. Where there
        are few, each item gets its first picture before any of them gets a second one.

        Args:
            leaf: Its number, from 0.
            scenes: Of its items.

        Returns:
            For each item the numbers of pictures, the likeliest first.
        """
        with self._lock:  # the first leaf to come here reads them
            captions = self.captions
        hands = open_hands(self._options.per_picture, self._leaves, len(captions.rows), self._places)
        allowed = (captions.hand - leaf) % self._leaves < hands
        order = rng_for(self._options.seed, "bloom/ties", str(leaf)).getrandbits(64)
        ranked = {scene: captions.ranked(scene.keywords, allowed, order) for scene in scenes}
        most = 2 * self._options.pictures  # half of them for those that turn out to be of no use
        plenty = np.count_nonzero(allowed) >= 2 * most * len(scenes)
        turns, span = (1, 2 * most) if plenty else (most, 1)
        seen: set[int] = set()
        chosen: list[list[int]] = [[] for _ in scenes]
        for _ in range(turns):
            for numbers, scene in zip(chosen, scenes, strict=True):
                ranked[scene], likeliest = tee(ranked[scene])
                numbers.extend(islice((number for number in likeliest if number not in seen), 0, span, 2))
                seen.update(numbers)
        return chosen

    def _offers(self, numbers: Sequence[int]) -> Offers:
        """The pictures with these numbers, until enough of them can be used."""
        left = self._options.pictures
        for number in numbers:
            yield self._offer(number)
            left -= isinstance(self._looked[number], Candidate)
            if not left:
                return

    def _offer(self, number: int) -> Steps[OfferedPicture | None]:
        found: OfferedPicture | None = yield LocalWork(lambda: self._look(number))
        return found

    def _look(self, number: int) -> OfferedPicture | None:
        """Read a picture; None if it cannot be used."""
        match self._looked.get(number):
            case Candidate() as known:  # another item was offered it
                return OfferedPicture(known, self.picture(known))
            case str():
                return None
        row = self.captions.rows[number]
        try:
            found = offered_picture(self._read(row.partition, row.number), row.partition, row.number, row.source_id)
        except ImageProblem as problem:
            self._looked[number] = problem.reason.value
            return None
        self._kept.add(found.candidate.digest, found.data)
        self._looked[number] = found.candidate
        return found

    def picture(self, candidate: Candidate) -> bytes:
        """The bytes of a picture that was offered."""
        return self._kept.read(candidate.digest)

    def licences(self, candidates: Sequence[Candidate]) -> list[str]:
        """The licence of each of some pictures: its own, if the source says it, or that of all."""
        wanted: defaultdict[int, set[int]] = defaultdict(set)
        for candidate in candidates if self._options.licence_column else ():
            wanted[candidate.partition].add(candidate.row)
        own = {
            (partition, row.number): one_line(row.caption)[:_LICENCE_CHARS]
            for partition, rows in wanted.items()
            for row in iter_captions(self._source, self._licences, partition, max(rows) + 1)
            if row.number in rows
        }
        return [own.get((candidate.partition, candidate.row)) or self._options.licence for candidate in candidates]

    def _read(self, partition: int, row: int) -> bytes:
        """The bytes of a picture as the source has them; an ImageProblem if it has none."""
        item = next(some_items(self._source, self._config, partition, [row]), None)
        if item is None or item.image is None:
            raise ImageProblem(Reason.NO_IMAGE, item.problem if item else "the row is gone")
        return item.image

    @cached_property
    def captions(self) -> CaptionIndex:
        """The captions, which are read when they are first wanted."""
        captions = CaptionIndex(self._rows(), self._leaves)
        if not captions.rows:
            raise NoPairsError(f"{self.description} has no picture.")
        return captions

    def _rows(self) -> Iterator[tuple[SourceRow, str]]:
        for index, partition in enumerate(cut_at_limit(self._source, self._config)):
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
    """Where a picture is."""

    partition: int
    number: int
    source_id: str


class CaptionIndex:
    """The captions of a source: which pictures have a word in theirs. The captions themselves are not kept.

    Attributes:
        rows: Where each picture is.
        hand: Into which of many hands each picture is dealt.
    """

    def __init__(self, pairs: Iterator[tuple[SourceRow, str]], leaves: int) -> None:
        self.rows: list[SourceRow] = []
        by_word: defaultdict[str, array[int]] = defaultdict(lambda: array("q"))
        for number, (row, caption) in enumerate(pairs):
            self.rows.append(row)
            for word in dict.fromkeys(_words(caption)):
                by_word[word].append(number)
        self._by_word = {word: np.frombuffer(numbers, np.int64) for word, numbers in by_word.items()}
        # By lot, as a source may show one thing in every second row.
        dealt = shuffled(rng_for(0, "bloom/hands", ""), range(len(self.rows)))
        self.hand = np.empty(len(self.rows), np.int64)
        # Evenly, so that no leaf is far from a picture where there are fewer of them than leaves.
        self.hand[dealt] = np.arange(len(self.rows)) * leaves // len(self.rows)

    def points(self, keywords: Sequence[str]) -> npt.NDArray[np.float64]:
        """Of each picture, the weight of the words that its caption has."""
        points = np.zeros(len(self.rows))
        for word in dict.fromkeys(word for text in keywords for word in _words(text)):
            if (found := self._by_word.get(word)) is not None:
                points[found] += math.log(1 + len(self.rows) / len(found))
        return points.round(9)  # sums of the same weights may differ in their last digits

    def ranked(self, keywords: Sequence[str], allowed: npt.NDArray[np.bool_], lot: int) -> Iterator[int]:
        """Numbers of the pictures that are allowed: those whose captions have most of the words come first.

        Args:
            keywords: Words, or several in one text.
            allowed: Of each picture, whether it may be taken.
            lot: Which of equally good ones comes first; another number gives another order.
        """
        points = self.points(keywords)
        with_words, others = np.flatnonzero(allowed & (points > 0)), np.flatnonzero(allowed & (points == 0))
        yield from with_words[np.lexsort((_lots(with_words, lot), -points[with_words]))].tolist()
        yield from others[np.argsort(_lots(others, lot))].tolist()


def open_hands(most: int, leaves: int, pictures: int, places: int) -> int:
    """Into how many of the leaves' hands a leaf may reach: each picture is in one hand, and every leaf has one.

    A picture is open to as many leaves as there are such hands. Where the source is hardly large enough, that are as
    many as it may have items, and no item is lost at the end. From half as many pictures more on, every leaf may choose
    among all of them, as two leaves seldom want the same one; scripts/measure_making.py tells what that costs.

    Args:
        most: Items that a picture may have.
        leaves: How many leaves there are.
        pictures: How many pictures there are.
        places: How many items are wanted.
    """
    return leaves if 2 * most * pictures >= 3 * places else min(leaves, most)


def _lots(numbers: Numbers, lot: int) -> npt.NDArray[np.uint64]:
    """A number drawn for each picture: SplitMix64, whose values are the same wherever it runs."""
    value = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(lot)
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: npt.NDArray[np.uint64] = value ^ (value >> np.uint64(31))
    return mixed


def offered_picture(data: bytes, partition: int, row: int, source_id: str) -> OfferedPicture:
    """A picture as it is offered to an item.

    Args:
        data: Its bytes, as they came.
        partition: Where it is, as the other two.
        row: As of a :class:`Candidate`.
        source_id: As of a :class:`Candidate`.

    Raises:
        ImageProblem: It cannot be decoded, or is too large or too small.
    """
    bits = difference_hash(load_image(data, width=HASH_WIDTH, **PICTURE_LIMITS)).tobytes()
    data = sendable(data)
    digest = hashlib.sha256(data).hexdigest()
    candidate = Candidate(partition=partition, row=row, source_id=source_id, digest=digest, bits=bits)
    return OfferedPicture(candidate, data)


def sendable(data: bytes) -> bytes:
    """A picture in a form that servers know."""
    return data if media_type(data) else usable_picture(data)


def _words(text: str) -> list[str]:
    return _WORD.findall(text[:_CAPTION_CHARS].casefold())
