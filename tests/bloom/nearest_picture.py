"""A reader of drawn scenes: it takes the answer of the nearest public picture with the same question."""

import io
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from vcrgen.samples.pairs import picture

SIDE = 16  # px, to which pictures are reduced before they are compared

Rows = Iterable[tuple[int, list[dict[str, Any]]]]  # numbers of pictures, each with the items about it


def right_option(row: Mapping[str, Any]) -> str:
    """Text of the right option of an item in English."""
    return str(row["options_en"]["ABCDEFGHIJ".index(row["answer"])])


def small_picture(number: int) -> npt.NDArray[np.float32]:
    """Pixels of a drawn scene, shape (SIDE * SIDE * 3,)."""
    with Image.open(io.BytesIO(picture(number))) as image:
        small = image.convert("RGB").resize((SIDE, SIDE), Image.Resampling.BOX)
    return np.asarray(small, np.float32).ravel()


class NearestPictureReader:
    """Knows public scenes with their answers; guesses where none of them has the question and an option of it."""

    def __init__(self, public: Rows) -> None:
        self._known: defaultdict[str, list[tuple[npt.NDArray[np.float32], str]]] = defaultdict(list)
        for number, rows in public:
            pixels = small_picture(number)
            for row in rows:
                self._known[row["question_en"]].append((pixels, right_option(row)))

    def credit(self, pixels: npt.NDArray[np.float32], row: Mapping[str, Any]) -> float:
        """1 for the right option, 0 for another one, and the share of one option where it guesses."""
        candidates = [known for known in self._known[row["question_en"]] if known[1] in row["options_en"]]
        if not candidates:
            return 1 / len(row["options_en"])
        _, answer = min(candidates, key=lambda known: float(((known[0] - pixels) ** 2).sum()))
        return float(answer == right_option(row))

    def credits(self, hidden: Rows) -> list[float]:
        """The credit of each item of a set."""
        return [
            self.credit(pixels, row) for number, rows in hidden for pixels in [small_picture(number)] for row in rows
        ]
