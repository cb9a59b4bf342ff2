"""What describes many numbers: mean, spread and the range of most of them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Mean, standard deviation and the 5th and 95th percentile of one figure."""

    mean: float
    sd: float
    p05: float
    p95: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Self:
        """The summary of some values; of none, all figures are 0."""
        array = np.fromiter(values, dtype=np.float64)
        if not array.size:
            return cls(mean=0.0, sd=0.0, p05=0.0, p95=0.0)
        p05, p95 = np.percentile(array, [5, 95])
        return cls(mean=float(array.mean()), sd=float(array.std()), p05=float(p05), p95=float(p95))
