"""The posterior of a covered text given its visible pixels and the uncovered text around it.

The prior of a unit is that of an n-gram model after the units before it; how often a word is capitalised is the
lexicon's. Texts whose last tokens are the same go on alike, so they are one state, as those of one pen position are
for the prior of single units. Only the best states of a pen position are kept, so the bits are rather too small.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from vcrgen.pixels.energies import Energies, VisibleCell
from vcrgen.pixels.lexicon import Lexicon
from vcrgen.pixels.ngrams import BOUNDARY, NgramModel, tokenize
from vcrgen.pixels.posterior import SIGMA, Lattice, Reading, State, merge, most_probable
from vcrgen.pixels.templates import Doubles, Ints, Templates

MOST_STATES = 48  # of a pen position
BEAM = 25.0  # nats below the best beginning of a text
LEAST_BASE = 1e-9  # of a token that the lexicon does not have

History = tuple[int, ...]


class NgramPrior:
    """Probabilities of a lexicon's units in context.

    Args:
        model: Of the language's tokens.
        lexicon: The units.
        digest: Hash of the model's texts.

    Attributes:
        name: For signatures.
    """

    def __init__(self, model: NgramModel, lexicon: Lexicon, digest: str) -> None:
        self._model, self._lexicon, self.name = model, lexicon, f"kneser-ney-{model.order}#{digest}"
        shares = np.exp(lexicon.log_prior)
        forms: defaultdict[str, float] = defaultdict(float)
        tokens = ["".join(tokenize(unit, lexicon.lang)) if unit != " " else unit for unit in lexicon.units]
        for token, share in zip(tokens, shares.tolist(), strict=True):
            forms[token] += share
        self._forms = forms
        numbers = dict(zip(forms, model.numbers(forms), strict=True))
        ordered = sorted(forms, key=lambda token: (numbers[token], token))
        place = {token: at for at, token in enumerate(ordered)}
        self._place: Ints = np.array([place[token] for token in tokens], dtype=np.intp)  # of each unit's token
        self._token: Ints = np.array([numbers[token] for token in ordered], dtype=np.intp)
        base = np.array([forms[token] for token in ordered])
        self._single = model.probabilities((), self._token, base)
        self._log_form = lexicon.log_prior - np.log(base[self._place])

    def history(self, tokens: Sequence[int]) -> History:
        """Return the tokens on which the next unit depends."""
        return self._model.history(tokens)

    def tokens(self, text: str) -> list[int]:
        """Return the numbers of a text's tokens."""
        return list(self._model.numbers(tokenize(text, self._lexicon.lang)))

    def before(self, text: str, *, first: bool) -> History:
        """Return the history after a text; ``first`` if nothing stands before it."""
        numbers = self.tokens(text)
        return self.history((BOUNDARY, *numbers) if first else numbers)

    def token(self, unit: int) -> int:
        """Return the number of a unit's token."""
        return int(self._token[self._place[unit]])

    def log_prior(self, histories: Sequence[History], units: Ints) -> Doubles:
        """Return the logarithm of the probability of units after each of some histories."""
        places, of = np.unique(self._place[units], return_inverse=True)
        tokens, single = self._token[places], self._single[places]
        shares = [self._model.probabilities_after(history, tokens, single) for history in histories]
        found: Doubles = np.log(np.array(shares))[:, of] + self._log_form[units]
        return found

    def log_prior_of(self, text: str, history: History) -> float:
        """Return the logarithm of the probability of the tokens of a text that depend on a history."""
        total = 0.0
        for token in tokenize(text, self._lexicon.lang)[: self._model.order - 1]:
            (number,) = self._model.numbers([token])
            base = np.array([max(self._forms.get(token, 0.0), LEAST_BASE)])
            total += math.log(float(self._model.probabilities(history, np.array([number]), base)[0]))
            history = self.history((*history, number))
        return total


class Context(NamedTuple):
    """The uncovered text around a covered one.

    Attributes:
        before: The text from the covered one before it, or from the beginning.
        after: The text until the next covered one, or the end.
        first: True if ``before`` begins with the caption.
    """

    prior: NgramPrior
    before: str
    after: str
    first: bool


class ContextLattice(Lattice):
    """Paths through the pen positions of cells, with an n-gram prior.

    Args:
        templates: Lexicon and fonts.
        energies: Those of each cell.
        cells: The cells.
        context: The prior and the uncovered text.
        sigma: Standard deviation of the noise, in grey levels.
        limit: One of the posterior's ``LIMITS``.
    """

    def __init__(
        self,
        templates: Templates,
        energies: Sequence[Energies],
        cells: Sequence[VisibleCell],
        context: Context,
        sigma: float,
        limit: float,
    ) -> None:
        super().__init__(templates, energies, cells, None, sigma, limit)
        self._context = context

    def end(self) -> State | None:
        """Return the texts that fill all cells; None if there is none."""
        history = self._context.prior.before(self._context.before, first=self._context.first)
        states = {history: State(0.0, 0.0, 0.0, (), 0.0)}
        for number, (energies, cell) in enumerate(zip(self._energies, self._cells, strict=True)):
            if number:
                states = self._after_line(states)
            states = self._through_cell(energies, cell, states)
        ends = []
        for history, state in states.items():
            after = self._context.prior.log_prior_of(self._context.after, history)
            ends.append(state._replace(weight=state.weight + after, best=state.best + after))
        return merge(ends) if ends else None

    def _after_line(self, states: Mapping[History, State]) -> dict[History, State]:
        """Return texts with the space that a line's end stands for, by their histories."""
        found: defaultdict[History, list[State]] = defaultdict(list)
        for history, state in states.items():
            longer = self._next_line(state)
            more = () if longer is state else self._context.prior.tokens(longer.units[-1])
            found[self._context.prior.history((*history, *more))].append(longer)
        return {history: merge(same) for history, same in found.items()}

    def _through_cell(
        self, energies: Energies, cell: VisibleCell, states: Mapping[History, State]
    ) -> dict[History, State]:
        """Return the texts at the end of a cell by their histories, given those at its start."""
        waiting = {0: {history: [state] for history, state in states.items()}}
        top: dict[int, float] = {}  # by number of units, as each one more makes a text less probable
        for pen in range(cell.width):
            here = _best(waiting.pop(pen, {}), top)
            for start, history, state in self._longer(energies, cell, pen, here):
                number = len(state.units)
                if start == cell.width or state.weight >= top.get(number, -math.inf) - BEAM:
                    waiting.setdefault(start, {}).setdefault(history, []).append(state)
                    if start < cell.width:
                        top[number] = max(top.get(number, -math.inf), state.weight)
        return {history: merge(found) for history, found in waiting.get(cell.width, {}).items()}

    def _longer(
        self, energies: Energies, cell: VisibleCell, pen: int, here: Mapping[History, State]
    ) -> Iterator[tuple[int, History, State]]:
        """Yield the likeliest texts with one unit more: where the next one begins, their history, and the texts."""
        if not here:
            return
        found, prior, units = self._units_from(energies, cell, pen), self._context.prior, self._templates.lexicon.units
        pixels, histories = self._log_likelihood(energies, cell, pen, found), list(here)
        before = np.array([here[history].weight for history in histories])
        weights = (before[:, None] + pixels) + prior.log_prior(histories, found.unit)
        for end in np.unique(found.end).tolist():
            ends = end >= cell.width - cell.loose
            start = cell.width if ends else end + self._templates.space
            if start >= cell.width and not ends:  # no room for another unit
                continue
            group = np.flatnonzero(found.end == end)
            own = weights[:, group]
            for row, column in np.argwhere(own >= max(_nth(own, MOST_STATES), own.max() - BEAM)).tolist():
                at, state = int(group[column]), here[histories[row]]
                unit, weight = int(found.unit[at]), float(own[row, column])
                longer = State(
                    weight,
                    state.entropy,
                    state.best + weight - state.weight,
                    (*state.units, units[unit]),
                    state.explained - float(found.energy[at]),
                )
                yield start, prior.history((*histories[row], prior.token(unit))), longer


def _nth(values: Doubles, number: int) -> float:
    """Return the so many-th largest value, or the least one of fewer."""
    flat = values.ravel()
    return float(np.partition(flat, -min(number, len(flat)))[-min(number, len(flat))])


def _best(arrived: Mapping[History, Sequence[State]], top: Mapping[int, float]) -> dict[History, State]:
    """Return the best states of a pen position, given the greatest weights by number of units."""
    states = {history: merge(found) for history, found in arrived.items()}
    ranked = sorted(states.items(), key=lambda one: -one[1].weight)[:MOST_STATES]
    return {history: state for history, state in ranked if state.weight >= top.get(len(state.units), -math.inf) - BEAM}


def read_span_in_context(
    templates: Templates, cells: Sequence[VisibleCell], context: Context, sigma: float = SIGMA
) -> Reading:
    """Return the posterior of a span given its pixels and the uncovered text around it.

    Args:
        templates: Lexicon and fonts.
        cells: The span's cells, in reading order.
        context: The prior and the uncovered text.
        sigma: Standard deviation of the noise, in grey levels.
    """
    energies = [Energies(templates, cell) for cell in cells]

    def end_of(limit: float) -> State | None:
        """Return the texts; if there are none, the plain lattice tells it in less time."""
        if Lattice(templates, energies, cells, None, sigma, limit).end() is None:
            return None
        return ContextLattice(templates, energies, cells, context, sigma, limit).end()

    return most_probable(templates, energies, end_of)
