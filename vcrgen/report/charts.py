"""Small drawings as inline SVG. Places are in percent of the width, so that they fit a phone as well as a screen.

Every number drawn here also stands beside the drawing as text. So a drawing is hidden from screen readers, or says in a
sentence of its own what it shows.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from markupsafe import Markup, escape

STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
RADAR_AXES = range(3, 13)  # how many axes a radar can have
_RADAR, _RADAR_LETTERS = 100, 17  # its radius, and letters of a name beside it


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


def scatter(
    points: Iterable[tuple[float, float, float, float, str]],
    ticks: Iterable[tuple[float, str]],
    *,
    other: Sequence[tuple[float, float]] = (),
    text: str = "",
) -> Markup:
    """Shares from 0 to 100 % over places from 0 to 1, each with its interval and the name that a pointer shows.

    A point is its place, value, low, high and name; a tick is a place with the text that stands below it. ``other``
    are points of a broken line to compare with, ``text`` says in words what is drawn.
    """
    drawn = [_grid(0, 0.5, 1), *_segments(other), _ticks(ticks), *(_point(*point) for point in points)]
    return _svg("sc", "".join(drawn), text)


def stacked_bar(parts: Iterable[tuple[Any, ...]]) -> Markup:
    """Shares that sum to 1: of each part its name, which it has the class ``o-NAME`` by, and its share."""
    drawn, done = [], 0.0
    for name, share, *_ in parts:
        drawn.append(f'<rect class="o-{name}" x="{100 * done:.3f}%" y="0" width="{100 * share:.3f}%" height="22"/>')
        done += share
    return _svg("sb", "".join(drawn))


def _point(place: float, value: float, low: float, high: float, name: str) -> str:
    x = f"{_at(place):.2f}%"
    return (
        f'<g><title>{escape(name)}</title><line class="mean" x1="{x}" x2="{x}" y1="{_height(high)}"'
        f' y2="{_height(low)}"/><circle cx="{x}" cy="{_height(value)}" r="5"/></g>'
    )


def radar(
    axes: Sequence[str], series: Sequence[tuple[str, Sequence[float | None]]], *, ring: float, text: str
) -> Markup:
    """Shares from 0 (in the middle) to 100 % on axes around a point, one line for each of up to eight series.

    The line of a series is broken where it has None. Below stands which line is whose.

    Args:
        axes: The name of each axis, from the top to the right; as many as `RADAR_AXES` has.
        series: Names, and for each axis a share.
        ring: A share that is drawn as a broken circle, such as what guessing gives.
        text: What the drawing shows, in words.
    """
    middle, height = (230, 126), 262 + 20 * math.ceil(len(series) / 2)
    turns = [2 * math.pi * number / len(axes) for number in range(len(axes))]

    def at(share: float, turn: float) -> tuple[float, float]:
        far = _RADAR * _at(share) / 100
        return middle[0] + far * math.sin(turn), middle[1] - far * math.cos(turn)

    circles = ((0.5, "grid"), (1.0, "grid"), (ring, "ring"))
    drawn = [
        f'<circle class="{kind}" cx="{middle[0]}" cy="{middle[1]}" r="{_RADAR * _at(share) / 100:.1f}"/>'
        for share, kind in circles
    ]
    for name, turn in zip(axes, turns, strict=True):
        (x, y), (tx, ty) = at(1.0, turn), (middle[0] + 110 * math.sin(turn), middle[1] - 112 * math.cos(turn))
        anchor = "middle" if abs(math.sin(turn)) < 0.1 else "start" if math.sin(turn) > 0 else "end"
        short = name if len(name) <= _RADAR_LETTERS else f"{name[: _RADAR_LETTERS - 1]}…"
        drawn.append(f'<line class="grid" x1="{middle[0]}" y1="{middle[1]}" x2="{x:.1f}" y2="{y:.1f}"/>')
        drawn.append(f'<text x="{tx:.1f}" y="{ty + 4:.1f}" text-anchor="{anchor}">{escape(short)}</text>')
    for number, (name, shares) in enumerate(series):
        points = [None if share is None else at(share, turn) for share, turn in zip(shares, turns, strict=True)]
        for begin, end in zip(points, [*points[1:], points[0]], strict=True):
            if begin and end:
                ends = f'x1="{begin[0]:.1f}" y1="{begin[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}"'
                drawn.append(f'<line class="s{number}" {ends}/>')
        drawn += [f'<circle class="s{number}" cx="{p[0]:.1f}" cy="{p[1]:.1f}" r="2.5"/>' for p in points if p]
        x, y = 40 + 210 * (number % 2), 262 + 20 * (number // 2)
        drawn.append(f'<line class="s{number}" x1="{x}" x2="{x + 32}" y1="{y}" y2="{y}"/>')
        drawn.append(f'<text x="{x + 40}" y="{y + 4}">{escape(name[:26])}</text>')
    size = f'viewBox="0 0 460 {height}" role="img" aria-label="{escape(text)}"'
    return Markup(f'<svg class="rd" {size}>{"".join(drawn)}</svg>')  # noqa: S704 - names are escaped


def strip(fields: Sequence[tuple[str, float | None]], *, middle: float, text: str) -> Markup:
    """Fields side by side, the darker the higher the share; those below ``middle`` have another colour.

    Args:
        fields: The name that a pointer shows, and a share from 0 to 1, or None for an empty field.
        middle: The share from which fields grow darker in both directions, such as what guessing gives.
        text: What the drawing shows, in words.
    """
    drawn, width = [], 100 / max(len(fields), 1)
    for number, (name, share) in enumerate(fields):
        kind, depth = ("none", 1.0) if share is None else shade(share, middle)
        place = f'x="{number * width:.3f}%" y="0" width="{width:.3f}%" height="18"'
        drawn.append(f'<rect class="{kind}" {place} fill-opacity="{depth:.2f}"><title>{escape(name)}</title></rect>')
    return _svg("st", "".join(drawn), text)


def shade(share: float, middle: float) -> tuple[str, float]:
    """The colour of a share, ``plus`` or ``minus``, and how dark it is, from 0 at ``middle`` to 1 at either end.

    It grows faster at the upper end, where the shares of good systems crowd.
    """
    value = _at(share) / 100
    if value >= middle:
        return "plus", ((value - middle) / (1 - middle)) ** 1.5 if middle < 1 else 0.0
    return "minus", 1 - value / middle


def _interval(low: float, high: float, value: float) -> str:
    return (
        f'<rect class="interval" x="{low:.2f}%" y="3" width="{max(high - low, 0):.2f}%" height="10" rx="2"/>'
        f'<line class="mean" x1="{value:.2f}%" x2="{value:.2f}%" y1="1" y2="15"/>'
    )


def _segments(line: Sequence[tuple[float, float]]) -> Iterator[str]:
    for (a, b), (c, d) in pairwise(line):
        yield f'<line class="other" x1="{_at(a):.2f}%" y1="{_height(b)}" x2="{_at(c):.2f}%" y2="{_height(d)}"/>'


def _ticks(ticks: Iterable[tuple[float, str]]) -> str:
    drawn = []
    for place, text in ticks:
        anchor = "start" if place < 0.1 else "end" if place > 0.9 else "middle"
        drawn.append(f'<text x="{_at(place):.2f}%" y="214" text-anchor="{anchor}">{escape(text)}</text>')
    return "".join(drawn)


def _grid(*shares: float) -> str:
    return "".join(f'<line class="grid" x1="0" x2="100%" y1="{_height(y)}" y2="{_height(y)}"/>' for y in shares)


def _height(share: float) -> str:
    return f"{190 - 1.8 * _at(share):.1f}"


def _at(share: float) -> float:
    return 100 * min(max(share, 0.0), 1.0) if math.isfinite(share) else 0.0


def _svg(kind: str, inside: str, text: str = "") -> Markup:
    words = f'role="img" aria-label="{escape(text)}"' if text else 'aria-hidden="true"'
    return Markup(f'<svg class="{kind}" {words}>{inside}</svg>')  # noqa: S704 - numbers, our own names, escaped texts
