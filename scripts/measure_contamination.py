"""Measure how often `vcrgen contamination` suspects a clean model, and how much knowledge of a set it finds.

    python scripts/measure_contamination.py [STUDIES]

Simulates studies of which the truth is known: images with 1 to 4 spans, each restored with a chance that is drawn for
the image (so spans of one image are alike) and for the span. A clean model has the same chances on the set, on fresh
pairs and on other spans of the same images; one that knows items restores 93 % of the spans of these. Prints the tables
of docs/contamination.md: of the studies of one difference each, so many percent are called ``more`` or ``less``.
"""

from __future__ import annotations

import math
import sys

import numpy as np

from vcrgen.scorer.results import Estimate
from vcrgen.stats.arrays import Bits, Floats
from vcrgen.stats.bootstrap import Resampled, Sums, means_of, resampled_means
from vcrgen.stats.intervals import difference_interval, spreads
from vcrgen.stats.paired import paired

IMAGES = (50, 100, 200, 500)
CHANCES = (0.1, 0.3, 0.6, 0.9)
ALIKE = (0.0, 0.3)
KNOWN = (0.02, 0.05, 0.1, 0.2)
KNOWS = 0.93
TOGETHER = 500  # studies whose means are resampled at once


class Columns:
    """Studies of one kind, a column each: of every image the spans that were restored, and all its spans."""

    def __init__(self, hits: Floats, spans: Floats) -> None:
        groups = Sums(hits, spans, range(hits.shape[1]))
        self.groups = len(hits)
        self.means, inside = means_of(groups)
        self.drawn = resampled_means(groups, seed=0, unit="image")
        found = spreads(self.means, self.drawn, inside)
        self.estimates = [
            Estimate(value=float(mean), sd_units=None, sd_clusters=each.sd, low=each.low, high=each.high)
            for mean, each in zip(self.means, found, strict=True)
        ]

    def resampled(self, study: int) -> Resampled:
        """One study, for a paired comparison."""
        return Resampled(self.groups, float(self.means[study]), self.drawn[:, study])


def image_chances(rng: np.random.Generator, chance: float, alike: float, shape: tuple[int, int]) -> Floats:
    """The chance of a span in each image; ``alike`` is the correlation of two spans of one image."""
    if not alike:
        return np.full(shape, chance)
    size = 1 / alike - 1
    return rng.beta(chance * size, (1 - chance) * size, shape)


def draw(rng: np.random.Generator, chances: Floats, known: Bits) -> tuple[Floats, Floats]:
    """Spans that were restored and spans that there are: of each image in each study."""
    spans = rng.integers(1, 5, chances.shape)
    return rng.binomial(spans, np.where(known, KNOWS, chances)).astype(float), spans.astype(float)


def rates(
    rng: np.random.Generator, studies: int, images: int, chance: float, alike: float, share: float
) -> list[float]:
    """How often ``more`` and ``less`` are said, in percent: against fresh pairs, and against other spans."""
    said = np.zeros(4)
    for _ in range(studies // TOGETHER):
        shape = (images, TOGETHER)
        known = rng.random(shape) < share
        ours, fresh = (image_chances(rng, chance, alike, shape) for _ in range(2))
        nothing = np.zeros(shape, bool)
        a, b, c = (Columns(*draw(rng, *of)) for of in ((ours, known), (fresh, nothing), (ours, nothing)))
        for study in range(TOGETHER):
            low, high = difference_interval(a.estimates[study], b.estimates[study])
            other = paired(a.resampled(study), c.resampled(study))
            said += [low > 0, high < 0, other.low > 0, other.high < 0]
    return list(100 * said / (studies // TOGETHER * TOGETHER))


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
        for alike in ALIKE:
            cells = (rates(rng, studies, images, chance, alike, 0.0) for chance in CHANCES)
            texts = (" ".join(f"{rate:.1f}" for rate in cell) for cell in cells)
            out(f"| {images} | {alike} | {' | '.join(texts)} |\n")
            sys.stdout.flush()
    out("\nModels that know a share of the items, and restore 30 % of the spans of the others:\n\n")
    out("| images | " + " | ".join(f"{share:.0%}" for share in KNOWN) + " |\n|---:|" + "---:|" * len(KNOWN) + "\n")
    for images in IMAGES:
        cells = (rates(rng, max(studies // 4, TOGETHER), images, 0.3, 0.3, share) for share in KNOWN)
        out(f"| {images} | " + " | ".join(f"{cell[0]:.0f} {cell[2]:.0f}" for cell in cells) + " |\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
