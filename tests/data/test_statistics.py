"""Mean, spread and range of numbers."""

import pytest

from vcrgen.data.statistics import Summary


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
