"""Drawings: every place is inside, whatever the figures are."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vcrgen.report import charts

ANY = st.floats(allow_nan=True, allow_infinity=True)


@given(ANY, ANY, ANY)
def test_no_place_is_outside(value: float, low: float, high: float) -> None:
    bars = charts.interval_bar(value, low, high), charts.difference_bar(value, low, high, reach=0.5)
    for drawn in (*bars, charts.dumbbell(low, high)):
        places = re.findall(r'(?:x|x1|x2|cx|width)="([^"]*)%"', drawn)
        assert places and all(0 <= float(place) <= 100 for place in places), drawn


def test_an_interval_and_a_difference() -> None:
    drawn = charts.interval_bar(0.5, 0.25, 0.75)
    assert 'class="length" x="0" y="5" width="50.00%"' in drawn
    assert 'class="interval" x="25.00%" y="3" width="50.00%"' in drawn
    assert 'x="25.00%" y="3" width="50.00%"' in charts.difference_bar(0, -0.1, 0.1, reach=0.2)


@pytest.mark.parametrize(
    ("ends", "reach"), [((), 0.01), ((-0.011, 0.005), 0.02), ((-0.1, 0.1), 0.1), ((-0.3, 0.1), 0.5), ((0, 7), 1.0)]
)
def test_the_reach_of_an_axis(ends: tuple[float, ...], reach: float) -> None:
    assert charts.reach(ends) == reach


def test_a_stacked_bar() -> None:
    drawn = charts.stacked_bar([("exact", 0.25), ("wrong", 0.75)])
    assert re.findall(r'class="o-(\w+)" x="([\d.]+)%" y="0" width="([\d.]+)%"', drawn) == [
        ("exact", "0.000", "25.000"),
        ("wrong", "25.000", "75.000"),
    ]


@given(st.lists(st.tuples(ANY, ANY, ANY, ANY, st.text(max_size=5)), max_size=4))
def test_a_scatter_stays_inside_and_names_are_text(points: list[tuple[float, float, float, float, str]]) -> None:
    drawn = charts.scatter(points, [(0.0, "<2024>"), (1.0, "2025")])
    assert all(0 <= float(place) <= 100 for place in re.findall(r'(?:x1|x2|cx)="([^"]*)%"', drawn))
    assert all(10 <= float(place) <= 190 for place in re.findall(r' (?:cy|y1|y2)="([^"]*)"', drawn))
    assert "<2024>" not in drawn and drawn.count("<circle") == len(points)
