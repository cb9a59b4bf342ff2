"""The questions that outputs are scored against, with their answers: found by id or row, read when they are asked for.

A key may hold millions of questions. Of each, memory holds a hash of its id and two numbers; the question itself stands
in a temporary file, which no other process sees and which is gone when the process ends.
"""

import hashlib
import io
import json
import os
import tempfile
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import IO, Any

import numpy as np

from vcrgen.core.files import canonical_json
from vcrgen.scorer.key import BaseKey, QuestionTable, hash_id
from vcrgen.scorer.records import AnswerSpan, Question
from vcrgen.stats.arrays import Ids, Ints

MAX_MEMORY = 16 << 20
_64_BITS = (1 << 64) - 1
_ROWS_TOGETHER = 512
_DECODER = json.JSONDecoder()  # `json.loads` first guesses the encoding of bytes, which takes four times as long


class Questions(QuestionTable[Question]):
    """The questions of a split in the order of the dataset; those after the first ``limit`` are known by ids alone.

    Where others than the first are asked for it is ``reordered``: those come first, then `end_of_subset` is
    called, and the others follow. Only `place` and `row_at` know the dataset's own order then.

    Fill it with `add`, then call `close` once; from then on it can be read, also by processes that are
    forked. Where it is ``secret``, the answers stay in memory and are never in a file.
    """

    def __init__(self, *, limit: int | None = None, secret: bool = False, reordered: bool = False) -> None:
        self._limit = limit
        self._places = array("Q") if reordered else None
        self._in_memory = secret or not hasattr(os, "pread")  # Windows has none
        # The temporary file moves to a disk when it grows; it has no name there, and goes away with the process.
        spooled = tempfile.SpooledTemporaryFile  # ruff wants it in a context, and it lives as long as the key
        self._file: IO[bytes] = io.BytesIO() if self._in_memory else spooled(MAX_MEMORY)
        self._data: bytes | None = None
        self._offsets = array("Q", [0])
        self._starts = array("Q", [0])
        self._ids = array("Q")
        self._hashes = array("Q")
        self._rows = array("Q")
        self._digest = hashlib.sha256()
        self._last: tuple[int, Question] | None = None
        self.total = 0

    def add(self, question: Question, place: int | None = None) -> None:
        """Add the next question; ``place`` is its row in the dataset."""
        if self._places is not None:
            self._places.append(self.total if place is None else place)
        line = canonical_json([question.question_id, question.answers]).encode("utf-8")
        if self._limit is None or self.total < self._limit:
            self._digest.update(line)
        if question.part or any(span.tokens is not None or any(span[2:]) for span in question.spans):
            spans = [(span.text, span.tokens, *map(dict, span[2:])) for span in question.spans]
            line = canonical_json([question.question_id, spans, question.part]).encode("utf-8")
        self._file.write(line + b"\n")
        self._offsets.append(self._offsets[-1] + len(line) + 1)
        self._starts.append(self._starts[-1] + len(question.spans))
        self._ids.append(hash_id(question.question_id))
        self._hashes.append(_hash(question.question_id))
        self.total += 1

    def end_of_subset(self) -> None:
        """The questions that are added from now on are not asked for."""
        self._limit = self.total

    def place(self, row: int) -> int:
        """The row in the dataset of a question of this row."""
        return row if self._places is None else self._places[row]

    @cached_property
    def _rows_of_places(self) -> Mapping[int, int]:
        return {place: row for row, place in enumerate(self._places or ())}

    def row_at(self, place: int) -> int | None:
        """The row of the question in a row of the dataset."""
        if place >= self.total:
            return None
        return place if self._places is None else self._rows_of_places[place]

    def close(self) -> int | None:
        """End the filling; gives the first row whose id an earlier row has, or None where no two are the same."""
        self._file.seek(0)  # so that nothing is left in a buffer
        if self._in_memory or self._offsets[-1] <= MAX_MEMORY:
            self._data = self._file.read()
            self._file.close()
        hashes = np.frombuffer(self._hashes, dtype=np.uint64)
        order = np.argsort(hashes, kind="stable").astype(np.uint64)
        self._hashes, self._rows = array("Q", hashes[order].tobytes()), array("Q", order.tobytes())
        rows = self._rows[:0]
        for place in np.flatnonzero(hashes[order][1:] == hashes[order][:-1]).tolist():
            first, second = self._rows[place], self._rows[place + 1]
            if self._at(first).question_id == self._at(second).question_id:
                rows.append(second)
        return min(rows, default=None)

    @property
    def digest(self) -> str:
        """SHA-256 over ids and answers of the questions asked for, in hex."""
        return self._digest.hexdigest()

    @property
    def starts(self) -> Ints:
        """Scored units before each cluster."""
        return np.frombuffer(self._starts, dtype=np.int64)[: len(self) + 1]

    @property
    def cluster_ids(self) -> Ids:
        """The hashed ids of the questions asked for."""
        return np.frombuffer(self._ids, dtype=np.uint64)[: len(self)]

    def row_of(self, question_id: str) -> int | None:
        """The row of an id, or None."""
        digest = _hash(question_id)
        place = bisect_left(self._hashes, digest)
        while place < len(self._hashes) and self._hashes[place] == digest:
            row = self._rows[place]
            if self._at(row).question_id == question_id:
                return row
            place += 1
        return None

    def __len__(self) -> int:
        return self.total if self._limit is None else min(self._limit, self.total)

    def __iter__(self) -> Iterator[Question]:
        for start in range(0, len(self), _ROWS_TOGETHER):
            stop = min(start + _ROWS_TOGETHER, len(self))
            yield from map(_parse, self._read(start, stop).split(b"\n")[:-1])

    def _at(self, row: int) -> Question:
        last = self._last  # to find a question by its id reads it, and then it is asked for
        if last is None or last[0] != row:
            last = self._last = row, _parse(self._read(row, row + 1))
        return last[1]

    def _read(self, start: int, stop: int) -> bytes:
        """The lines of some rows; processes that were forked share the file, so its position is not used."""
        begin, end = self._offsets[start], self._offsets[stop]
        if self._data is not None:
            return self._data[begin:end]
        return os.pread(self._file.fileno(), end - begin, begin)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerKey(BaseKey[Question]):
    """All questions of one split, in the order of the dataset."""

    questions: Questions
    white_rows: bool = False  # whether its covers are known to be white rows, which settle spans of placed letters
    covers: Mapping[str, str] = field(default_factory=dict)  # kind of cover by mode, as its signature names them
    bits_signature: str = ""  # of those that are not the dataset's own
    segmenter: str | None = None  # the segmenter in the dataset's signature, or None

    def ids(self) -> Iterator[str]:
        """The ids of the questions asked for, in order."""
        return (question.question_id for question in self.questions)


def _hash(question_id: str) -> int:
    """64 bits of an id; nobody can choose ids that share them, as each process has its own secret for it."""
    return hash(question_id) & _64_BITS


def _parse(line: bytes) -> Question:
    (question_id, spans, *part), _ = _DECODER.raw_decode(line.decode("utf-8"))
    read = tuple([AnswerSpan(span) if isinstance(span, str) else _span(*span) for span in spans])
    return Question(question_id, read, *part)


def _span(text: str, tokens: list[str] | None, *by_name: Any) -> AnswerSpan:
    return AnswerSpan(text, None if tokens is None else tuple(tokens), *by_name)
