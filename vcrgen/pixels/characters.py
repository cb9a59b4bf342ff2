"""Reading a line character by character, without a lexicon: uncovered text, words that no lexicon has, and places."""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from vcrgen.pixels.energies import Energies, VisibleCell
from vcrgen.pixels.lexicon import Lexicon, load_lexicon, make_lexicon
from vcrgen.pixels.templates import STEP, Doubles, Ints, Templates
from vcrgen.text.languages import language_row

# Beside the letters of a language: weights as shares of a text's characters.
DIGITS, MARKS, SIGNS = "0123456789", ".,;:!?'\"()-–—/&%’‘“”„«»°·…[]+", "¿¡$€£*#@_="
WIDE_MARKS = "，。、；：？！「」『』（）《》“”‘’·—…〈〉【】％～・ー"
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
SHARES = {"space": 0.16, "digits": 0.02, "marks": 0.03, "signs": 0.001, "latin": 0.01}
SKIPPED = 15.0  # nats of a column that no character explains, beside its ink
# Nats by which a state may be worse than one that is further to the right; in noise of so many grey levels
BEAM, NOISY_BEAM, NOISY = 14.0, 60.0, 8.0
MOST_NEXT, MOST_STATES = 24, 6  # characters that are tried at a place, and ways to it


class PlacedCharacter(NamedTuple):
    """A character that was read.

    Attributes:
        begin: Its pen position, in pixels from the left end of the line.
        end: The pen position after it.
    """

    text: str
    begin: int
    end: int


class LineReading(NamedTuple):
    """A line that was read.

    Attributes:
        fit: Share of the visible ink (its squares) that the characters explain.
        noise: Standard deviation of what they do not explain, in grey levels.
    """

    characters: tuple[PlacedCharacter, ...]
    fit: float
    noise: float

    @property
    def text(self) -> str:
        """The characters."""
        return "".join(character.text for character in self.characters)


@lru_cache(maxsize=16)
def character_lexicon(lang: str, words: Lexicon | None = None) -> Lexicon:
    """Make a lexicon of letters, digits, marks and the space, with their frequencies in a language's texts."""
    words = words or load_lexicon(lang)
    prior = np.exp(words.log_prior)
    weights: dict[str, float] = dict.fromkeys(words.alphabet, 0.0)
    for unit, share in zip(words.units, prior.tolist(), strict=True):
        for character in unit:
            weights[character] += share
    total = math.fsum(weights.values())
    weights = {character: weight / total + 1e-7 for character, weight in weights.items()}
    marks = MARKS if language_row(lang).script in ("LATIN", "CYRILLIC") else WIDE_MARKS + MARKS
    for characters, share in (
        (DIGITS, "digits"),
        (marks, "marks"),
        (SIGNS, "signs"),
        (" ", "space"),
        (LETTERS, "latin"),
    ):
        for character in characters:
            weights[character] = max(weights.get(character, 0.0), SHARES[share] / len(characters))
    return make_lexicon(f"characters-{lang}", lang, weights, "")


def read_line(
    templates: Templates,
    line: VisibleCell,
    sigma: float,
    unknown: float = math.inf,
    least: int = 0,
    room: float = math.inf,
) -> LineReading:
    """Read a line from its left end, by the cheapest path through its pen positions (a beam search).

    Args:
        templates: Those of a `character_lexicon`.
        sigma: Standard deviation of the noise, in grey levels.
        unknown: Most nats of the ink in a column of a character that is not among the templates.
        least: Columns that the characters reach, seen or not.
        room: Most of the ink (its squares, in steps) that may be unexplained; if more is, nothing is read.
    """
    return _Search(templates, line, sigma, unknown, least, room).read()


def _least(values: Doubles, number: int) -> Ints:
    """Indices of so many least values, the least one first."""
    if len(values) <= number:
        return np.argsort(values, kind="stable")
    places: Ints = np.flatnonzero(values <= np.partition(values, number - 1)[number - 1])
    return places[np.argsort(values[places], kind="stable")][:number]


class _State(NamedTuple):
    """A way to a pen position, with the energy of all its characters."""

    pen: int
    code: int  # -1 at the start and after a skipped column
    before: int  # number of a state, -1 at the start
    energy: float


class _Search:
    def __init__(
        self, templates: Templates, line: VisibleCell, sigma: float, unknown: float, least: int, room: float
    ) -> None:
        self._templates, self._energies = templates, Energies(templates, line, ahead=False)
        self._scale, self._unknown, self._room = 2.0 * (sigma / STEP) ** 2, unknown, room
        self._beam = NOISY_BEAM if sigma > NOISY else BEAM
        self._width = line.width
        ink = np.flatnonzero((line.ink * line.visible).any(axis=0))
        self._last = max(least, int(ink[-1]) + 1 if len(ink) else 0)
        self._price = -templates.lexicon.log_prior  # the units are in the order of the alphabet
        self._states = [_State(0, -1, -1, 0.0)]
        self._squares = self._energies.squares
        self._arrived: dict[int, dict[int, tuple[float, int]]] = {0: {-1: (0.0, 0)}}  # by pen and code: cost, state
        # Least cost of a state at a pen position, without ink further right that its last character explains: beside a
        # cover, letters that reach beyond it would win over all that end under it.
        self._best = np.full(line.width + 1, math.inf)
        self._pixels = float(line.visible.sum())

    def read(self) -> LineReading:
        for pen in range(self._last):
            arrived = sorted(self._arrived.pop(pen, {}).values())
            arrived = [(cost, number) for cost, number in arrived[:MOST_STATES] if self._is_in_room(pen, number)]
            if arrived:
                self._extend(pen, arrived)
        ends = [end for arrived in self._arrived.values() for end in arrived.values()]
        return self._reading(min(ends)[1]) if ends else LineReading((), 0.0, 0.0)

    def _is_in_room(self, pen: int, number: int) -> bool:
        return self._states[number].energy + float(self._squares[pen]) <= self._room

    def _extend(self, pen: int, arrived: Sequence[tuple[float, int]]) -> None:
        """Put each character behind the states of a pen position, given as their costs and numbers."""
        if arrived[0][0] > self._best[pen:].min() + self._beam:
            return
        templates = self._templates
        alone = self._energies.all_glyphs(pen)
        end = pen + templates.advance
        fits = self._unlike(np.flatnonzero((templates.advance > 0) & (end <= self._width)), alone, end)
        ink = float(self._squares[pen + 1] - self._squares[pen]) / self._scale
        gain = np.maximum(0.0, -self._energies.tails(pen)) / self._scale
        for cost, number in arrived:
            best = np.minimum.accumulate(self._best[::-1])[::-1]  # at a pen position or further to the right
            if cost > best[pen] + self._beam:
                return
            code, energy = self._states[number].code, alone
            if code >= 0 and templates.lexicon.pairs.size:
                row = templates.overlaps.number[code]
                touching = np.flatnonzero(row >= 0)
                energy = alone.copy()
                energy[touching] += self._energies.of_overlaps_at(row[touching].astype(np.intp), pen)
            residual = energy[fits] + self._squares[end[fits]] - self._squares[pen]
            price = residual / self._scale + self._price[fits]
            fair = price + gain[fits]
            nearest = _least(price, MOST_NEXT)
            for place in nearest[cost + price[nearest] <= best[end[fits[nearest]]] + self._beam].tolist():
                code = int(fits[place])
                self._best[end[code]] = min(self._best[end[code]], cost + float(fair[place]))
                self._push(cost + float(price[place]), int(end[code]), code, number, float(energy[code]))
            skipped = cost + SKIPPED + min(ink, self._unknown)
            self._best[pen + 1] = min(self._best[pen + 1], skipped)
            self._push(skipped, pen + 1, -1, number, 0.0)

    def _unlike(self, fits: Ints, alone: Doubles, end: Ints) -> Ints:
        """Leave out characters of which nothing is seen, but for the most frequent one of each width."""
        unseen = fits[alone[fits] == 0]
        if len(unseen) < 2:
            return fits
        unseen = unseen[np.argsort(self._price[unseen], kind="stable")]
        others = np.delete(unseen, np.unique(end[unseen], return_index=True)[1])
        return np.setdiff1d(fits, others, assume_unique=True)

    def _push(self, cost: float, pen: int, code: int, before: int, energy: float) -> None:
        arrived = self._arrived.setdefault(pen, {})
        if cost < arrived.get(code, (math.inf, 0))[0]:
            arrived[code] = cost, len(self._states)
            self._states.append(_State(pen, code, before, self._states[before].energy + energy))

    def _reading(self, number: int) -> LineReading:
        state = self._states[number]
        squares = float(self._squares[-1])
        residual = max(0.0, squares + state.energy)
        characters = []
        while state.before >= 0:
            before = self._states[state.before]
            if state.code >= 0:
                text = self._templates.lexicon.alphabet[state.code]
                characters.append(PlacedCharacter(text, before.pen, state.pen))
            state = before
        return LineReading(
            characters=tuple(reversed(characters)),
            fit=1 - residual / squares if squares else 1.0,
            noise=STEP * math.sqrt(residual / max(1.0, self._pixels)),
        )
