"""The posterior of a covered text given its visible pixels, and its entropy: the equivocation (Shannon) in bits.

A text is drawn from the lexicon, unit by unit and independently, and rendered; what is seen differs from its pixels by
white noise. Then the posterior of all texts that fill a cell is a sum over paths through its pen positions, and exact.
The method is that of Hill, Zhou, Saul and Shacham, "On the (In)effectiveness of Mosaicing and Blurring as Tools for
Document Redaction" (PoPETs 2016), for pixels that are seen or not at all.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vcrgen.pixels.energies import Bools, Energies, VisibleCell
from vcrgen.pixels.lexicon import Level
from vcrgen.pixels.templates import STEP, Doubles, Ints, Templates, entropy_of
from vcrgen.typeset.cover import InkLayers
from vcrgen.typeset.records import WHITE, Box, Cell

SIGMA = 4.0  # grey levels of noise, for strips that vcrgen drew: a pixel's rounding, and three letters that overlap
# Nats by which a beginning of a unit may explain the pixels worse than white noise does; the next one where no text
# is left; and nats below the best beginning of a text.
LIMITS = (60.0, 600.0)
BEAM = 40.0
LEAST_FIT = 0.98
_WIDTHS = 128  # widths whose units are kept with the places of their characters: half a megabyte each, at most


def visible_cells(
    templates: Templates,
    strip: npt.NDArray[np.uint8],
    hidden: Bools,
    cells: Sequence[Cell],
    layers: InkLayers,
    baseline: int,
) -> tuple[VisibleCell, ...]:
    """Cut the visible pixels of each cell of a span out of a strip.

    Args:
        strip: Brightness of the strip, shape (height, width), covered or not.
        cells: Its cells, as `vcrgen.typeset.cover.span_cells` returns them.
        layers: Whose ink the strip shows; ink of other text tells nothing of the span.
        baseline: Pixels from the top of a line to its baseline.
    """
    return tuple(visible_cell(templates, strip, hidden | layers.others(cell), cell, baseline) for cell in cells)


def visible_cell(
    templates: Templates, strip: npt.NDArray[np.uint8], hidden: Bools, cell: Cell, baseline: int
) -> VisibleCell:
    """Cut the visible pixels of a cell out of a strip: all that the ink of any text of the lexicon could reach.

    Args:
        strip: Brightness of the strip, shape (height, width), covered or not.
        hidden: Pixels that tell nothing of the cell: under covers, or with ink of other text.
        cell: One of `vcrgen.typeset.cover.span_cells`.
        baseline: As in `visible_cells`.
    """
    x0, y0, x1, y1 = cell.line_box
    margins = templates.margins(y1 - y0, baseline)
    window = Box(x0 - margins.left, y0 - margins.above, x1 + margins.right, y1 + margins.below)
    inside = window.within(strip.shape[1], strip.shape[0])
    place = Box(inside.x0 - window.x0, inside.y0 - window.y0, inside.x1 - window.x0, inside.y1 - window.y0).area
    shape = window.y1 - window.y0, window.x1 - window.x0
    ink, visible = np.zeros(shape, dtype=np.uint8), np.zeros(shape, dtype=bool)
    visible[place] = ~hidden[inside.area]
    ink[place] = (WHITE - strip[inside.area]) * visible[place]
    return VisibleCell(ink, visible, margins.above + baseline, margins=margins)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The most probable text of a span, and the uncertainty about it.

    Attributes:
        text: The maximum a posteriori text.
        bits: Entropy of the posterior over all texts.
        fit: Share of the visible ink (its squares) that the text explains, at most 1; 1 if no ink is visible. Below
            `LEAST_FIT` the text is not of the lexicon or of these fonts, and the bits say nothing.
    """

    text: str
    bits: float
    fit: float


def lower_bound(
    templates: Templates, cells: Sequence[VisibleCell], texts: Sequence[str], sigma: float = SIGMA
) -> float:
    """Quick lower bound of a span's bits: its units are uncertain, their places and widths are known.

    Args:
        sigma: Standard deviation of the noise, in grey levels.
    """
    entropies = unit_entropies(templates, cells, texts, sigma)
    return sum(entropy for entropy in entropies if entropy is not None) / math.log(2)


def stretch_bits(
    templates: Templates, cells: Sequence[VisibleCell], texts: Sequence[str], sigma: float = SIGMA
) -> list[float]:
    """As `lower_bound`, of each covered stretch of a span: units in a row of which none is seen whole."""
    stretches: list[float] = []
    is_covered = False
    for entropy in unit_entropies(templates, cells, texts, sigma):
        if entropy is not None:
            stretches[len(stretches) - is_covered :] = [(stretches[-1] if is_covered else 0.0) + entropy / math.log(2)]
        is_covered = entropy is not None
    return stretches


def unit_entropies(
    templates: Templates, cells: Sequence[VisibleCell], texts: Sequence[str], sigma: float = SIGMA
) -> Iterator[float | None]:
    """Yield the nats of each unit of a span, given its place and width: None if it is seen whole.

    They are 0 for a unit whose width no unit of the lexicon has.
    """
    scale = _scale(sigma)
    for cell, text in zip(cells, texts, strict=True):
        for candidates in _candidates(templates, cell, text):
            if candidates is None:
                yield None
            elif len(candidates.units):
                yield entropy_of(templates.lexicon.log_prior[candidates.units] - candidates.energies / scale)
            else:
                yield 0.0


def unit_posteriors(
    templates: Templates, cell: VisibleCell, text: str, sigma: float = SIGMA
) -> Iterator[tuple[Ints, Doubles]]:
    """Yield the units that may stand at the place of each unit of a cell's text, and their probabilities.

    None are given for a unit that is seen whole, or whose width no unit of the lexicon has.
    """
    for candidates in _candidates(templates, cell, text):
        if candidates is not None and len(candidates.units):
            log_weights = templates.lexicon.log_prior[candidates.units] - candidates.energies / _scale(sigma)
            weights = np.exp(log_weights - log_weights.max())
            yield candidates.units, weights / weights.sum()
        else:
            yield np.zeros(0, dtype=np.intp), np.zeros(0)


class _Candidates(NamedTuple):
    """The units that may stand at one place, and their energies, both of shape (units,)."""

    units: Ints
    energies: Doubles


def _candidates(templates: Templates, cell: VisibleCell, text: str) -> Iterator[_Candidates | None]:
    """Yield those at the place of each unit of a cell's text: None if it is seen whole."""
    places = [None if cell.is_whole(pen, width) else (pen, width) for pen, width in _places(templates, text)]
    hidden = [place for place in places if place is not None]
    energies = Energies(templates, cell, ahead=False) if hidden else None
    if energies:  # of all units at once, as each matrix product has costs of its own
        energies.prepare([pen + _units_of_width(templates, width).pen for pen, width in hidden])
    for place in places:
        if place is None or energies is None:
            yield None
            continue
        pen, width = place
        yield _Candidates(templates.units_of_width(width), _unit_energies(templates, energies, width, pen))


def _scale(sigma: float) -> float:
    """Energy of one nat, in squared steps of darkness."""
    return 2.0 * (sigma / STEP) ** 2


def _places(templates: Templates, text: str) -> Iterator[tuple[int, int]]:
    """Yield pen position and advance of each unit of a text."""
    codes, pen = templates.lexicon.code_of, 0
    parts = re.split(r"(\s)", text) if templates.lexicon.separator else [part for unit in text for part in (unit, "")]
    for unit, space in zip_longest(parts[::2], parts[1::2], fillvalue=""):
        width = sum(int(templates.advance[codes[character]]) for character in unit if character in codes)
        yield pen, width
        pen += width + templates.spaces.get(space, 0)


class _UnitsOfWidth(NamedTuple):
    """The characters of all units of one width, and the overlaps between them.

    Attributes:
        unit: Of each character, the place of its unit among those of `Templates.units_of_width`.
        code: The character.
        pen: Its pen position, from that of its unit.
        pair_unit: Of each overlap, the place of its unit.
        pair: Its number in `Templates.overlaps`.
        pair_pen: Pen position of its second character, from that of its unit.
    """

    unit: Ints
    code: Ints
    pen: Ints
    pair_unit: Ints
    pair: Ints
    pair_pen: Ints


@lru_cache(maxsize=_WIDTHS)
def _units_of_width(templates: Templates, width: int) -> _UnitsOfWidth:
    codes = templates.lexicon.codes[templates.units_of_width(width)].astype(np.intp)
    codes = codes[:, : int((codes >= 0).sum(axis=1).max(initial=0))]
    advance = np.where(codes >= 0, templates.advance[codes], 0)
    pens = np.cumsum(advance, axis=1) - advance
    unit, column = np.nonzero(codes >= 0)
    pairs = np.full((len(codes), 0), -1)
    if codes.shape[1] > 1:
        pairs = np.where(codes[:, 1:] >= 0, templates.overlaps.number[codes[:, :-1], codes[:, 1:]], -1)
    pair_unit, first = np.nonzero(pairs >= 0)
    return _UnitsOfWidth(
        unit=unit,
        code=codes[unit, column],
        pen=pens[unit, column],
        pair_unit=pair_unit,
        pair=pairs[pair_unit, first].astype(np.intp),
        pair_pen=pens[pair_unit, first + 1],
    )


def _unit_energies(templates: Templates, energies: Energies, width: int, pen: int) -> Doubles:
    """Energies of the units of a width at one pen position, with the overlaps of their characters, shape (units,)."""
    count, placed = len(templates.units_of_width(width)), _units_of_width(templates, width)
    own = energies.glyphs(placed.code, pen + placed.pen)
    energy: Doubles = np.bincount(placed.unit, own, minlength=count).astype(np.float64)
    if len(placed.pair):
        added = energies.of_overlaps(placed.pair, pen + placed.pair_pen)
        energy += np.bincount(placed.pair_unit, added, minlength=count)
    return energy


def read_span(
    templates: Templates, cells: Sequence[VisibleCell], words: int | Collection[int] | None = 5, sigma: float = SIGMA
) -> Reading:
    """Read a span: its most probable text, and the entropy of its posterior; no text and a fit of 0, if none fills it.

    Args:
        cells: The span's cells, in reading order; a unit is never broken between two of them.
        words: The number of units, if the lexicon's units are words; or the possible numbers, all equally probable.
        sigma: Standard deviation of the noise, in grey levels.
    """
    counts = {words} if isinstance(words, int) else words and set(words)
    if not templates.lexicon.separator:
        counts = None
    energies = [Energies(templates, cell) for cell in cells]
    ends = (Lattice(templates, energies, cells, counts, sigma, limit).end() for limit in LIMITS)
    end = next((end for end in ends if end is not None), None)
    if end is None:
        return Reading(text="", bits=math.nan, fit=0.0)
    squares = sum(float(energy.squares[-1]) for energy in energies)
    residual = squares - end.explained
    return Reading(
        text=templates.lexicon.separator.join(end.units),
        bits=end.entropy / math.log(2),
        fit=1 - residual / squares if squares else 1.0,
    )


class State(NamedTuple):
    """All texts that end at one place, with one number of units.

    Attributes:
        weight: Logarithm of the sum of their weights; the weight of a text is its prior by its likelihood.
        entropy: Entropy of the texts in nats.
        best: Logarithm of the greatest weight.
        units: The text of that weight.
        explained: Squared visible darkness that this text explains, in steps.
    """

    weight: float
    entropy: float
    best: float
    units: tuple[str, ...]
    explained: float


class _Edge(NamedTuple):
    """All units from one pen position to another one."""

    end: int  # advance of the last unit included, of the separator not
    weight: float
    entropy: float
    best: float
    unit: int
    explained: float


class Lattice:
    """Paths through the pen positions of cells.

    Args:
        counts: The possible numbers of units, or None for any.
        sigma: Standard deviation of the noise, in grey levels.
        limit: One of `LIMITS`.
    """

    def __init__(
        self,
        templates: Templates,
        energies: Sequence[Energies],
        cells: Sequence[VisibleCell],
        counts: Collection[int] | None,
        sigma: float,
        limit: float,
    ) -> None:
        self._templates, self._energies, self._cells, self._counts = templates, energies, cells, counts
        self._scale, self._limit = _scale(sigma), limit
        self._most = max(counts) if counts else None

    def end(self) -> State | None:
        """Texts that fill all cells; None if there is none."""
        states = {0: State(0.0, 0.0, 0.0, (), 0.0)}
        for number, (energies, cell) in enumerate(zip(self._energies, self._cells, strict=True)):
            if number:
                states = {count: self._next_line(state) for count, state in states.items()}
            states = self._through(energies, cell, states)
        ends = [state for count, state in states.items() if self._counts is None or count in self._counts]
        return _merge(ends) if ends else None

    def _through(self, energies: Energies, cell: VisibleCell, states: dict[int, State]) -> dict[int, State]:
        """Texts at the end of a cell by their number of units, given those at its start."""
        waiting: dict[int, dict[int, list[State]]] = {0: {count: [state] for count, state in states.items()}}
        ends: dict[int, list[State]] = {}
        top = {count: state.weight for count, state in states.items()}
        for pen in range(cell.width):
            here = {count: _merge(arrived) for count, arrived in waiting.pop(pen, {}).items()}
            here = {c: s for c, s in here.items() if s.weight >= top[c] - BEAM}
            if not here:
                continue
            for edge in self._edges(energies, cell, pen):
                for count, state in here.items():
                    number = count + 1
                    if self._most is not None and number > self._most:
                        continue
                    longer = self._extend(state, edge)
                    if edge.end >= cell.width - cell.loose:
                        ends.setdefault(number, []).append(longer)
                    elif (start := edge.end + self._templates.space) < cell.width:
                        waiting.setdefault(start, {}).setdefault(number, []).append(longer)
                        top[number] = max(top.get(number, -math.inf), longer.weight)
        return {count: _merge(arrived) for count, arrived in ends.items()}

    def _next_line(self, state: State) -> State:
        """Add the space that a line's end stands for, if spaces are units."""
        space = "" if self._templates.lexicon.separator else self._templates.lexicon.line_end
        return state._replace(units=(*state.units, space)) if space and state.units[-1] != space else state

    def _extend(self, state: State, edge: _Edge) -> State:
        return State(
            state.weight + edge.weight,
            state.entropy + edge.entropy,
            state.best + edge.best,
            (*state.units, self._templates.lexicon.units[edge.unit]),
            state.explained + edge.explained,
        )

    def _edges(self, energies: Energies, cell: VisibleCell, pen: int) -> list[_Edge]:
        """Edges from a pen position on, one for all units that end at the same place."""
        matches = self._units_from(energies, cell, pen)
        if not len(matches.unit):
            return []
        weight = self._templates.lexicon.log_prior[matches.unit] + self._log_likelihood(energies, cell, pen, matches)
        order = np.argsort(matches.end, kind="stable")
        ends, starts = np.unique(matches.end[order], return_index=True)
        edges = []
        for end, group in zip(ends.tolist(), np.split(order, starts[1:]), strict=True):
            own = weight[group]
            best = int(own.argmax())
            total = _log_sum(own)
            edges.append(
                _Edge(
                    end,
                    total,
                    entropy_of(own),
                    float(own[best]),
                    int(matches.unit[group[best]]),
                    float(-matches.energy[group[best]]),
                )
            )
        return edges

    def _log_likelihood(self, energies: Energies, cell: VisibleCell, pen: int, matches: _UnitMatches) -> Doubles:
        """Logarithm of the likelihood of units that begin at a pen position.

        So that texts of different lengths compare: less the squares of all pixels up to the next pen position.
        """
        after = np.minimum(matches.end + self._templates.space, cell.width)
        weight: Doubles = -(matches.energy + energies.squares[after] - energies.squares[pen]) / self._scale
        return weight

    def _units_from(self, energies: Energies, cell: VisibleCell, pen: int) -> _UnitMatches:
        """Walk the prefix tree from a pen position, level by level, and keep what explains the pixels."""
        templates, tree = self._templates, self._templates.lexicon.tree
        nodes = np.arange(len(tree[0].code), dtype=np.intp)
        before, begin = np.full(len(nodes), -1, dtype=np.intp), np.full(len(nodes), pen, dtype=np.intp)
        energy = np.zeros(len(nodes))
        matches = []
        for depth, level in enumerate(tree):
            code = level.code[nodes]
            end = begin + templates.advance[code]
            good = np.flatnonzero((end <= cell.width) & (end > begin))
            code, begin, end, energy = code[good], begin[good], end[good], energy[good]
            energy = energy + energies.glyphs(code, begin)
            if depth:
                energy += energies.of_overlaps(templates.overlaps.number[before[good], code].astype(np.intp), begin)
            explains = np.flatnonzero(self._residual(energies, pen, end, energy) <= self._limit * self._scale)
            nodes, code, end, energy = nodes[good[explains]], code[explains], end[explains], energy[explains]
            unit = level.unit[nodes]
            whole = np.flatnonzero(unit >= 0)
            matches.append(_UnitMatches(unit[whole], end[whole], energy[whole]))
            parent, nodes = _children(level, nodes)
            if not len(nodes):
                break
            before, begin, energy = code[parent], end[parent], energy[parent]
        units, ends, sums = zip(*matches, strict=True)
        return _UnitMatches(np.concatenate(units), np.concatenate(ends), np.concatenate(sums))

    def _residual(self, energies: Energies, pen: int, end: Ints, energy: Doubles) -> Doubles:
        """Squared differences in the columns of beginnings of units, less those that noise makes.

        Columns into which the next glyph may reach are left out, so the result is rather too small.
        """
        sure = np.maximum(end + self._templates.left, pen)
        noise = self._scale / 2 * (energies.pixels[sure] - energies.pixels[pen])
        residual: Doubles = energy + energies.squares[sure] - energies.squares[pen] - noise
        return residual


class _UnitMatches(NamedTuple):
    """Units, the pen positions after them, and their energies."""

    unit: Ints
    end: Ints
    energy: Doubles


def _children(level: Level, nodes: Ints) -> tuple[Ints, Ints]:
    """Children of nodes: the position of each one's parent in ``nodes``, and their own numbers."""
    first, count = level.first[nodes], level.first[nodes + 1] - level.first[nodes]
    parent = np.repeat(np.arange(len(nodes)), count)
    return parent, np.arange(len(parent)) - np.repeat(np.cumsum(count) - count, count) + first[parent]


def _merge(states: Sequence[State]) -> State:
    """Join groups of texts, of which no two have a text in common."""
    if len(states) == 1:
        return states[0]
    weights = np.array([state.weight for state in states])
    total = _log_sum(weights)
    share = np.exp(weights - total)
    inner = float((share * np.array([state.entropy for state in states])).sum())
    best = max(states, key=lambda state: state.best)
    return State(total, inner + entropy_of(weights), best.best, best.units, best.explained)


def _log_sum(log_weights: Doubles) -> float:
    """Logarithm of a sum, given the logarithms of its terms."""
    top = float(log_weights.max())
    return top + math.log(float(np.exp(log_weights - top).sum()))
