"""Descriptive statistics: mean, standard deviation, percentiles."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Mean, standard deviation and the 5th and 95th percentile of one figure."""

    mean: float
    sd: float
    p05: float
    p95: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Self:
        """Summarise values with exact sums (`math.fsum`); all zeros for no values."""
        ordered = sorted(map(float, values))
        if not ordered:
            return cls(mean=0.0, sd=0.0, p05=0.0, p95=0.0)
        mean = math.fsum(ordered) / len(ordered)
        variance = math.fsum((value - mean) * (value - mean) for value in ordered) / len(ordered)
        return cls(mean=mean, sd=math.sqrt(variance), p05=_percentile(ordered, 5), p95=_percentile(ordered, 95))


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
        numbers = sorted(value for value in values if not math.isnan(value))
        if not numbers:
            return None
        settled = sum(value < 1 for value in numbers) / len(numbers)
        return cls(spans=len(numbers), median=_percentile(numbers, 50), p10=_percentile(numbers, 10), settled=settled)

    def __str__(self) -> str:
        """Median, 10th percentile and share of settled spans, as words after a colon."""
        return (
            f"{self.median:.2f} bits left by the visible pixels in the median, {self.p10:.2f} at the 10th percentile; "
            f"{self.settled:.0%} of {self.spans:,} spans with less than 1 bit"
        )


def _percentile(ordered: Sequence[float], percent: int) -> float:
    """Interpolate linearly between the two nearest of sorted values, as numpy's default."""
    place, part = divmod(percent * (len(ordered) - 1), 100)
    low = ordered[place]
    return low + (ordered[min(place + 1, len(ordered) - 1)] - low) * (part / 100)
