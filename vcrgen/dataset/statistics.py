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
        """Summarise values with exact sums (:func:`math.fsum`); all zeros for no values."""
        ordered = sorted(map(float, values))
        if not ordered:
            return cls(mean=0.0, sd=0.0, p05=0.0, p95=0.0)
        mean = math.fsum(ordered) / len(ordered)
        variance = math.fsum((value - mean) * (value - mean) for value in ordered) / len(ordered)
        return cls(mean=mean, sd=math.sqrt(variance), p05=_percentile(ordered, 5), p95=_percentile(ordered, 95))


def _percentile(ordered: Sequence[float], percent: int) -> float:
    """Interpolate linearly between the two nearest of sorted values, as numpy's default."""
    place, part = divmod(percent * (len(ordered) - 1), 100)
    low = ordered[place]
    return low + (ordered[min(place + 1, len(ordered) - 1)] - low) * (part / 100)
