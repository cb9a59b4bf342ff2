"""Descriptive statistics: mean, standard deviation, percentiles."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Self

Counts = Mapping[float, int]  # how often each value occurs


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Mean, standard deviation and the 5th and 95th percentile of one figure."""

    mean: float
    sd: float
    p05: float
    p95: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Self:
        """Summarise values with exact sums; all zeros for no values."""
        return cls.of_counts(Counter(map(float, values)))

    @classmethod
    def of_counts(cls, counts: Counts) -> Self:
        """Summarise as many values as it counts."""
        total = sum(counts.values())
        if not total:
            return cls(mean=0.0, sd=0.0, p05=0.0, p95=0.0)
        mean = _exact_sum(counts.items()) / total
        variance = _exact_sum(((value - mean) * (value - mean), count) for value, count in counts.items()) / total
        return cls(mean=mean, sd=math.sqrt(variance), p05=_percentile(counts, 5), p95=_percentile(counts, 95))


@dataclass(frozen=True, slots=True, kw_only=True)
class BitsSummary:
    """The bits that the visible pixels of masked spans leave (the equivocation)."""

    spans: int  # whose bits are known
    median: float
    p10: float  # the tenth percentile
    settled: float  # share of these spans with less than 1 bit: their pixels alone settle them

    @classmethod
    def of(cls, values: Iterable[float]) -> Self | None:
        """Summarise the bits of spans, NaN for unknown ones; None if no span's bits are known."""
        return cls.of_counts(Counter(value for value in values if not math.isnan(value)))

    @classmethod
    def of_counts(cls, counts: Counts) -> Self | None:
        """Summarise as many known bits as it counts; None for none."""
        spans = sum(counts.values())
        if not spans:
            return None
        settled = sum(count for value, count in counts.items() if value < 1) / spans
        return cls(spans=spans, median=_percentile(counts, 50), p10=_percentile(counts, 10), settled=settled)

    def __str__(self) -> str:
        """Median, 10th percentile and share of settled spans, as words after a colon."""
        return (
            f"{self.median:.2f} bits left by the visible pixels in the median, {self.p10:.2f} at the 10th percentile; "
            f"{self.settled:.0%} of {self.spans:,} spans with less than 1 bit"
        )


def _exact_sum(terms: Iterable[tuple[float, int]]) -> float:
    """The sum of values, each so many times, rounded once."""
    return float(sum(Fraction(value) * count for value, count in terms))


def _percentile(counts: Counts, percent: int) -> float:
    """Interpolate linearly between the two nearest of the sorted values, as numpy's default."""
    place, part = divmod(percent * (sum(counts.values()) - 1), 100)
    low = _nth(counts, place)
    return low + (_nth(counts, place + 1) - low) * (part / 100) if part else low


def _nth(counts: Counts, place: int) -> float:
    """The value at a place, from 0, of the sorted values."""
    ordered = sorted(counts)
    ends = accumulate(counts[value] for value in ordered)
    return next(value for value, end in zip(ordered, ends, strict=True) if place < end)
