"""The covered parts of a picture: frames around their lines, and the length of their texts."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from vcrgen.data.reader import Dataset
from vcrgen.data.views import View
from vcrgen.study.records import Condition, Frames
from vcrgen.text.languages import LANGUAGES

_MARGIN = 2  # pixels about a line, so that a frame hides none of what is left of its letters
_TOP = {View.STACKED: "strip_y", View.TEI: "only_it_strip_y"}


def part_lengths(answers: Sequence[str], lang: str) -> tuple[int, ...]:
    """The number of words of each answer, or of characters in a language without spaces."""
    return tuple(map(LANGUAGES[lang].count_units, answers))


def read_frames(
    images: Dataset, conditions: Sequence[Condition], question_ids: Collection[str]
) -> Iterator[tuple[str, int, Frames]]:
    """Yield the frames of some pictures: id, number of the condition, and the frames.

    Datasets that other programs made, the public part of a hidden set, MCQ benchmarks and warped pictures have none.
    """
    for number, condition in enumerate(conditions):
        if condition.view not in _TOP:
            continue
        mode = condition.mode if condition.mode in images.modes else next(iter(images.modes), None)
        part = images.select(mode=mode) if mode else images
        left = set(question_ids)
        for _, row in part.rows(["question_id"], optional=["spans", *_TOP.values()]):
            top = row.get(_TOP[condition.view])
            if row["question_id"] in left and top is not None and row.get("spans"):
                left.remove(row["question_id"])
                yield row["question_id"], number, [_frames(span, top) for span in row["spans"]]
            if not left:
                break


def _frames(span: Mapping[str, Any], top: int) -> list[list[int]]:
    """The frames of a span: its covers with the rows of letters that they leave, one for each line."""
    above, below = (int(span.get(name) or 0) + _MARGIN for name in ("rows_above", "rows_below"))
    lines: dict[tuple[int, int], list[int]] = {}
    for box in span.get("boxes") or ():
        key = box["y0"], box["y1"]
        left, right = (lines[key][0], lines[key][2]) if key in lines else (box["x0"], box["x1"])
        lines[key] = [
            min(left, box["x0"]),
            top + box["y0"] - above,
            max(right, box["x1"]),
            top + box["y1"] + below,
        ]
    return list(lines.values())
