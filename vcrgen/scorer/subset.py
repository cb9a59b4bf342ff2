"""Files that name some of the questions of a dataset: ``vcrgen score --subset FILE``.

One id a line, in any order. The questions are scored in the dataset's order, so two files of the same ids are the same
subset, and have the same name in signatures.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from pathlib import Path

from vcrgen.errors import AnswerError
from vcrgen.files import canonical_json
from vcrgen.reading import check_file_size, iter_lines

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


def subset_text(ids: Collection[str]) -> str:
    """The text of a file of ids: sorted, so that the same subset is the same file."""
    return "".join(f"{question_id}\n" for question_id in sorted(ids))


def subset_name(ids: Collection[str]) -> str:
    """What a signature calls a subset: how many questions, and a digest of their ids, as in ``500@1f0c82d4``."""
    return f"{len(ids)}@{hashlib.sha256(canonical_json(sorted(ids)).encode()).hexdigest()[:8]}"
