"""The degradations of finished images, one row each: option texts, messages, images of docs and tests follow from this.

To add one: a function in `vcrgen.typeset.degrade`, its row here, and a row in ``docs/covers.md``; then
``scripts/redraw.py NAME``. The command line reads this module for its help, so it imports nothing heavy.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True, kw_only=True)
class Degradation:
    """A degradation of a finished image."""

    name: str  # as ``--degrade`` gives it
    # ``module:function``: (image, amount, seed) -> image; of a warp (image, amount, seed, resample, ground) -> image
    apply: str
    least: float  # the least amount
    most: float  # the largest amount
    example: float  # the amount in the image of docs/covers.md, between the two
    whole: bool = False  # amounts are whole numbers
    warp: bool = False  # it moves pixels: masks are warped with them, and boxes are invalid


_FUNCTIONS = "vcrgen.typeset.degrade"
_ROWS = (
    Degradation(name="jpeg", apply=f"{_FUNCTIONS}:jpeg", least=1, most=95, example=10, whole=True),
    Degradation(name="blur", apply=f"{_FUNCTIONS}:blur", least=0.1, most=10, example=1.5),
    Degradation(name="lowres", apply=f"{_FUNCTIONS}:lowres", least=0.1, most=0.95, example=0.5),
    Degradation(name="camera", apply=f"{_FUNCTIONS}:camera", least=0.05, most=1, example=0.5),
    Degradation(name="skew", apply=f"{_FUNCTIONS}:skew", least=0.1, most=10, example=3, warp=True),
    Degradation(name="perspective", apply=f"{_FUNCTIONS}:perspective", least=0.02, most=0.4, example=0.2, warp=True),
)
DEGRADATIONS: Mapping[str, Degradation] = MappingProxyType({row.name: row for row in _ROWS})


def parse_degradations(text: str) -> list[tuple[str, float]]:
    """Read ``jpeg=40,blur=1.2``: what is done to a finished image, in this order, and how much of it.

    Raises:
        ValueError: The text is not of that form, names something else or the same twice, or an amount is out of range.
    """
    steps: dict[str, float] = {}
    for part in text.split(","):
        name, _, size = (piece.strip() for piece in part.partition("="))
        if name not in DEGRADATIONS:
            raise ValueError(f"{part.strip()[:40]!r} is not NAME=AMOUNT with one of {', '.join(DEGRADATIONS)}")
        if name in steps:
            raise ValueError(f"{name!r} is named twice")
        row = DEGRADATIONS[name]
        try:
            steps[name] = float(size)
        except ValueError:
            steps[name] = math.nan
        if not row.least <= steps[name] <= row.most or (row.whole and steps[name] % 1):
            kind = "a whole number" if row.whole else "a number"
            raise ValueError(f"{name}={size[:40]} is not {kind} from {row.least} to {row.most}")
    return list(steps.items())
