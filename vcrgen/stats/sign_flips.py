"""Sign flips of groups: tests of paired differences, of one pair and of many at once, and ranks of systems.

Example: two systems on 200 images; on 14 of them the first has more right, on 4 the second. If both were equally good,
each of these images could as well have been the other's. So the signs of all images' differences are flipped by lot,
2,047 times. The p-value is the share of these flips, and of the data themselves, in which the difference of the sums is
as large as in the data or larger.

Many pairs share the flips. The statistic of a pair is its difference divided by the root of its mean square over all
flips. The corrected p-value is the share of flips in which the largest statistic of all pairs is as large as that of
the pair (max-t: Westfall and Young, "Resampling-based multiple testing", 1993). Where no two systems differ, at most
5 % of tables have a corrected p-value below 0.05. Ranks follow from these tests (Mogstad, Romano, Shaikh and Wilhelm,
"Inference for ranks", Review of Economic Studies 91, 2024): on at least 95 % of tables all ranges hold the true ranks.

Which groups are flipped depends on the seed, the name of a group and the number of groups alone. So of every system
only its own flipped sums are needed, and the order of systems changes nothing.
"""

import math
from typing import NamedTuple

import numpy as np

from vcrgen.core.products import product
from vcrgen.core.rng import array_rng_for
from vcrgen.stats.arrays import Bits, Floats

FLIPS = 2048  # the first one flips nothing: it holds the data themselves
ALPHA = 0.05  # of single pairs, and of all pairs of a table together
_WORDS = FLIPS // 64  # of 64 random bits, for each group
_BLOCK = 1 << 11  # groups whose signs are in memory at once (32 MiB of float64)
_PAIRS = 32  # that are tested at once (half a MiB, so that it stays in a processor's cache)
_ROUNDING = 1e-9  # by which equal statistics may differ


def flipped_sums(sums: Floats, *, seed: int, unit: str) -> Floats:
    """The sums over all groups in every flip, columns x flips.

    Sums of whole numbers are exact, in whatever order they are added.

    Args:
        sums: Groups x columns: of each system the sum of its scores in a group, or of each pair the difference.
        unit: What a group is called; it names the random stream.
    """
    rng = array_rng_for(seed, "sign flips", f"{unit}:{len(sums)}")
    totals = np.zeros((sums.shape[1], FLIPS))
    for start in range(0, len(sums), _BLOCK):
        block = sums[start : start + _BLOCK]
        words = rng.integers(0, 2**64, size=(len(block), _WORDS), dtype=np.uint64).astype("<u8")
        signs = 1.0 - 2.0 * np.unpackbits(words.view(np.uint8), axis=1)
        signs[:, 0] = 1
        totals += product(block.T, signs)
    return totals


def flip_statistics(differences: Floats) -> Floats:
    """The statistics of pairs in every flip: absolute differences over the root of their mean square, or 0.

    Args:
        differences: Pairs x flips, as `flipped_sums` gives them.
    """
    mean_square = np.einsum("...f,...f->...", differences, differences) / FLIPS
    scale = np.sqrt(np.where(mean_square > 0, mean_square, 1.0))
    statistics: Floats = np.abs(differences) / scale[..., None]
    return statistics


def flip_p(statistics: Floats, observed: float) -> float:
    """The p-value of an observed statistic: by the flips of its own pair, or corrected, by the maxima of many pairs."""
    return float((statistics >= observed - _ROUNDING).mean())


class FlipTests:
    """Tests that are made at once, of pairs on the same groups."""

    def __init__(self) -> None:
        self._observed: list[float] = []
        self._maxima = np.zeros(FLIPS)

    def p_value(self, differences: Floats) -> float:
        """The p-value of one more pair by its flipped differences."""
        statistics = flip_statistics(differences)
        self._observed.append(float(statistics[0]))
        np.maximum(self._maxima, statistics, out=self._maxima)
        return flip_p(statistics, self._observed[-1])

    def corrected(self) -> list[float]:
        """The p-values of all pairs, corrected for their number, in the order in which they were tested."""
        return [flip_p(self._maxima, observed) for observed in self._observed]


class PairStatistics(NamedTuple):
    """One system beside others."""

    signed: Floats  # of each pair its statistic, above 0 where the system is the better one
    maxima: Floats  # of each flip the largest statistic of these pairs


def pair_statistics(system: Floats, others: Floats) -> PairStatistics:
    """Test a system against others by their flipped sums: flips, and others x flips."""
    signed, maxima = np.zeros(len(others)), np.zeros(FLIPS)
    for start in range(0, len(others), _PAIRS):
        differences = system.astype(np.float64) - others[start : start + _PAIRS]
        statistics = flip_statistics(differences)
        signed[start : start + _PAIRS] = np.copysign(statistics[:, 0], differences[:, 0])
        np.maximum(maxima, statistics.max(axis=0), out=maxima)
    return PairStatistics(signed, maxima)


def maxima_of_all(systems: Floats) -> Floats:
    """Of each flip the largest statistic of all pairs of systems, by their flipped sums, systems x flips."""
    maxima = np.zeros(FLIPS)
    for number in range(1, len(systems)):
        np.maximum(maxima, pair_statistics(systems[number], systems[:number]).maxima, out=maxima)
    return maxima


def critical_value(maxima: Floats) -> float:
    """The value above which a statistic has a corrected p-value below 0.05, by the maxima of all pairs."""
    reached = math.ceil(ALPHA * FLIPS) - 2  # by how many flips, beside the data themselves
    return float(np.sort(maxima[1:])[-1 - reached])


def is_significant(statistics: Floats, critical: float) -> Bits:
    """Which statistics are above a critical value; equal ones that rounding makes differ are not."""
    return statistics > critical + _ROUNDING
