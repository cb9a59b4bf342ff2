"""Measure the coverage of threshold intervals, and the error of staircases, with simulated observers.

    python scripts/measure_curve.py [--observers 150]

The tables that it prints stand in docs/validation/curve.md. An observer sees each image at every level of a ladder,
and recovers each of its 1 to 3 spans with a chance that is logistic in the visible ink. Images are easier or harder,
by a normal distribution of the ink that they need, with the deviation in the table. The true threshold is where the
mean chance over such images is one half. A staircase asks the same observers a fifth of the questions; it is near if
its estimate is within the interval of the curve of all questions.

1. Coverage and width of the interval, by the number of images and levels; how often the threshold is only known to
   be between two levels, and how often the test of fit rejects this curve, which is the true one.
2. How often the test of fit rejects answers that fall, that fall and rise, and that rise in two steps.
3. The staircase.
"""

from __future__ import annotations

import argparse
from itertools import product
from typing import NamedTuple

import numpy as np

from vcrgen.stats import psychometric
from vcrgen.stats.psychometric import AnswerCounts, Curve, fit_curve
from vcrgen.stats.staircase import Staircase

LADDERS = {6: (0.05, 0.1, 0.2, 0.3, 0.5, 0.7), 10: (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7)}
SIZES = (10, 20, 60)  # images of the tables of sizes
SHAPES = {  # shares of right answers at the six levels
    "falling": (0.75, 0.7, 0.6, 0.5, 0.35, 0.2),
    "falling, rising": (0.8, 0.5, 0.2, 0.2, 0.5, 0.8),
    "two steps": (0.1, 0.5, 0.55, 0.55, 0.6, 0.95),
}
MAX_SPANS = 3
SHARE = 5


class Observer(NamedTuple):
    """A kind of observers, and what they are shown."""

    images: int
    middle: float  # of the logistic function
    scale: float
    guess: float
    lapse: float
    spread: float  # deviation of the ink that images need

    def chance(self, ink: float | np.ndarray, ease: float | np.ndarray) -> np.ndarray:
        """The chance to recover a span."""
        seen = 1 / (1 + np.exp(-(ink - self.middle - ease) / self.scale))
        return np.asarray(self.guess + (1 - self.guess - self.lapse) * seen)

    @property
    def threshold(self) -> float:
        """The ink at which the mean chance is one half."""
        ease = np.random.default_rng(0).normal(0, self.spread, 20_000)
        ink = np.linspace(0, 1, 1001)
        return float(np.interp(0.5, [self.chance(x, ease).mean() for x in ink], ink))


OBSERVERS = (
    Observer(60, 0.25, 0.05, 0.05, 0.05, 0.05),
    Observer(100, 0.15, 0.03, 0.00, 0.02, 0.05),
    Observer(100, 0.25, 0.05, 0.05, 0.05, 0.05),
    Observer(300, 0.40, 0.10, 0.10, 0.10, 0.05),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--observers", type=int, default=150, help="simulated observers for each line")
    observers = parser.parse_args().observers
    print_sizes(observers)
    print_shapes(observers)
    for levels in LADDERS:
        print_staircases(levels, observers)


def print_sizes(observers: int) -> None:
    """Print coverage by the number of images, with intervals also where the package gives none."""
    psychometric.LEAST_IMAGES = 1
    print("| levels | images | threshold | scale | coverage | width, % of ink | between levels | fit rejected |")
    print("|" + "---:|" * 8)
    for levels, images, kind in product(LADDERS, SIZES, OBSERVERS[1:]):
        true, found = kind.threshold, np.zeros(4)
        for number in range(observers):
            curve = fit_curve(draw(kind._replace(images=images), np.array(LADDERS[levels]), number)[0], seed=number)
            found += (
                holds(curve, true),
                curve.high.value - curve.low.value,
                curve.between is not None,
                (curve.fit_p or 1) < 0.05,
            )
        full, width, between, rejected = 100 * found / observers
        print(
            f"| {levels} | {images} | {true:.3f} | {kind.scale} | {full:.1f} % | {width:.1f} | {between:.1f} % "
            f"| {rejected:.1f} % |",
            flush=True,
        )


def print_shapes(observers: int) -> None:
    """Print how often the test of fit rejects answers of other shapes."""
    print("| images | " + " | ".join(SHAPES) + " |")
    print("|" + "---:|" * (1 + len(SHAPES)))
    for images in SIZES[1:]:
        kind, cells = OBSERVERS[1]._replace(images=images), []
        for shares in SHAPES.values():
            curves = (
                fit_curve(draw(kind, np.array(LADDERS[6]), n, np.array(shares))[0], seed=n) for n in range(observers)
            )
            cells.append(f"{100 * np.mean([(curve.fit_p or 1) < 0.05 for curve in curves]):.1f} %")
        print(f"| {images} | {' | '.join(cells)} |", flush=True)


def print_staircases(levels: int, observers: int) -> None:
    """Print the error of staircases on a ladder."""
    print(f"\n{levels} levels")
    heads = (
        "images",
        "threshold",
        "scale",
        "guess",
        "lapse",
        "spread",
        "coverage",
        "width, % of ink",
    )
    print(f"| {' | '.join(heads)} | staircase within | its coverage |")
    print("|" + "---:|" * (len(heads) + 2))
    for kind in OBSERVERS:
        true, found = kind.threshold, np.zeros(4)
        for number in range(observers):
            curve, quick = observe(kind, np.array(LADDERS[levels]), number)
            found += (
                holds(curve, true),
                curve.high.value - curve.low.value,
                curve.low.value <= quick.threshold.value <= curve.high.value,
                holds(quick, true),
            )
        full, width, near, own = 100 * found / observers
        print(
            f"| {kind.images} | {true:.3f} | {kind.scale} | {kind.guess} | {kind.lapse} | {kind.spread} "
            f"| {full:.1f} % | {width:.1f} | {near:.1f} % | {own:.1f} % |",
            flush=True,
        )


def draw(
    kind: Observer, levels: np.ndarray, number: int, shares: np.ndarray | None = None
) -> tuple[AnswerCounts, np.ndarray, np.ndarray]:
    """The answers of an observer, or of one whose shares are given: counts, single answers, and texts of images."""
    rng = np.random.default_rng((number, kind.images))
    texts = rng.integers(1, MAX_SPANS + 1, kind.images)
    chances = kind.chance(levels, rng.normal(0, kind.spread, kind.images)[:, None])
    if shares is not None:
        chances = np.broadcast_to(shares, chances.shape)
    right = rng.random((MAX_SPANS, *chances.shape)) < chances
    there = np.arange(MAX_SPANS)[:, None] < texts
    asked = np.repeat(texts[:, None], len(levels), axis=1).astype(float)
    return AnswerCounts(levels, (right & there[..., None]).sum(axis=0).astype(float), asked), right, texts


def observe(kind: Observer, levels: np.ndarray, number: int) -> tuple[Curve, Curve]:
    """The curve of all questions to an observer, and that of a staircase's fifth of them."""
    answers, right, texts = draw(kind, levels, number)
    curve = fit_curve(answers, seed=number)
    steps = Staircase(levels.tolist(), kind.images, kind.images * len(levels) // SHARE, seed=number)
    while questions := steps.round():
        for image, level in questions:
            count = int(texts[image])
            steps.take(image, [float(levels[level])] * count, right[:count, image, level].tolist())
    return curve, steps.curve(seed=number)


def holds(curve: Curve, true: float) -> bool:
    """Tell whether an interval holds the true threshold; a censored end is open."""
    return (curve.low.side < 0 or curve.low.value <= true) and (curve.high.side > 0 or true <= curve.high.value)


if __name__ == "__main__":
    main()
