"""Measure what `vcrgen sample-size` says, and write it to vcrgen/analysis/sample_size.csv.

    python scripts/measure_sample_size.py [difference] [threshold] [human]

Rows that are not measured anew stay. The intervals and tests are the package's own; variances are those that endless
resamples would have.

difference: power of the paired test, of 500 pairs of models that differ by so many points, on images with 1 to 4 spans
each, whose spans are correlated by .25. The better model repeats what the other one does on a share of the spans
(`alike`), but for the difference. threshold: mean half-width of the interval of a threshold, in points of ink, of 20
observers of each of three kinds, at the levels of `scripts/measure_curve.py`; each is shown every image at every level.
human: mean half-width of people's mean, in points, of 40 studies in which each image has three of the raters.
"""

from __future__ import annotations

import csv
import math
import sys
from collections.abc import Iterator
from pathlib import Path

import measure_curve
import measure_study
import numpy as np
from measure_intervals import SHARES, SPANS, chances, summed

from vcrgen.analysis.sample_size import COLUMNS, FILE
from vcrgen.stats import two_way
from vcrgen.stats.intervals import paired_interval
from vcrgen.stats.psychometric import fit_curve
from vcrgen.study.scoring import exact_match, human_scores

PAIRS, OBSERVERS, STUDIES = 500, 20, 40
CORRELATION = 0.25
IMAGES = (50, 100, 200, 500, 1000, 2000, 5000)
ACCURACIES, ALIKE, POINTS = (50, 70, 90), (0.0, 0.5, 0.8), (1, 2, 3, 5, 10)
CURVE_IMAGES = (10, 20, 50, 100, 200, 400)
HUMAN_ACCURACIES, RATERS, HUMAN_IMAGES = (75, 85, 95), (3, 5, 10, 20), (20, 50, 100, 200)
SPREADS = (0.3, 0.5)  # of raters and of images, in logits
Row = dict[str, object]


def differences() -> Iterator[Row]:
    for alike in ALIKE:
        for accuracy in ACCURACIES:
            for points in POINTS:
                for images in IMAGES:
                    value = round(power(images, accuracy / 100, points / 100, alike, PAIRS), 4)
                    yield {
                        "question": "difference",
                        "accuracy": accuracy,
                        "alike": alike,
                        "difference": points,
                        "images": images,
                        "value": value,
                    }


def power(images: int, accuracy: float, points: float, alike: float, pairs: int) -> float:
    """The share of pairs of models, with a mean accuracy, of which the better is shown to be better."""
    found, together = 0, max(1, min(pairs, 100_000 // images))
    for start in range(0, pairs, together):
        size = min(together, pairs - start)
        rng = np.random.default_rng((start, images, int(100 * accuracy), int(100 * points), int(100 * alike)))
        spans = rng.choice(SPANS, (images, size), p=SHARES)
        worse = chances(rng, accuracy - points / 2, CORRELATION, spans.shape)[..., None]
        other = chances(rng, accuracy - points / 2, CORRELATION, spans.shape)[..., None]
        drawn = rng.random((*spans.shape, max(SPANS)))
        ours = drawn < worse
        theirs = np.where(rng.random(drawn.shape) < alike, ours, rng.random(drawn.shape) < other)
        gain = points / (1 - (accuracy - points / 2))  # of what the worse model's chance leaves
        better = theirs | (rng.random(drawn.shape) < gain)
        sums = summed(better, spans) - summed(ours, spans)
        total = spans.sum(axis=0)
        value = sums.sum(axis=0) / total
        sd = np.sqrt(((sums - value * spans) ** 2).sum(axis=0)) / total
        low, _ = paired_interval(value, sd, images)
        found += int((low > 0).sum())
    return found / pairs


def thresholds() -> Iterator[Row]:
    for levels, ladder in measure_curve.LADDERS.items():
        for kind in measure_curve.OBSERVERS[1:]:
            for images in CURVE_IMAGES:
                widths = []
                for number in range(OBSERVERS):
                    answers = measure_curve.draw(kind._replace(images=images), np.array(ladder), number)[0]
                    curve = fit_curve(answers, seed=number)
                    widths.append((curve.high.value - curve.low.value) / 2)
                yield {
                    "question": "threshold",
                    "levels": levels,
                    "scale": round(100 * kind.scale),
                    "images": images,
                    "value": round(100 * float(np.mean(widths)), 3),
                }


def people() -> Iterator[Row]:
    two_way._variance = measure_study.endless
    for accuracy in HUMAN_ACCURACIES:
        middle = measure_study.intercept(accuracy / 100, math.hypot(*SPREADS))
        for raters in RATERS:
            for images in HUMAN_IMAGES:
                yield {
                    "question": "human",
                    "accuracy": accuracy,
                    "raters": raters,
                    "images": images,
                    "value": round(100 * human_width(raters, images, middle, STUDIES), 3),
                }


def human_width(raters: int, images: int, middle: float, studies: int) -> float:
    """Mean half-width of the interval of people's mean, as a share."""
    widths = []
    for number in range(studies):
        rng = np.random.default_rng(number)
        skill = SPREADS[0] * rng.standard_normal((raters, 1))
        ease = SPREADS[1] * rng.standard_normal((1, images))
        (graded,) = measure_study.marked(measure_study.logistic(middle + skill + ease)[None], [rng], number)
        mean = human_scores(graded, exact_match, seed=number).mean
        widths.append((mean.high - mean.low) / 2)
    return float(np.mean(widths))


def main() -> None:
    parts = {"difference": differences, "threshold": thresholds, "human": people}
    wanted = sys.argv[1:] or list(parts)
    with Path(FILE).open(encoding="utf-8", newline="") as handle:
        rows: list[Row] = [dict(row) for row in csv.DictReader(handle) if row["question"] not in wanted]
    for name in wanted:
        for row in parts[name]():
            print(*(f"{key} {value}" for key, value in row.items()), flush=True)
            rows.append(row)
    order = list(parts)
    rows.sort(key=lambda row: order.index(str(row["question"])))
    with Path(FILE).open("w", encoding="utf-8", newline="") as handle:
        writer = csv.DictWriter(handle, COLUMNS, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
