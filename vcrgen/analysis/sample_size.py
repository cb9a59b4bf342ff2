"""Sample sizes: images for a difference, images for a threshold, raters and images for a human baseline.

The numbers are those of simulations (``scripts/measure_sample_size.py``) with the package's own tests and intervals.
Between measured sizes they are interpolated; beyond them there is no answer.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from statistics import NormalDist
from typing import NamedTuple

from vcrgen.errors import AnalysisError

FILE = Path(__file__).with_name("sample_size.csv")
COLUMNS = ("question", "accuracy", "alike", "difference", "levels", "scale", "raters", "images", "value")
_ALMOST = 0.998  # power of which probits are taken at most: 500 pairs tell no more


class SizeCurve(NamedTuple):
    """A measured figure at growing numbers of images, for one setting."""

    setting: Mapping[str, float]
    images: Sequence[int]
    values: Sequence[float]  # power as a share, or half-widths in points

    def needed(self, wanted: float, *, is_power: bool) -> int | None:
        """Return the smallest number of images that gives a power or a half-width; None beyond the measured ones.

        Below the smallest measured number, that one. Between two numbers the probit of power is taken as linear in the
        root of the number of images, and the logarithm of a half-width in that of the number.
        """
        good = [(value >= wanted) == is_power or value == wanted for value in self.values]
        last = next((place for place in range(len(good)) if all(good[place:])), None)
        if last is None:
            return None
        if last == 0:
            return self.images[0]
        (a, x), (b, y) = ((self.images[place], self.values[place]) for place in (last - 1, last))
        if is_power:
            x, y, goal = (_probit(value) for value in (x, y, wanted))
            root = math.sqrt(a) + (math.sqrt(b) - math.sqrt(a)) * _part(x, y, goal)
            found = root**2
        else:
            found = math.exp(math.log(a) + math.log(b / a) * _part(math.log(x), math.log(y), math.log(wanted)))
        return min(b, max(a, math.ceil(found / _step(found)) * _step(found)))


def _part(x: float, y: float, goal: float) -> float:
    return min(max((goal - x) / (y - x), 0.0), 1.0) if x != y else 1.0


def _probit(power: float) -> float:
    return NormalDist().inv_cdf(min(max(power, 1 - _ALMOST), _ALMOST))


def _step(found: float) -> int:
    """Numbers are rounded up to two digits, as simulations are no more exact."""
    return int(10 ** max(math.floor(math.log10(found)) - 1, 0))


@cache
def measured(question: str) -> tuple[SizeCurve, ...]:
    """All measured curves of a question: ``difference``, ``threshold`` or ``human``."""
    points: dict[tuple[tuple[str, float], ...], list[tuple[int, float]]] = {}
    with FILE.open(encoding="utf-8", newline="") as handle:
        for row in csv.DictReader(handle):
            if row["question"] == question:
                setting = tuple((name, float(row[name])) for name in COLUMNS[1:-2] if row[name])
                points.setdefault(setting, []).append((int(row["images"]), float(row["value"])))
    return tuple(SizeCurve(dict(setting), *zip(*sorted(of), strict=True)) for setting, of in points.items())


def curves(question: str, **setting: float) -> tuple[SizeCurve, ...]:
    """The measured curves of a setting.

    Raises:
        AnalysisError: A value was not measured.
    """
    found = measured(question)
    for name, value in setting.items():
        known = sorted({curve.setting[name] for curve in found})
        if value not in known:
            raise AnalysisError(
                f"--{name} {value:g} was not measured; measured are {', '.join(f'{each:g}' for each in known)}."
            )
        found = tuple(curve for curve in found if curve.setting[name] == value)
    return found
