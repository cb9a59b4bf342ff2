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


SHARES = st.lists(st.one_of(st.none(), ANY), min_size=3, max_size=12)


@given(st.lists(SHARES, max_size=8), st.text(max_size=30))
def test_a_radar_stays_inside_and_names_are_text(series: list[list[float | None]], name: str) -> None:
    axes = [name] * 5
    lines = [(name, (shares * 2)[:5]) for shares in series]
    drawn = charts.radar(axes, lines, ring=0.25, text=name)
    height = float(re.findall(r'viewBox="0 0 460 (\d+)"', drawn)[0])
    assert all(0 <= float(x) <= 460 for x in re.findall(r'(?:cx|x1|x2|x)="([-\d.]+)"', drawn))
    assert all(0 <= float(y) <= height for y in re.findall(r'(?:cy|y1|y2|y)="([-\d.]+)"', drawn))
    assert "nan" not in re.sub(r'aria-label="[^"]*"|>[^<]*<', "", drawn)


def test_a_scatter_may_have_a_line_to_compare_with_and_words() -> None:
    drawn = charts.scatter([(0.5, 0.5, 0.4, 0.6, "a")], [], other=((0, 0), (1, 1)), text="<a>")
    assert '<line class="other" x1="0.00%" y1="190.0" x2="100.00%" y2="10.0"/>' in drawn
    assert 'role="img" aria-label="&lt;a&gt;"' in drawn and "aria-hidden" not in drawn


def test_a_radar_is_broken_where_a_share_is_missing() -> None:
    whole = charts.radar("abc", [("one", [0.5, 0.5, 0.5])], ring=0.25, text="three")
    broken = charts.radar("abc", [("one", [0.5, None, 0.5])], ring=0.25, text="<two>")
    assert (whole.count('<line class="s0"'), broken.count('<line class="s0"')) == (4, 2)  # one is the legend's
    assert (whole.count('<circle class="s0"'), broken.count('<circle class="s0"')) == (3, 2)
    assert 'role="img" aria-label="&lt;two&gt;"' in broken
    # The first axis points up, half of the radius from the middle.
    assert '<circle class="s0" cx="230.0" cy="76.0" r="2.5"/>' in whole


@given(st.lists(st.tuples(st.text(max_size=5), st.one_of(st.none(), ANY)), max_size=9), st.floats(0.05, 0.95))
def test_a_strip_has_a_field_a_share(fields: list[tuple[str, float | None]], middle: float) -> None:
    drawn = charts.strip(fields, middle=middle, text="fields")
    assert drawn.count("<rect") == len(fields) == drawn.count("<title>")
    assert all(0 <= float(depth) <= 1 for depth in re.findall(r'fill-opacity="([^"]*)"', drawn))


@pytest.mark.parametrize(
    ("share", "expected"),
    [(0.25, ("plus", 0.0)), (1.0, ("plus", 1.0)), (0.0, ("minus", 1.0)), (0.125, ("minus", 0.5))],
)
def test_shades_grow_from_the_middle(share: float, expected: tuple[str, float]) -> None:
    assert charts.shade(share, 0.25) == expected
