"""Measure the false-positive rate and the power of `vcrgen contamination`.

    python scripts/measure_contamination.py [STUDIES]

Simulates studies of which the truth is known: images with 1 to 4 spans, each recovered with a chance that is drawn for
the image (so spans of one image are correlated) and for the span. A clean model has the same chances on the set, fresh
pairs and on other spans of the same images; one that knows items recovers 93 % of the spans of these. Prints the tables
of docs/contamination.md: percent of the studies, of one difference each, with the verdict ``more`` or ``less``.
"""

from __future__ import annotations

import math
import sys

import numpy as np

from vcrgen.scorer.results import Estimate
from vcrgen.stats.arrays import Bits, Floats
from vcrgen.stats.bootstrap import BootstrapMean, StoredGroupSums, bootstrap_means, group_means
from vcrgen.stats.intervals import difference_interval, sd_and_intervals
from vcrgen.stats.paired import paired_difference

IMAGES = (50, 100, 200, 500)
CHANCES = (0.1, 0.3, 0.6, 0.9)
CORRELATIONS = (0.0, 0.3)
MEMORISED_SHARES = (0.02, 0.05, 0.1, 0.2)
MEMORISED_RATE = 0.93
BATCH = 500  # studies whose means are bootstrapped at once


class Columns:
    """Studies of one kind, a column each: of every image the spans that were recovered, and all its spans."""

    def __init__(self, hits: Floats, spans: Floats) -> None:
        groups = StoredGroupSums(hits, spans, range(hits.shape[1]))
        self.groups = len(hits)
        self.means, inside = group_means(groups)
        self.drawn = bootstrap_means(groups, seed=0, unit="image")
        found = sd_and_intervals(self.means, self.drawn, inside)
        self.estimates = [
            Estimate(value=float(mean), sd_units=None, sd_clusters=each.sd, low=each.low, high=each.high)
            for mean, each in zip(self.means, found, strict=True)
        ]

    def bootstrap(self, study: int) -> BootstrapMean:
        """One study, for a paired comparison."""
        return BootstrapMean(self.groups, float(self.means[study]), self.drawn[:, study])


def image_chances(rng: np.random.Generator, chance: float, correlation: float, shape: tuple[int, int]) -> Floats:
    """The chance of a span in each image; ``correlation`` is that of two spans of one image."""
    if not correlation:
        return np.full(shape, chance)
    size = 1 / correlation - 1
    return rng.beta(chance * size, (1 - chance) * size, shape)


def draw(rng: np.random.Generator, chances: Floats, known: Bits) -> tuple[Floats, Floats]:
    """Spans that were recovered and spans that there are: of each image in each study."""
    spans = rng.integers(1, 5, chances.shape)
    return rng.binomial(spans, np.where(known, MEMORISED_RATE, chances)).astype(float), spans.astype(float)


def rates(
    rng: np.random.Generator, studies: int, images: int, chance: float, correlation: float, share: float
) -> list[float]:
    """Rates of ``more`` and ``less`` in percent: against fresh pairs, and against other spans."""
    counts = np.zeros(4)
    for _ in range(studies // BATCH):
        shape = (images, BATCH)
        known = rng.random(shape) < share
        ours, fresh = (image_chances(rng, chance, correlation, shape) for _ in range(2))
        nothing = np.zeros(shape, bool)
        a, b, c = (Columns(*draw(rng, *of)) for of in ((ours, known), (fresh, nothing), (ours, nothing)))
        for study in range(BATCH):
            low, high = difference_interval(a.estimates[study], b.estimates[study])
            other = paired_difference(a.bootstrap(study), c.bootstrap(study))
            counts += [low > 0, high < 0, other.low > 0, other.high < 0]
    return list(100 * counts / (studies // BATCH * BATCH))


def main() -> None:
    """Print the tables."""
    studies = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
    rng = np.random.default_rng(0)
    out = sys.stdout.write
    error = 2 * math.sqrt(0.025 * 0.975 / studies) * 100
    out(f"Clean models; twice the standard error is {error:.1f}.\n\n")
    out("| images | correlation | " + " | ".join(f"{chance:.0%}" for chance in CHANCES) + " |\n")
    out("|---:|---:|" + "---:|" * len(CHANCES) + "\n")
    for images in IMAGES:
        for correlation in CORRELATIONS:
            cells = (rates(rng, studies, images, chance, correlation, 0.0) for chance in CHANCES)
            texts = (" ".join(f"{rate:.1f}" for rate in cell) for cell in cells)
            out(f"| {images} | {correlation} | {' | '.join(texts)} |\n")
            sys.stdout.flush()
    out("\nModels that know a share of the items, and recover 30 % of the spans of the others:\n\n")
    out(
        "| images | "
        + " | ".join(f"{share:.0%}" for share in MEMORISED_SHARES)
        + " |\n|---:|"
        + "---:|" * len(MEMORISED_SHARES)
        + "\n"
    )
    for images in IMAGES:
        cells = (rates(rng, max(studies // 4, BATCH), images, 0.3, 0.3, share) for share in MEMORISED_SHARES)
        out(f"| {images} | " + " | ".join(f"{cell[0]:.0f} {cell[2]:.0f}" for cell in cells) + " |\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
