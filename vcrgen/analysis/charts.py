"""Drawings of an analysis as inline SVG: heatmap, tree, path diagram, places of tasks. No two names overlap.

Every name has a line of its own, and a drawing that is wider than the page shrinks to it. Every number drawn here
also stands in a table of the same section, so the drawings are hidden from screen readers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from vcrgen.stats.arrays import Floats

if TYPE_CHECKING:
    from vcrgen.analysis.factors import FactorEstimate
    from vcrgen.analysis.spec import BoundSpec

LINE = 18  # height of a name in pixels
LONGEST = 26  # letters of a name that are drawn; of a longer one both ends, and a pointer shows all
_END = 8
MOST_TASKS = 120  # of a heatmap, which has a field for each pair


def heatmap(names: Sequence[str], values: Floats, order: Sequence[int]) -> Markup:
    """The values from -1 to 1 of all pairs, rows and columns in an order; blue is above 0, brown below."""
    side = min(max(26, 360 // len(names)), 96) if len(names) <= 30 else LINE
    left = top = _width(names)
    size = left + side * len(order) + 4
    drawn = []
    for line, row in enumerate(order):
        y = top + side * line
        drawn.append(_name(left - 6, y + side / 2, names[row], "end"))
        drawn.append(_name(left + side * line + side / 2, top - 6, names[row], "start", turned=True))
        for place, column in enumerate(order):
            value = float(values[row, column])
            x = left + side * place
            kind = "plus" if value >= 0 else "minus"
            drawn.append(
                f'<rect class="{kind}" x="{x}" y="{y}" width="{side - 1}" height="{side - 1}"'
                f' fill-opacity="{abs(value):.2f}"/>'
            )
            if side > LINE and row != column:
                text = f"{value:.2f}".replace("0.", ".", 1).replace("-", "\N{MINUS SIGN}")
                drawn.append(f'<text class="in" x="{x + side / 2}" y="{y + side / 2}">{text}</text>')
    return _svg(size, size, drawn)


def dendrogram(names: Sequence[str], tree: Floats, order: Sequence[int]) -> Markup:
    """The merges of a tree from right to left, from distance 0 at the names to the largest."""
    left, width = 46, 420
    height = LINE * len(order) + 34
    reach = max(float(tree[-1, 2]), 1e-9)

    def x_of(distance: float) -> float:
        return left + width * (1 - distance / reach)

    places = {node: (LINE * line + LINE / 2, 0.0) for line, node in enumerate(order)}
    drawn = [_name(left + width + 8, places[node][0], names[node], "start") for node in order]
    for number, (first, second, distance, _) in enumerate(tree.tolist()):
        (a, from_a), (b, from_b) = places[int(first)], places[int(second)]
        x = x_of(distance)
        drawn.append(f'<path class="branch" d="M{x_of(from_a):.1f} {a:.1f}H{x:.1f}V{b:.1f}H{x_of(from_b):.1f}"/>')
        places[len(order) + number] = ((a + b) / 2, distance)
    bottom = LINE * len(order) + 8
    drawn.append(f'<line class="rule" x1="{left}" x2="{left + width}" y1="{bottom}" y2="{bottom}"/>')
    for tick in (reach, reach / 2, 0.0):
        drawn.append(f'<text x="{x_of(tick):.1f}" y="{bottom + 16}" text-anchor="middle">{tick:.2f}</text>')
    return _svg(left + width + 8 + _width(names), height, drawn)


def places(names: Sequence[str], at: Floats, groups: Sequence[int]) -> Markup:
    """Points from -1 to 1 in two directions, joined to their names in two columns; the digit is the group."""
    side = _width(names)
    order = sorted(range(len(names)), key=lambda task: (at[task, 0], task))
    half = len(order) // 2
    lines = math.ceil(len(order) / 2)
    height = max(360, LINE * lines + 10)
    middle, reach = side + 200, 180

    def point(task: int) -> tuple[float, float]:
        return middle + reach * float(at[task, 0]), height / 2 - (height / 2 - 12) * float(at[task, 1])

    drawn = [
        f'<line class="rule" x1="{middle - reach}" x2="{middle + reach}" y1="{height / 2}" y2="{height / 2}"/>',
        f'<line class="rule" x1="{middle}" x2="{middle}" y1="0" y2="{height}"/>',
    ]
    columns = ((order[:half], side, "end", -6), (order[half:], side + 400, "start", 6))
    for tasks, x, anchor, gap in columns:
        step = height / max(len(tasks), 1)
        for line, task in enumerate(sorted(tasks, key=lambda task: (-at[task, 1], task))):
            y = step * (line + 0.5)
            px, py = point(task)
            drawn.append(f'<line class="leader" x1="{px:.1f}" y1="{py:.1f}" x2="{x}" y2="{y:.1f}"/>')
            drawn.append(_name(x + gap, y, names[task], anchor))
    for task in order:
        px, py = point(task)
        drawn.append(f'<circle class="dot" cx="{px:.1f}" cy="{py:.1f}" r="7"/>')
        drawn.append(f'<text class="on" x="{px:.1f}" y="{py:.1f}">{groups[task]}</text>')
    return _svg(2 * side + 400, height, drawn)


def path_diagram(
    bound: BoundSpec, loadings: Sequence[float], paths: Sequence[tuple[int, int, FactorEstimate]]
) -> Markup:
    """Tasks with their loadings, abilities, and the effects between constructs.

    Args:
        loadings: Of every task.
        paths: Cause, effect and size of each effect between constructs.
    """
    structure = bound.structure
    rows = [row for k in structure.abilities for row in structure.blocks[k]]
    step = LINE + 6
    left = _width(bound.tasks)
    box, oval = left + 150, _width(bound.constructs)
    far = box + oval + 150
    lines = {row: step * line + step / 2 + 6 for line, row in enumerate(rows)}
    height = step * len(rows) + 12
    centres = {
        k: sum(lines[row] for row in structure.blocks[k]) / len(structure.blocks[k]) for k in structure.abilities
    }
    drawn = []
    for k in structure.abilities:
        for row in structure.blocks[k]:
            drawn.append(f'<line class="leader" x1="{left + 4}" y1="{lines[row]}" x2="{box}" y2="{centres[k]}"/>')
    for k, y in centres.items():
        for row in structure.blocks[k]:
            drawn.append(_name(left, lines[row], bound.tasks[row], "end"))
            drawn.append(_label(left + 30, lines[row], f"{loadings[row]:.2f}"))
        drawn.append(_oval(box, y, oval, bound.constructs[k]))
    if structure.anchor is not None:
        drawn.append(_oval(far, height / 2, oval, bound.constructs[structure.anchor]))
    for cause, effect, size in paths:
        start, x = centres[cause], box + oval
        text = f"{size.value:.2f}".replace("-", "\N{MINUS SIGN}")
        if effect == structure.anchor:
            end = height / 2
            drawn.append(f'<line class="arrow" x1="{x}" y1="{start}" x2="{far}" y2="{end}"/>')
            drawn.append(_label(x + 40, start + (end - start) * 40 / 150, text))
        else:  # an arc on the right, further out the more abilities it passes
            out = x + 44 * (effect - cause)
            end = centres[effect]
            drawn.append(f'<path class="arrow" d="M{x} {start}C{out} {start} {out} {end} {x} {end}"/>')
            drawn.append(_label(x + 33 * (effect - cause), (start + end) / 2, text))
    wide = far + oval if structure.anchor is not None else box + oval + 44 * len(centres)
    return _svg(wide + 4, height, drawn)


def _oval(x: float, y: float, width: float, name: str) -> str:
    frame = f'<rect class="construct" x="{x}" y="{y - 13}" width="{width}" height="26" rx="13"/>'
    return frame + _name(x + width / 2, y, name, "middle")


def _label(x: float, y: float, text: str) -> str:
    return (
        f'<rect class="ground" x="{x - 16}" y="{y - 8:.1f}" width="32" height="16"/>'
        f'<text class="value" x="{x}" y="{y:.1f}">{text}</text>'
    )


def _name(x: float, y: float, name: str, anchor: str, *, turned: bool = False) -> str:
    short = _short(name)
    turn = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if turned else ""
    title = f"<title>{escape(name)}</title>" if short != name else ""
    return f'<text class="name" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{turn}>{escape(short)}{title}</text>'


def _width(names: Sequence[str]) -> int:
    return max(sum(map(_letter, _short(name))) for name in names) + 12


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST - _END - 1]}…{name[-_END:]}"


def _letter(letter: str) -> int:
    if ord(letter) >= 0x1100:  # East Asia, and what else is wide
        return 13
    return 9 if letter.isupper() or letter in "mw_@%" else 7


def _svg(width: float, height: float, drawn: Sequence[str]) -> Markup:
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    return Markup(f'<svg class="drawing" {size} aria-hidden="true">{"".join(drawn)}</svg>')  # noqa: S704 - names are escaped
