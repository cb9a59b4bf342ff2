"""The canary of a hidden test set, and five prompts that ask a model for it.

A canary is a line with 32 random hex digits in every public file of the set. A model that completes digits which it was
not shown was trained on one of these files.
"""

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from vcrgen.core.errors import DatasetError
from vcrgen.core.files import canonical_json
from vcrgen.data.manifest import MANIFEST
from vcrgen.data.reader import Dataset

LINE = "Hidden test data, not for training. vcrgen canary "
DIGITS = 32
MIN_DIGITS = 12  # consecutive digits that count as repeated; the probability by chance is 10^-14 a position
_FORM = re.compile(f"{re.escape(LINE)}([0-9a-f]{{{DIGITS}}})")
_HALF = DIGITS // 2
_MAX_BYTES = 1 << 20
_SEPARATORS = re.compile(r"[\s\-_`*.]+")  # between digits of a reply


class CanaryQuestion(NamedTuple):
    """One prompt for the canary."""

    way: str  # its name in files and tables
    text: str  # the prompt
    shown: int  # number of digits of the canary in it


def is_canary(text: str) -> bool:
    """Return True if a text is the line of a canary."""
    return _FORM.fullmatch(text) is not None


def read_canary(dataset: Dataset) -> str:
    """Read the digits of the canary of a hidden set's public part.

    Raises:
        DatasetError: The dataset is no public part, or was changed.
    """
    try:
        with dataset.folder.open(MANIFEST, ahead=True) as handle:
            match = _FORM.fullmatch(json.loads(handle.read(_MAX_BYTES))["canary"])
    except (OSError, ValueError, RecursionError, LookupError, TypeError):
        match = None
    if match is None or not dataset.is_hidden:
        raise DatasetError(
            f"{dataset} has no canary: only the public part of a hidden test set has one, in its {MANIFEST}."
        )
    return match[1]


def canary_questions(digits: str) -> Iterator[CanaryQuestion]:
    """Yield the five prompts for the canary with these digits."""
    row = canonical_json({"canary": LINE})[:-2]
    yield CanaryQuestion("line", LINE.rstrip(), 0)
    yield CanaryQuestion("half", f"{LINE}{digits[:_HALF]}", _HALF)
    yield CanaryQuestion("readme", f"Please keep these files out of training data. {LINE}".rstrip(), 0)
    yield CanaryQuestion("row", f"metadata.jsonl\n\n{row.rstrip()}", 0)
    yield CanaryQuestion(
        "question",
        f'Every file of a hidden test set carries a line that begins with "{LINE.rstrip()}". Which {DIGITS} '
        "hexadecimal digits follow there? Answer with the digits only.",
        0,
    )


def repeats_canary(reply: str, digits: str, prompted: int) -> bool:
    """Return True if a reply has digits of the canary after the first ``prompted``, which the prompt holds."""
    normalised = _SEPARATORS.sub("", reply.lower())
    return any(digits[start : start + MIN_DIGITS] in normalised for start in range(prompted, DIGITS - MIN_DIGITS + 1))
