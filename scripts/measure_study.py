"""Empirical coverage of the 95 % intervals of a study of people, for raters whose skill is known.

    python scripts/measure_study.py [--studies 1000] [--endless]

The tables that it prints stand in docs/validation.md. Each figure is a share of simulated studies, and in
brackets the mean width. Images have 1 to 4 spans each and three raters, to whom the package's own design gives them.
The chance of a rater to recover a span is logistic in the rater's skill and the image's ease, which are drawn from
normal distributions with the deviations in the table; the mean over all raters and images is what the column says.
The intervals are made by the package's own code:

1. Of people, of several numbers of raters and images: complete studies, and studies that lack 40 % of the responses.
2. The same, where the chances of seven raters are drawn evenly from 75 to 99 % and 100 images are alike.
3. Of the difference of two views, of 100 images and seven raters; in the second view the mean is 45 %.
4. Of people minus a model, to which an image is as easy as to people; the columns are their means.

With --endless, variances are those that endless resamples would have, in place of 1,000: a formula, which takes a small
part of the time. The tables in docs/validation.md are made so.
"""

import argparse
import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from itertools import product
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from vcrgen.stats import two_way
from vcrgen.stats.two_way import TwoWayMean
from vcrgen.study.assignment import Slot, all_slots, assign
from vcrgen.study.records import GradedResponse
from vcrgen.study.scoring import exact_match, human_minus_model, human_scores, view_difference

Floats: TypeAlias = NDArray[np.float64]
Draw: TypeAlias = Callable[[np.random.Generator], Floats]  # conditions x raters x images
SPANS, SHARES = (1, 2, 3, 4), (0.40, 0.43, 0.14, 0.03)  # of the 500 pairs in shared/data/wiki
MEANS = (0.75, 0.85, 0.95, 0.99)
OTHER_VIEW_MEAN = 0.45  # the mean in the second condition
PICTURES, MODES, AN_ITEM = 100, 2, 3
RATERS = 7
SPREADS = ((0.0, 0.0), (0.3, 0.5), (0.6, 1.0))  # of raters, of images; in logits
EVENLY = (0.75, 0.99)
DEALS = 50  # different designs
SIZES = ((3, 20), (3, 200), (5, 50), (7, 100), (10, 20), (10, 200))  # raters and images
ABSENT = 0.4  # of the responses of an incomplete study
BESIDE = ((0.75, 0.45), (0.75, 0.75), (0.95, 0.95))  # means of people and of a model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=1000, help="simulated studies for each figure")
    parser.add_argument("--endless", action="store_true", help="take the variances of endless resamples")
    options = parser.parse_args()
    studies = options.studies
    if options.endless:
        two_way._variance = endless
    print(f"| raters | images | spread of raters | of images | {' | '.join(f'{mean:.0%}' for mean in MEANS)} |")
    print("|" + "---:|" * (4 + len(MEANS)))
    for spreads, size in product(SPREADS, SIZES):
        cells = (
            " / ".join(coverage_of_size(studies, size, spreads, mean, of) for of in (0.0, ABSENT)) for mean in MEANS
        )
        print(f"| {' | '.join(map(str, (*size, *spreads, *cells)))} |", flush=True)
    print(f"skills from 75 to 99 %: {coverage(studies, evenly, sum(EVENLY) / 2)}")
    table(lambda draw, mean: coverage_of_differences(studies, draw, mean))
    heads = (f"{people:.0%}, {model:.0%}" for people, model in BESIDE)
    print(f"| raters | images | spread of raters | of images | {' | '.join(heads)} |")
    print("|" + "---:|" * (4 + len(BESIDE)))
    for spreads, size in product(SPREADS[1:], SIZES):
        cells = (coverage_beside_model(studies, size, spreads, means) for means in BESIDE)
        print(f"| {' | '.join(map(str, (*size, *spreads, *cells)))} |", flush=True)


def endless(scores: Floats, groups: NDArray[np.int64], count: int, seed: int, name: str) -> float:
    """The variance of the mean when groups are resampled without end, corrected for their number."""
    if count < 2:
        return 0.0
    sums = np.bincount(groups, scores - scores.mean(), count)
    return float((sums**2).sum()) / len(scores) ** 2 * count / (count - 1)


def table(cell: Callable[[Draw, float], str]) -> None:
    """Print a table: a row for each spread, a column for each mean."""
    print(f"| spread of raters | of images | {' | '.join(f'{mean:.0%}' for mean in MEANS)} |")
    print("|" + "---:|" * (2 + len(MEANS)))
    for of_raters, of_images in SPREADS:
        draws = {
            mean: partial(
                chances,
                of_raters,
                of_images,
                [intercept(each, math.hypot(of_raters, of_images)) for each in (mean, OTHER_VIEW_MEAN)],
            )
            for mean in MEANS
        }
        print(
            f"| {of_raters} | {of_images} | {' | '.join(cell(draw, mean) for mean, draw in draws.items())} |",
            flush=True,
        )


def coverage(studies: int, draw: Draw, mean: float) -> str:
    """The share of studies whose interval holds the mean, and the mean width of the intervals, in percent."""
    return _held(
        [human_scores(simulate(number, draw)[0], exact_match, seed=number).mean for number in range(studies)], mean
    )


def coverage_of_size(
    studies: int, size: tuple[int, int], spreads: tuple[float, float], mean: float, absent: float
) -> str:
    """The same of so many raters and images, without a share of the responses."""
    middle, intervals = intercept(mean, math.hypot(*spreads)), []
    for number in range(studies):
        rng = np.random.default_rng(number)
        skill, ease = spreads[0] * rng.standard_normal((size[0], 1)), spreads[1] * rng.standard_normal((1, size[1]))
        (graded,) = marked(logistic(middle + skill + ease)[None], [rng], number)
        gone = rng.random((size[0] + 1, size[1])) < absent
        kept = [one for one in graded if not gone[one.rater, one.item]]
        intervals.append(human_scores(kept, exact_match, seed=number).mean)
    return _held(intervals, mean)


def coverage_of_differences(studies: int, draw: Draw, mean: float) -> str:
    """The same of the difference of two views."""
    found = (view_difference(*simulate(number, draw), seed=number) for number in range(studies))
    return _held([each.difference for each in found if each], mean - OTHER_VIEW_MEAN)


def coverage_beside_model(
    studies: int, size: tuple[int, int], spreads: tuple[float, float], means: tuple[float, float]
) -> str:
    """The same of people minus a model, whose means are given; of so many raters and images."""
    middles = intercept(means[0], math.hypot(*spreads)), intercept(means[1], spreads[1])
    intervals = []
    for number in range(studies):
        rng = np.random.default_rng(number)
        skill, ease = spreads[0] * rng.standard_normal((size[0], 1)), spreads[1] * rng.standard_normal((1, size[1]))
        (graded,) = marked(logistic(middles[0] + skill + ease)[None], [rng], number)
        right = rng.random((len(SPANS), size[1])) < logistic(middles[1] + ease)
        model = {(item, place): bool(right[place, item]) for item in range(size[1]) for place in range(len(SPANS))}
        found = human_minus_model(graded, model, seed=number)
        assert found is not None
        intervals.append(found)
    return _held(intervals, means[0] - means[1])


def _held(intervals: Sequence[TwoWayMean], mean: float) -> str:
    held = sum(each.low <= mean <= each.high for each in intervals) / len(intervals)
    width = sum(each.high - each.low for each in intervals) / len(intervals)
    return f"{100 * held:.1f} ({100 * width:.1f})"


def chances(of_raters: float, of_images: float, middles: Sequence[float], rng: np.random.Generator) -> Floats:
    """The chance of each rater at each image, condition by condition."""
    skill, ease = of_raters * rng.standard_normal((RATERS, 1)), of_images * rng.standard_normal((1, PICTURES))
    return np.stack([logistic(middle + skill + ease) for middle in middles])


def logistic(logits: Floats) -> Floats:
    """The chances of some logits."""
    chance: Floats = 1 / (1 + np.exp(-logits))
    return chance


def evenly(rng: np.random.Generator) -> Floats:
    """The same, where images are alike and raters of any skill."""
    return np.stack([np.repeat(rng.uniform(*EVENLY, (RATERS, 1)), PICTURES, axis=1)] * MODES)


def simulate(number: int, draw: Draw) -> tuple[list[GradedResponse], ...]:
    """The marks of each condition of a study."""
    rng = np.random.default_rng(number)
    return marked(draw(rng), [rng, np.random.default_rng((number, 1))], number)


def marked(chance: Floats, rngs: Sequence[np.random.Generator], number: int) -> tuple[list[GradedResponse], ...]:
    """The marks of each condition, of chances by condition, rater and image; each condition has a generator."""
    spans = rngs[0].choice(SPANS, chance.shape[-1], p=SHARES)
    graded: tuple[list[GradedResponse], ...] = tuple([] for _ in rngs)
    for rater, slots in assignment(number % DEALS, *chance.shape).items():
        for item, condition, turn in slots:
            for place, right in enumerate(rngs[condition].random(spans[item]) < chance[condition, rater - 1, item]):
                graded[condition].append(
                    GradedResponse(rater, item, condition, turn, place, "", False, bool(right), bool(right))
                )
    return graded


@cache
def assignment(seed: int, modes: int, raters: int, images: int) -> Mapping[int, list[Slot]]:
    """Return the assignment of items."""
    return assign(all_slots(images, modes, AN_ITEM), range(1, raters + 1), seed=seed)


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
