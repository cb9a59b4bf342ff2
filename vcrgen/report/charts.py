"""Small drawings as inline SVG. Places are in percent of the width, so that they fit a phone as well as a screen.

Every number drawn here also stands beside the drawing as text, so the drawings are hidden from screen readers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from markupsafe import Markup, escape

STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


def interval_bar(value: float, low: float, high: float) -> Markup:
    """A share and its interval on an axis from 0 to 100 %."""
    at = _at(value)
    length = f'<rect class="length" x="0" y="5" width="{at:.2f}%" height="6"/>'
    return _svg("iv", length + _interval(_at(low), _at(high), at))


def difference_bar(value: float, low: float, high: float, *, reach: float) -> Markup:
    """A difference of shares and its interval on an axis from ``-reach`` to ``reach``, with a line at zero."""
    places = (_at((share / reach + 1) / 2) for share in (low, high, value))
    zero = '<line class="zero" x1="50%" x2="50%" y1="0" y2="16"/>'
    return _svg("iv df", zero + _interval(*places))


def reach(ends: Iterable[float]) -> float:
    """A round share that is as large as every end of some intervals, so that they can be drawn on one axis."""
    largest = max(map(abs, ends), default=0.0)
    return next((step for step in STEPS if largest <= step), 1.0)


def dumbbell(first: float, second: float) -> Markup:
    """Two shares on one axis from 0 to 100 %: a disc for the first, a ring for the second."""
    a, b = _at(first), _at(second)
    return _svg(
        "iv db",
        f'<line class="way" x1="{min(a, b):.2f}%" x2="{max(a, b):.2f}%" y1="8" y2="8"/>'
        f'<circle class="first" cx="{a:.2f}%" cy="8" r="4.5"/><circle class="second" cx="{b:.2f}%" cy="8" r="4.5"/>',
    )


def scatter(points: Iterable[tuple[float, float, float, float, str]], ticks: Iterable[tuple[float, str]]) -> Markup:
    """Shares from 0 to 100 % over places from 0 to 1, each with its interval and the name that a pointer shows.

    A point is its place, value, low, high and name; a tick is a place with the text that stands below it.
    """
    drawn = [
        f'<line class="grid" x1="0" x2="100%" y1="{_height(share)}" y2="{_height(share)}"/>' for share in (0, 0.5, 1)
    ]
    drawn.append(_ticks(ticks))
    drawn += [_point(*point) for point in points]
    return _svg("sc", "".join(drawn))


def histogram(counts: Sequence[int], ticks: Iterable[tuple[float, str]]) -> Markup:
    """Bars side by side over places from 0 to 1, the highest as high as the drawing; ticks as in :func:`scatter`."""
    width, most = 100 / max(len(counts), 1), max(counts, default=0)
    bars = (
        f'<rect class="bar" x="{number * width + 0.3:.2f}%" y="{_height(count / most if most else 0)}"'
        f' width="{width - 0.6:.2f}%" height="{180 * count / most if most else 0:.1f}"/>'
        for number, count in enumerate(counts)
    )
    return _svg("sc", "".join(bars) + _base_line() + _ticks(ticks))


def curve(
    points: Sequence[tuple[float, float]],
    ticks: Iterable[tuple[float, str]],
    *,
    other: Sequence[tuple[float, float]] = (),
    marks: Iterable[float] = (),
) -> Markup:
    """A line through points of a place and a height from 0 to 1, and another, broken one to compare it with.

    ``marks`` are places with a stroke at the bottom; ticks as in :func:`scatter`.
    """
    drawn = [
        f'<line class="{kind}" x1="{_at(a):.2f}%" y1="{_height(b)}" x2="{_at(c):.2f}%" y2="{_height(d)}"/>'
        for kind, line in (("other", other), ("curve", points))
        for (a, b), (c, d) in pairwise(line)
    ]
    strokes = (f'<line class="mean" x1="{_at(x):.2f}%" x2="{_at(x):.2f}%" y1="182" y2="190"/>' for x in marks)
    return _svg("sc", _base_line() + "".join(strokes) + "".join(drawn) + _ticks(ticks))


def fitted_curve(
    points: Iterable[tuple[float, float, float, float, str]],
    line: Sequence[tuple[float, float]],
    *,
    ticks: Iterable[tuple[float, str]],
    mark: tuple[float, float, float] | None,
) -> Markup:
    """A line through places and shares from 0 to 1, over the points that it was fitted to.

    Points and ticks are as in :func:`scatter`. ``mark`` is where the line crosses one half, between the ends of its
    interval.
    """
    drawn = [f'<line class="grid" x1="0" x2="100%" y1="{_height(y)}" y2="{_height(y)}"/>' for y in (0, 0.5, 1)]
    drawn.append(_ticks(ticks))
    if mark is not None:
        low, at, high = (_at(place) for place in mark)
        drawn.append(
            f'<rect class="interval" x="{low:.2f}%" y="95" width="{max(high - low, 0):.2f}%" height="10" rx="2"/>'
            f'<line class="zero" x1="{at:.2f}%" x2="{at:.2f}%" y1="{_height(0.5)}" y2="{_height(0)}"/>'
        )
    drawn += [
        f'<line class="curve" x1="{_at(a):.2f}%" y1="{_height(b)}" x2="{_at(c):.2f}%" y2="{_height(d)}"/>'
        for (a, b), (c, d) in pairwise(line)
    ]
    drawn += [_point(*point) for point in points]
    return _svg("sc fc", "".join(drawn))


def stacked_bar(parts: Iterable[tuple[Any, ...]]) -> Markup:
    """Shares that sum to 1: of each part its name, which it has the class ``o-NAME`` by, and its share."""
    drawn, done = [], 0.0
    for name, share, *_ in parts:
        drawn.append(f'<rect class="o-{name}" x="{100 * done:.3f}%" y="0" width="{100 * share:.3f}%" height="22"/>')
        done += share
    return _svg("sb", "".join(drawn))


def _point(place: float, value: float, low: float, high: float, name: str) -> str:
    """A share with its interval at a place."""
    x = f"{_at(place):.2f}%"
    return (
        f'<g><title>{escape(name)}</title><line class="mean" x1="{x}" x2="{x}" y1="{_height(high)}"'
        f' y2="{_height(low)}"/><circle cx="{x}" cy="{_height(value)}" r="5"/></g>'
    )


def _interval(low: float, high: float, value: float) -> str:
    return (
        f'<rect class="interval" x="{low:.2f}%" y="3" width="{max(high - low, 0):.2f}%" height="10" rx="2"/>'
        f'<line class="mean" x1="{value:.2f}%" x2="{value:.2f}%" y1="1" y2="15"/>'
    )


def _ticks(ticks: Iterable[tuple[float, str]]) -> str:
    drawn = []
    for place, text in ticks:
        anchor = "start" if place < 0.1 else "end" if place > 0.9 else "middle"
        drawn.append(f'<text x="{_at(place):.2f}%" y="214" text-anchor="{anchor}">{escape(text)}</text>')
    return "".join(drawn)


def _base_line() -> str:
    return f'<line class="grid" x1="0" x2="100%" y1="{_height(0)}" y2="{_height(0)}"/>'


def _height(share: float) -> str:
    return f"{190 - 1.8 * _at(share):.1f}"


def _at(share: float) -> float:
    return 100 * min(max(share, 0.0), 1.0) if math.isfinite(share) else 0.0


def _svg(kind: str, inside: str) -> Markup:
    return Markup(f'<svg class="{kind}" aria-hidden="true">{inside}</svg>')  # noqa: S704 - numbers and our own names
