"""Mean, spread and range of numbers."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vcrgen.data.statistics import BitsSummary, Summary


@pytest.mark.parametrize(
    ("values", "summary"),
    [
        ([], (0, 0, 0, 0)),
        ([3], (3, 0, 3, 3)),
        (range(101), (50, 29.154759, 5, 95)),
        ((value for value in (1, 1, 4)), (2, 1.414214, 1, 3.7)),
    ],
)
def test_summary(values: list[float], summary: tuple[float, ...]) -> None:
    found = Summary.of(values)
    assert (found.mean, found.sd, found.p05, found.p95) == pytest.approx(summary, abs=1e-6)


@given(st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=60), st.integers(0, 60))
def test_counts_of_parts_add_up_to_those_of_the_whole(values: list[float], cut: int) -> None:
    """Whatever the order, as the sums are exact; numpy's percentiles interpolate the same way."""
    parts = Counter(values[cut:])
    parts.update(values[:cut])
    summary, bits = Summary.of_counts(parts), BitsSummary.of_counts(parts)
    assert summary == Summary.of(values) and bits == BitsSummary.of([math.nan, *values]) and bits
    assert summary.mean == math.fsum(values) / len(values)
    ends = (summary.p05, summary.p95, bits.p10, bits.median)
    assert ends == pytest.approx(np.percentile(values, [5, 95, 10, 50]).tolist(), rel=1e-9, abs=1e-6)
