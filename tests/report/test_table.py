"""Cells as people read them: rounded once, and never with a sign that the digits do not bear out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vcrgen.report.table import Interval, Number, Percent, Table, percent, show

SHARES = st.floats(-2, 2)


@pytest.mark.parametrize(
    ("share", "decimals", "sign", "text"),
    [
        (0.12345, 2, False, "12.35"),
        (0.12345, 2, True, "+12.35"),
        (-0.12345, 1, True, "−12.3"),
        (-0.00001, 2, True, "0.00"),
        (-0.00001, 2, False, "0.00"),
        (0.00001, 2, True, "0.00"),
        (0.0, 2, True, "0.00"),
        (-0.0, 2, False, "0.00"),
        (-0.0049, 0, True, "0"),
        (-0.00005, 2, True, "−0.01"),
        (1.0, 0, False, "100"),
        (None, 2, False, "–"),
    ],
)
def test_percent(share: float | None, decimals: int, sign: bool, text: str) -> None:
    assert percent(share, decimals, sign=sign) == str(Percent(share, decimals, sign)) == text


@given(SHARES, st.integers(0, 6), st.booleans())
def test_a_sign_stands_before_digits_that_are_not_all_zero(share: float, decimals: int, sign: bool) -> None:
    text = percent(share, decimals, sign=sign)
    digits = text.lstrip("+−")
    assert abs(float(digits) - abs(100 * share)) <= 0.5 * 10**-decimals * (1 + 1e-9)
    assert text.startswith("−") == (float(digits) > 0 and share < 0)
    assert text.startswith("+") == (float(digits) > 0 and share > 0 and sign)


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("text", "text"),
        ("", ""),
        (1234, "1234"),
        (Number(1.005, 1), "1.0"),
        (Number(-0.001), "0.00"),
        (Number(None), "–"),
        (Interval(-0.25, 0.5), "−25.00 to 50.00"),
        (Interval(-0.00001, 0.5, sign=True), "0.00 to +50.00"),
        (None, "–"),
    ],
)
def test_other_cells(cell: object, text: str) -> None:
    assert show(cell) == text  # type: ignore[arg-type]


def test_the_best_cells_are_those_that_look_best() -> None:
    rows = [(Percent(0.75),), (Percent(0.750001),), (Percent(0.5),), (Percent(None),), (None,)]
    heads = {"heads": ("Score",), "title": "", "labels": 0}
    assert Table(rows=rows, best=[0], **heads).best_cells() == {(0, 0), (1, 0)}
    assert Table(rows=rows, **heads).best_cells() == set()
    assert Table(rows=rows[2:], best=[0], **heads).best_cells() == set(), "nothing to be better than"


def test_a_broken_table_keeps_its_labels_and_loses_no_column() -> None:
    rows = [("m", "easy", 1, 2, 3, 4), ("n", "hard", 5, 6, 7, 8)]
    table = Table(
        title="T", heads=("A", "B", "c", "d", "e", "f"), labels=2, rows=rows, best=(4,), breaks=(4,), notes=[("x", "")]
    )
    first, last = table.broken()
    assert (first.heads, last.heads) == (["A", "B", "c", "d"], ["A", "B", "e", "f"])
    assert (first.rows[1], last.rows[1]) == (["n", "hard", 5, 6], ["n", "hard", 7, 8])
    assert (first.best, last.best, first.notes, last.notes) == ([], [2], (), [("x", "")])
    (whole,) = Table(title="T", heads=("A", "b"), labels=1, rows=[("m", 1)]).broken()
    assert whole.texts() == [["m", "1"]]


def test_shades_of_a_line() -> None:
    rows = [("a", Percent(1.0), Percent(None), Percent(0.1), 3), ("b", Percent(0.25), None, "x", 4)]
    table = Table(title="", heads=("", "x", "y", "z", "n"), labels=1, rows=rows, shaded=(1, 2, 3), middle=0.25)
    assert table.shades(0) == ["", "plus-10", "", "minus-6", ""]
    assert table.shades(1) == ["", "plus-0", "", "", ""]
    assert Table(title="", heads=("", "x"), labels=1, rows=[("a", Percent(1.0))]).shades(0) == ["", ""]
