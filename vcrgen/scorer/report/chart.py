"""Means with their intervals as inline SVG, drawn by hand: no library, no script."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from vcrgen.scorer.report.tables import percent
from vcrgen.scorer.results import Estimate

WIDTH, LABELS, VALUES, ROW, TOP = 560, 190, 58, 26, 22
LONGEST_LABEL = 28


def interval_chart(rows: Sequence[tuple[str, Estimate]]) -> str:
    """One line a row on an axis from 0 to 100 %: the mean as a point, its interval as a bar."""
    height = TOP + ROW * len(rows) + 8
    parts = [f'<svg viewBox="0 0 {WIDTH} {height}" role="img" xmlns="http://www.w3.org/2000/svg">']
    for tick in range(0, 101, 20):
        x = _x(tick / 100)
        parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 4}" y2="{height - 6}"/>')
        parts.append(f'<text class="tick" x="{x:.1f}" y="{TOP - 9}" text-anchor="middle">{tick}</text>')
    for number, (label, estimate) in enumerate(rows):
        parts.append(_row(label, estimate, TOP + ROW * number + ROW / 2))
    return "".join(parts) + "</svg>"


def _row(label: str, estimate: Estimate, y: float) -> str:
    low, high, value = (_x(share) for share in (estimate.low, estimate.high, estimate.value))
    shown = label if len(label) <= LONGEST_LABEL else f"{label[: LONGEST_LABEL - 1]}…"
    return (
        f'<text class="label" x="{LABELS - 10}" y="{y + 4:.1f}" text-anchor="end">{escape(shown)}'
        f"<title>{escape(label)}</title></text>"
        f'<line class="bar" x1="{low:.1f}" x2="{high:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>'
        f'<circle class="mean" cx="{value:.1f}" cy="{y:.1f}" r="4"/>'
        f'<text class="value" x="{WIDTH - 4}" y="{y + 4:.1f}" text-anchor="end">{percent(estimate.value)}</text>'
    )


def _x(share: float) -> float:
    return LABELS + (WIDTH - LABELS - VALUES) * min(max(share, 0.0), 1.0)
