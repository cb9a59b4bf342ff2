"""Small drawings as inline SVG. Places are in percent of the width, so that they fit a phone as well as a screen.

Every number drawn here also stands beside the drawing as text, so the drawings are hidden from screen readers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

from markupsafe import Markup

STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


class Drawable(Protocol):
    """A mean with its interval, as shares."""

    @property
    def value(self) -> float:
        """The mean."""

    @property
    def low(self) -> float:
        """The lower end."""

    @property
    def high(self) -> float:
        """The upper end."""


def interval_bar(figure: Drawable) -> Markup:
    """A mean and its interval on an axis from 0 to 100 %."""
    value = _at(figure.value)
    length = f'<rect class="length" x="0" y="5" width="{value:.2f}%" height="6"/>'
    return _svg("iv", length + _interval(_at(figure.low), _at(figure.high), value))


def difference_bar(figure: Drawable, reach: float) -> Markup:
    """A difference and its interval on an axis from ``-reach`` to ``reach``, with a line at zero."""
    low, high, value = (_at((share / reach + 1) / 2) for share in (figure.low, figure.high, figure.value))
    zero = '<line class="zero" x1="50%" x2="50%" y1="0" y2="16"/>'
    return _svg("iv df", zero + _interval(low, high, value))


def reach_of(differences: Sequence[Drawable]) -> float:
    """A round share that is larger than every end of some intervals, so that they can be drawn on one axis."""
    largest = max((max(abs(each.low), abs(each.high)) for each in differences), default=0.0)
    return next((step for step in STEPS if largest <= step), 1.0)


def dumbbell(first: float, second: float) -> Markup:
    """Two shares on one axis from 0 to 100 %: a disc for the first, a ring for the second."""
    a, b = _at(first), _at(second)
    return _svg(
        "iv db",
        f'<line class="way" x1="{min(a, b):.2f}%" x2="{max(a, b):.2f}%" y1="8" y2="8"/>'
        f'<circle class="first" cx="{a:.2f}%" cy="8" r="4.5"/><circle class="second" cx="{b:.2f}%" cy="8" r="4.5"/>',
    )


def stacked_bar(parts: Sequence[tuple[str, float]]) -> Markup:
    """Shares that sum to 1, each with the class ``o-NAME``."""
    drawn, done = [], 0.0
    for name, share in parts:
        drawn.append(f'<rect class="o-{name}" x="{100 * done:.3f}%" y="0" width="{100 * share:.3f}%" height="22"/>')
        done += share
    return _svg("sb", "".join(drawn))


def _interval(low: float, high: float, value: float) -> str:
    return (
        f'<rect class="interval" x="{low:.2f}%" y="3" width="{max(high - low, 0):.2f}%" height="10" rx="2"/>'
        f'<line class="mean" x1="{value:.2f}%" x2="{value:.2f}%" y1="1" y2="15"/>'
    )


def _at(share: float) -> float:
    return 100 * min(max(share, 0.0), 1.0) if math.isfinite(share) else 0.0


def _svg(kind: str, inside: str) -> Markup:
    return Markup(f'<svg class="{kind}" aria-hidden="true">{inside}</svg>')  # noqa: S704 - numbers and our own names
