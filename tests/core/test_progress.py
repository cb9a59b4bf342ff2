"""Sizes as a listener is told of them."""

import pytest

from vcrgen.core.progress import shown_bytes


@pytest.mark.parametrize(
    ("size", "expected"),
    [(0, "0 B"), (999, "999 B"), (1234, "1.23 kB"), (99_960, "100 kB"), (240_400_000, "240 MB"), (4.5e15, "4,500 TB")],
)
def test_a_size_has_three_digits_and_its_unit(size: float, expected: str) -> None:
    assert shown_bytes(size) == expected
