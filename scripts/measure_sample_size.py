"""Print how many images show a difference between two models: the table of docs/scoring.md.

    python scripts/measure_sample_size.py        # some minutes

Each number of images is that of which 80 % of 500 simulated pairs of models are called different, by the package's own
sign flips of images. Images have 1 to 4 spans, correlated by .25. The better model does what the other one
does on a share of the spans (`alike`), but for the difference.
"""

import math
from statistics import NormalDist

import numpy as np
from measure_intervals import SHARES, SPANS, chances, summed

from vcrgen.stats.sign_flips import ALPHA, flip_p, flip_statistics, flipped_sums

PAIRS, POWER, CORRELATION = 500, 0.8, 0.25
IMAGES = (50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000)
POINTS, ACCURACIES, ALIKE = (1, 2, 3, 5, 10), (0.7, 0.9), (0.0, 0.5, 0.8)


def main() -> None:
    print(f"| points | mean score, % | {' | '.join(f'alike on {100 * share:.0f} %' for share in ALIKE)} |")
    print(f"|{'---:|' * (2 + len(ALIKE))}")
    for points in POINTS:
        for accuracy in ACCURACIES:
            cells = (needed(accuracy, points / 100, alike) for alike in ALIKE)
            shown = (f"more than {IMAGES[-1]:,}" if images is None else f"{images:,}" for images in cells)
            print(f"| {points} | {100 * accuracy:.0f} | {' | '.join(shown)} |", flush=True)


def needed(accuracy: float, points: float, alike: float) -> int | None:
    """The number of images, rounded up to two digits; None beyond the simulated ones.

    Between two simulated numbers the probit of the power is taken as linear in the root of the number.
    """
    before: tuple[int, float] | None = None
    for images in IMAGES:
        found = power(images, accuracy, points, alike)
        if found >= POWER:
            if before is None:
                return images
            fewer, less = before
            low, goal, high = (NormalDist().inv_cdf(min(max(each, 0.002), 0.998)) for each in (less, POWER, found))
            exact = (math.sqrt(fewer) + (math.sqrt(images) - math.sqrt(fewer)) * (goal - low) / (high - low)) ** 2
            digits = 10 ** max(math.floor(math.log10(exact)) - 1, 0)
            return math.ceil(exact / digits) * digits
        before = images, found
    return None


def power(images: int, accuracy: float, points: float, alike: float, pairs: int = PAIRS) -> float:
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
        flipped = flipped_sums(sums, seed=start, unit="image")
        p_values = [flip_p(pair, pair[0]) for pair in flip_statistics(flipped)]
        found += int(((np.array(p_values) < ALPHA) & (flipped[:, 0] > 0)).sum())
    return found / pairs


if __name__ == "__main__":
    main()
