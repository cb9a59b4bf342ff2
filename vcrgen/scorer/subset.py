"""Subsets of a dataset: ``vcrgen score --subset first100``, a split of a hidden set, or a file of ids.

A file has one id a line, in any order. Questions are scored in the dataset's order, so two files of the same ids are
the same subset, and have the same name in signatures.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from vcrgen.core.errors import AnswerError
from vcrgen.core.files import canonical_json
from vcrgen.core.plurals import pluralize
from vcrgen.core.reading import check_file_size, iter_lines
from vcrgen.data.key import HIDDEN_SPLITS
from vcrgen.scorer.key import ScoredQuestion

_FIRST = re.compile(r"first([1-9][0-9]{0,8})")
MAX_BYTES = 256 << 20


def read_subset(file: Path) -> frozenset[str]:
    """The ids in a file.

    Raises:
        AnswerError: It cannot be read, is too large, is empty, or names a question twice.
    """
    check_file_size(file, MAX_BYTES, "it is no list of ids", AnswerError)
    ids = set[str]()
    for number, line in iter_lines(file, AnswerError):
        question_id = line.rstrip("\r\n")
        if question_id in ids:
            raise AnswerError(f"{file}, line {number}: the id {question_id[:80]!r} stands there twice.")
        ids.add(question_id)
    if not ids:
        raise AnswerError(f"{file} is empty; a subset is a file with the id of a question on each line.")
    return frozenset(ids)


def subset_name(ids: Collection[str]) -> str:
    """Name a subset for signatures: its size and a digest of its ids, as in ``500@1f0c82d4``."""
    return f"{len(ids)}@{hashlib.sha256(canonical_json(sorted(ids)).encode()).hexdigest()[:8]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subset:
    """The questions that are scored: all where nothing is set, the first ones, those of a split, or some by id."""

    text: str = ""  # as the user names it
    limit: int | None = None
    split: str = ""  # of a hidden set
    ids: frozenset[str] = frozenset()

    @classmethod
    def parse(cls, text: str | None) -> Subset:
        """The subset that an option names.

        Raises:
            AnswerError: There is no such subset, or its file cannot be read.
        """
        if text is None:
            return cls()
        if first := _FIRST.fullmatch(text):
            return cls(text=text, limit=int(first[1]))
        if text in HIDDEN_SPLITS:
            return cls(text=text, split=text)
        if os.path.exists(text):  # noqa: PTH110 - unlike a Path it takes any text
            return cls(text=text, ids=read_subset(Path(text)))
        raise AnswerError(
            f"Unknown subset {text!r}; write firstN for the first N questions, such as first100, a file with an id on "
            f"each line, or (of a hidden set) {' or '.join(HIDDEN_SPLITS)}."
        )

    @property
    def name(self) -> str:
        """The name in signatures; empty for all questions."""
        return subset_name(self.ids) if self.ids else self.text

    def contains(self, number: int, question: ScoredQuestion) -> bool:
        """Tell whether the question in this row of the dataset is in the subset."""
        if self.ids:
            return question.question_id in self.ids
        return question.part == self.split if self.split else self.limit is None or number < self.limit

    def check(self, data: Path, dataset_ids: Collection[str]) -> None:
        """Refuse ids that the dataset does not have."""
        if unknown := self.ids - set(dataset_ids):
            raise AnswerError(
                f"{self.text} names {len(unknown)} of {pluralize(len(self.ids), 'question')} that {data} does not "
                f"have, the first of them {min(unknown)[:80]!r}; name them by the ids of this dataset (and see "
                "--split)."
            )
