"""How often the 95 % intervals of a study of people hold the true mean, of raters whose skill is known.

    python scripts/measure_study.py [--studies 1000]

The table that it prints stands in docs/study.md. Each figure is a share of simulated studies. A study has 100 pictures
with 1 to 4 spans each, two modes, three raters an item in a mode, and seven raters, to whom the package's own design
gives the pictures. The chance of a rater to restore a span is logistic in the rater's skill and the picture's ease,
which are drawn from normal distributions with the deviations in the table; the mean over all raters and pictures is
what the column says. In the last line printed, the chances of the raters are drawn evenly from 75 to 99 %. The interval
is that of the first mode, made by the package's own code.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from vcrgen.study.design import Viewing, all_slots, deal
from vcrgen.study.figures import human, strict
from vcrgen.study.records import Mark

Floats: TypeAlias = NDArray[np.float64]
SPANS, SHARES = (1, 2, 3, 4), (0.40, 0.43, 0.14, 0.03)  # of the 500 pairs in shared/data/wiki
MEANS = (0.75, 0.85, 0.95, 0.99)
PICTURES, MODES, AN_ITEM = 100, 2, 3
RATERS = 7
SPREADS = ((0.0, 0.0), (0.3, 0.5), (0.6, 1.0))  # of raters, of pictures; in logits
EVENLY = (0.75, 0.99)
DEALS = 50  # different designs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=1000, help="simulated studies for each figure")
    studies = parser.parse_args().studies
    print(f"| spread of raters | of pictures | {' | '.join(f'{mean:.0%}' for mean in MEANS)} |")
    print("|" + "---:|" * (2 + len(MEANS)))
    for of_raters, of_pictures in SPREADS:
        cells = []
        for mean in MEANS:
            middle = intercept(mean, math.hypot(of_raters, of_pictures))
            cells.append(coverage(studies, partial(chances, of_raters, of_pictures, middle), mean))
        print(f"| {of_raters} | {of_pictures} | {' | '.join(cells)} |", flush=True)
    print(f"skills from 75 to 99 %: {coverage(studies, evenly, sum(EVENLY) / 2)}")


def coverage(studies: int, draw: Callable[[np.random.Generator], Floats], mean: float) -> str:
    """The share of studies whose interval holds the mean, and the mean width of the intervals, in percent."""
    held = width = 0.0
    for number in range(studies):
        found = human(simulate(number, draw), strict, seed=number).interval
        held += found.low <= mean <= found.high
        width += found.high - found.low
    return f"{100 * held / studies:.1f} ({100 * width / studies:.1f})"


def chances(of_raters: float, of_pictures: float, middle: float, rng: np.random.Generator) -> Floats:
    """The chance of each rater at each picture."""
    skill, ease = of_raters * rng.standard_normal((RATERS, 1)), of_pictures * rng.standard_normal((1, PICTURES))
    return np.asarray(1 / (1 + np.exp(-(middle + skill + ease))))


def evenly(rng: np.random.Generator) -> Floats:
    """The same, where pictures are alike and raters of any skill."""
    return np.repeat(rng.uniform(*EVENLY, (RATERS, 1)), PICTURES, axis=1)


def simulate(number: int, draw: Callable[[np.random.Generator], Floats]) -> list[Mark]:
    """The marks of the first mode of a study."""
    rng = np.random.default_rng(number)
    chance = draw(rng)
    spans = rng.choice(SPANS, PICTURES, p=SHARES)
    marks = []
    for rater, slots in dealt(number % DEALS).items():
        for item, condition, turn in slots:
            if condition == 0:
                for place, right in enumerate(rng.random(spans[item]) < chance[rater - 1, item]):
                    marks.append(Mark(rater, item, 0, turn, place, "", False, bool(right), bool(right)))
    return marks


@cache
def dealt(seed: int) -> Mapping[int, list[Viewing]]:
    """Who sees what."""
    return deal(all_slots(PICTURES, MODES, AN_ITEM), range(1, RATERS + 1), seed=seed)


def intercept(mean: float, spread: float) -> float:
    """The logit about which a normal distribution with a deviation has a mean chance."""
    points, weights = np.polynomial.hermite_e.hermegauss(101)
    low, high = -10.0, 20.0
    for _ in range(80):
        middle = (low + high) / 2
        found = float((weights / (1 + np.exp(-(middle + spread * points)))).sum() / weights.sum())
        low, high = (middle, high) if found < mean else (low, middle)
    return middle


if __name__ == "__main__":
    main()
