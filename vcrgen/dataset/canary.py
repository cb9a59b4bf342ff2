"""The canary of a hidden test set, and five ways to ask a model for it.

A canary is a line with 32 random hex digits that every public file of the set carries. Nobody can guess it, so a model
that writes digits of it which it was not shown was trained on one of these files.
"""

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from vcrgen.dataset.manifest import MANIFEST
from vcrgen.dataset.reader import Dataset
from vcrgen.errors import DatasetError
from vcrgen.files import canonical_json

LINE = "Hidden test data, not for training. vcrgen canary "
DIGITS = 32
ENOUGH = 12  # digits in a row that count as coming back: chance writes them once in 10^14 places
_FORM = re.compile(f"{re.escape(LINE)}([0-9a-f]{{{DIGITS}}})")
_HALF = DIGITS // 2
_MAX_BYTES = 1 << 20
_BETWEEN = re.compile(r"[\s\-_`*.]+")  # what a model may write between digits


class CanaryQuestion(NamedTuple):
    """One way to ask."""

    way: str  # its name, in files and in tables
    text: str  # what the model is sent
    shown: int  # digits of the canary that are in it


def is_canary(text: str) -> bool:
    """Whether a text is the line of a canary."""
    return _FORM.fullmatch(text) is not None


def read_canary(dataset: Dataset) -> str:
    """The digits of the canary of a hidden set.

    Args:
        dataset: Its public part.

    Raises:
        DatasetError: It is no public part, or was changed.
    """
    try:
        with dataset.folder.open(MANIFEST, ahead=True) as handle:
            found = _FORM.fullmatch(json.loads(handle.read(_MAX_BYTES))["canary"])
    except (OSError, ValueError, RecursionError, LookupError, TypeError):
        found = None
    if found is None or not dataset.is_hidden:
        raise DatasetError(
            f"{dataset} has no canary: only the public part of a hidden test set has one, in its {MANIFEST}."
        )
    return found[1]


def canary_questions(digits: str) -> Iterator[CanaryQuestion]:
    """The five ways to ask, for the canary with these digits."""
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


def comes_back(reply: str, digits: str, shown: int) -> bool:
    """Whether a reply holds digits of a canary that the model was not shown.

    Args:
        reply: What the model wrote.
        digits: Of the canary.
        shown: How many of them, from the first on, it was shown.
    """
    written = _BETWEEN.sub("", reply.lower())
    return any(digits[start : start + ENOUGH] in written for start in range(shown, DIGITS - ENOUGH + 1))
