"""The template attack: the covered texts of a strip from its pixels alone, without picture, key or question.

It finds the lines and covers, reads the uncovered characters, which give the places of the covered ones, and takes the
most probable text of each covered stretch. Its kin are Depix and Unredacter, which render, redact and compare.
"""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from hashlib import sha256
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from vcrgen.core.products import product
from vcrgen.pixels.characters import LineReading, PlacedCharacter, character_lexicon, read_line
from vcrgen.pixels.energies import Bools, Energies, VisibleCell
from vcrgen.pixels.lexicon import Lexicon, make_lexicon
from vcrgen.pixels.posterior import LEAST_FIT, SIGMA, Reading, read_span
from vcrgen.pixels.strips import (
    DOUBTFUL,
    PAPER,
    CoveredLine,
    Geometry,
    Gray,
    WhiteRows,
    covered_lines,
    find_covers,
    without_noise,
)
from vcrgen.pixels.templates import STEP, Templates
from vcrgen.typeset.records import Glyph, Margins

MIDDLE = {True: 0.37, False: 0.26}  # from the baseline to the middle of letters, of the size; True for wide ones
PROBED = {True: 12, False: 600}  # the most frequent letters, by which a face is found; True for words
HIGHEST = {True: 60, False: 600}  # the same, one of which is the highest of the first line
MATCH, SIMILAR = 0.03, 0.3  # relative differences of characters that are equal, and from which on they are not alike
MATCHED_LINES, MATCHED_COLUMNS = 4, 400
SURE = 0.3  # share of the lines whose characters are equal, from which on no other place or face is tried
FIRST_LINES, FIRST_COLUMNS = 3, 130  # by which the row of the baseline is found
NOISE_MARGIN = 0.15  # the fit of a text may be worse by so much than that of the uncovered text, in noise
FALSE = 0.2  # short white rows are a part of a letter if all of their ink but this share is explained without a cover
INSIDE = "'’-"  # marks inside of words
CUT = 0.15  # share of a letter under a cover of one shade from which on the letter is covered
LOOSE = 0.25  # of the font size: the most paper at the right end of a letter
# Words, or characters in languages without spaces, that are seen between covered stretches of one text, at most
NEAR = {True: 8, False: 2}
WORSE = 30.0  # nats by which a text of the lexicon may explain pixels worse than one that is read letter by letter


class FaceMatch(NamedTuple):
    """The likeness of a face and a strip.

    Attributes:
        equal: Share of the first lines in which characters are equal to the face's.
        alike: The same of those that are like the face's, weighted.
        baseline: Row of the first baseline.
    """

    equal: float
    alike: float
    baseline: int


@dataclass(frozen=True, eq=False)
class Typeface:
    """The glyphs of a face at a size, for one language.

    Attributes:
        name: For people and files of outputs.
        glyph: Function from a character to its glyph.
        words: The lexicon.
    """

    name: str
    glyph: Callable[[str], Glyph | None]
    words: Lexicon
    size: int
    line_height: int
    baseline: int

    @cached_property
    def word_templates(self) -> Templates:
        """Templates of the lexicon's units."""
        return Templates(self.glyph, self.words)

    @cached_property
    def character_templates(self) -> Templates:
        """Templates of all characters."""
        return Templates(self.glyph, character_lexicon(self.words.lang, self.words))

    @cached_property
    def probes(self) -> Templates:
        """Templates of the most frequent letters."""
        return Templates(self.glyph, _most_frequent(self.words, PROBED[bool(self.words.separator)]))

    @cached_property
    def tops(self) -> frozenset[int]:
        """First rows of frequent letters, from the baseline: their most frequent ones alone may all be low."""
        glyphs = map(self.glyph, _most_frequent(self.words, HIGHEST[bool(self.words.separator)]).units)
        inked = [(glyph.y, (glyph.ink > PAPER).any(axis=1)) for glyph in glyphs if glyph and glyph.ink.size]
        return frozenset(y + int(rows.argmax()) for y, rows in inked if rows.any())

    @property
    def digest(self) -> str:
        """A hash of the glyphs of all characters."""
        templates = self.character_templates
        return sha256(templates.ink.tobytes() + templates.advance.tobytes()).hexdigest()[:16]

    def geometry(self, baseline_row: int) -> Geometry:
        """Place lines so that the first has its baseline at a row of the image."""
        wide = not self.words.separator
        return Geometry(
            top=baseline_row - self.baseline,
            line_height=self.line_height,
            baseline=self.baseline,
            middle=round(MIDDLE[wide] * self.size),
            size=self.size,
        )

    def match(self, ink: Gray, columns: int = FIRST_COLUMNS) -> FaceMatch:
        """Compare the first lines of a strip, without covers, with the face's most frequent characters.

        Args:
            ink: Darkness of the strip.
            columns: Those by which the row of the baseline is found.
        """
        rows = np.flatnonzero((ink > PAPER).any(axis=1))
        if not len(rows):
            return FaceMatch(0.0, 0.0, 0)
        # Other characters may be a pixel higher. A first line is likely to have one of the highest.
        baselines = sorted({int(rows[0]) - top + more for top in self.tops for more in (0, 1)}, reverse=True)
        if not baselines:
            return FaceMatch(0.0, 0.0, 0)
        best = FaceMatch(0.0, 0.0, baselines[0])
        for row in baselines:
            best = max(best, self._match_lines(ink[:, :columns], row, FIRST_LINES))
            if best.equal >= SURE:
                break
        return self._match_lines(ink[:, :MATCHED_COLUMNS], best.baseline, MATCHED_LINES)

    def _match_lines(self, ink: Gray, baseline: int, lines: int) -> FaceMatch:
        templates, total, equal, alike = self.probes, 0, 0.0, 0.0
        rows, columns = templates.ink.shape[1:]
        norm, width = np.maximum(templates.flat_square.sum(axis=0), 1), templates.advance
        for number in range(lines):
            top = baseline + templates.top + number * self.line_height
            band = np.zeros((rows, ink.shape[1] + columns), dtype=np.float32)
            line_ink = ink[max(top, 0) : max(top + rows, 0)] // STEP
            first = max(-top, 0)
            band[first : first + len(line_ink), -templates.left : ink.shape[1] - templates.left] = line_ink
            if not line_ink.any():
                continue
            pens = np.arange(ink.shape[1] - int(width.max()))
            windows = sliding_window_view(band, (rows, columns))[0, : len(pens)]
            common = product(windows.reshape(len(pens), rows * columns), templates.flat)
            squares = np.append(0.0, np.cumsum((band**2).sum(axis=0, dtype=np.float64)))[-templates.left :]
            own = squares[pens[:, None] + width] - squares[pens, None]
            apart = np.abs(own + norm - 2.0 * common) / norm
            equal += float((width * (apart < MATCH)).max(axis=1).sum())
            alike += float((width * np.clip(1 - apart / SIMILAR, 0, 1) ** 2).max(axis=1).sum())
            total += int((line_ink > PAPER // STEP).any(axis=0).sum())
        return FaceMatch(equal / total, alike / total, baseline) if total else FaceMatch(0.0, 0.0, baseline)


@lru_cache(maxsize=32)
def _most_frequent(words: Lexicon, count: int) -> Lexicon:
    """Make a lexicon of the most frequent letters of another one, all equally likely."""
    letters = character_lexicon(words.lang, words)
    order = [int(code) for code in np.argsort(-letters.log_prior, kind="stable") if letters.units[code].isalpha()]
    return make_lexicon("probes", words.lang, {letters.units[code]: 1.0 for code in order[:count]}, "")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadSpan:
    """A covered text as the attack reads it.

    Attributes:
        text: Its most probable text, with the uncovered words in it.
        bits: Equivocation of the reading by the lexicon; None if its text is not of the lexicon and was read character
            by character.
        fit: Share of the visible ink that the lexicon's text explains.
        before: The uncovered text from the covered one before it, or from the beginning.
        after: The uncovered text until the next one, or the end.
    """

    text: str
    bits: float | None
    fit: float
    before: str
    after: str


@dataclass(frozen=True, kw_only=True)
class ReadStrip:
    """The lines of a strip; its covered texts are read when they are asked for.

    Attributes:
        fit: Share of the uncovered ink that the face's characters explain.
        noise: Standard deviation of the rest, in grey levels.
        face: The face.
        lines: What was read in each line character by character.
        sigma: Standard deviation of the noise, in grey levels.
    """

    fit: float
    noise: float
    face: Typeface
    lines: Sequence[tuple[CoveredLine, LineReading]]
    sigma: float

    @property
    def text(self) -> str:
        """The whole text, for people."""
        return "\n".join(reading.text for _, reading in self.lines)

    @cached_property
    def spans(self) -> tuple[ReadSpan, ...]:
        """The covered texts in reading order."""
        words = self.face.word_templates
        least = min(LEAST_FIT, self.fit - NOISE_MARGIN) if self.sigma > 2 * SIGMA else LEAST_FIT
        sides = words.margins(self.face.line_height, self.face.baseline)
        stretches = _covered(self.lines, self.wide, words.lexicon.line_end, sides, round(LOOSE * self.face.size))
        spans: list[ReadSpan] = []
        for stretch in stretches:
            span = _read_covered(words, self.face.character_templates, stretch, self.sigma, least)
            if spans and _is_near(span.before, wide=self.wide):
                spans[-1] = _joined(spans[-1], span, words.lexicon.separator)
            else:
                spans.append(span)
        return tuple(spans)

    @property
    def wide(self) -> bool:
        """True for languages without spaces."""
        return not self.face.words.separator


def read_strip(
    ink: Gray,
    face: Typeface,
    baseline: int,
    sigma: float = SIGMA,
    least: float = 0.0,
    noise: float = 0.0,
) -> ReadStrip:
    """Read the lines of a strip.

    Args:
        ink: Darkness of an image with nothing but the strip.
        baseline: Row of the first baseline.
        sigma: Standard deviation of the noise, in grey levels.
        least: Share of the uncovered ink; if less of it is explained, its last lines may be left out.
        noise: Standard deviation of the noise on paper, in grey levels; 0 if there is none.
    """
    ink, clean = without_noise(ink, noise)
    lines = read_lines(ink, clean, find_covers(clean), face, baseline, sigma, least=least)
    squares = [_squares(line.cell.ink) for line, _ in lines]
    total = math.fsum(squares)
    explained = math.fsum(reading.fit * square for (_, reading), square in zip(lines, squares, strict=True))
    return ReadStrip(
        fit=explained / total if total else 1.0,
        noise=max((reading.noise for _, reading in lines), default=0.0),
        face=face,
        lines=lines,
        sigma=sigma,
    )


def read_lines(
    ink: Gray,
    clean: Gray,
    covers: Bools,
    face: Typeface,
    baseline: int,
    sigma: float,
    unknown: float = math.inf,
    least: float = 0.0,
) -> list[tuple[CoveredLine, LineReading]]:
    """Find the lines of a strip, and read them character by character.

    Args:
        ink: Darkness of an image with nothing but the strip.
        clean: The same without noise, by which lines and white rows are found.
        covers: Its pixels of covers, but for white rows.
        baseline: Row of the first baseline.
        sigma: Standard deviation of the noise, in grey levels.
        unknown: Most nats of the ink in a column of a character that the face does not have.
        least: Share of the uncovered ink; nothing is read in further lines if so much of it cannot be explained.
    """
    characters = face.character_templates

    below = max(0, characters.top + characters.ink.shape[1] + face.baseline - face.line_height)
    lines = covered_lines(ink, clean, covers, face.geometry(baseline), (below, max(0, -characters.top - face.baseline)))
    room = (1 - least) * math.fsum(_squares(line.cell.ink) for line in lines)

    def read(line: CoveredLine) -> LineReading:
        reached = max((right for _, right in line.grey), default=0)
        return read_line(characters, line.cell, sigma, unknown, reached, room / STEP**2)

    readings = []
    for line in lines:
        if room < 0:
            readings.append((line, LineReading((), 0.0, 0.0)))
            continue
        readings.append(_without_false_covers(line, read, characters, DOUBTFUL * face.size))
        room -= _unexplained(*readings[-1])
    return readings


def _without_false_covers(
    line: CoveredLine, read: Callable[[CoveredLine], LineReading], characters: Templates, doubtful: float
) -> tuple[CoveredLine, LineReading]:
    """Read a line; short white rows are none if characters explain that they are white, as those of E and F do."""
    reading = read(line)
    for rows in line.white if reading.characters else ():
        if rows.right - rows.left > doubtful:
            continue
        uncovered = replace(line, white=tuple(other for other in line.white if other is not rows))
        most = FALSE * _squares(line.cell.ink[:, rows.left : rows.right])
        if _hidden_squares(line, reading, characters, rows) <= most:
            line = uncovered
            continue
        other = read(uncovered)
        if _unexplained(uncovered, other) - _unexplained(line, reading) <= most:
            line, reading = uncovered, other
    return line, reading


def _hidden_squares(line: CoveredLine, reading: LineReading, characters: Templates, rows: WhiteRows) -> float:
    """Squared darkness that the characters of a reading have under white rows."""
    codes = characters.lexicon.code_of
    above, below = (max(0, row - line.baseline - characters.top) for row in (rows.above, rows.below))
    total = 0.0
    for character in reading.characters:
        left, right = (max(0, column - character.begin - characters.left) for column in (rows.left, rows.right))
        total += _squares(characters.ink[codes[character.text], above:below, left:right])
    return total


def _unexplained(line: CoveredLine, reading: LineReading) -> float:
    return (1 - reading.fit) * _squares(line.cell.ink)


def _squares(ink: Gray) -> float:
    return float((ink.astype(np.float64) ** 2).sum())


@dataclass(frozen=True, slots=True)
class _Covered:
    """Words or characters that are covered, of one line or two.

    Attributes:
        cells: Their cells.
        placed: What was read in each, character by character, with places in the line.
        before: The uncovered text from the covered one before it, or from the beginning.
        after: The uncovered text until the next one, or the end.
    """

    cells: list[VisibleCell]
    placed: list[Sequence[PlacedCharacter]]
    before: str
    after: str = ""


def _covered(
    lines: Sequence[tuple[CoveredLine, LineReading]], wide: bool, line_end: str, sides: Margins, loose: int
) -> list[_Covered]:
    """Find the covered words of a strip; at the end of a line under a cover they may be ``loose`` columns longer.

    ``sides`` says how far letters reach to the left and to the right.
    """
    texts: list[_Covered] = []
    between = ""
    for line, reading in lines:
        placed, done = reading.characters, 0
        for first, last in _groups(placed, line, wide=wide):
            between += _text(placed[done:first])
            if not texts or between.strip():
                if texts:
                    texts[-1] = replace(texts[-1], after=between)
                texts.append(_Covered([], [], between))
            texts[-1].cells.append(_cell(line, placed[first].begin, placed[last - 1].end, sides, loose))
            texts[-1].placed.append(placed[first:last])
            between, done = "", last
        between += _text(placed[done:]) + line_end
    if texts:
        texts[-1] = replace(texts[-1], after=between)
    return texts


def _cell(line: CoveredLine, begin: int, end: int, sides: Margins, loose: int) -> VisibleCell:
    """Visible pixels of covered words; behind the last cover of a line their end is not seen."""
    covered = max((right for _, right in line.grey), default=0)
    open_end = begin < covered <= end and not line.ink[:, covered:].any()
    least = covered if open_end else end
    if open_end:
        end = min(covered + loose, line.ink.shape[1])
    return line.cell_of(begin, end, sides, end - least)


def _text(placed: Sequence[PlacedCharacter]) -> str:
    return "".join(character.text for character in placed)


def _units(text: str, *, wide: bool) -> list[str]:
    """Split a text of several lines into words, or characters if it is wide, with the spaces before them."""
    if wide:
        return list(text)
    words = [f" {word}" for word in text.split()]
    if words and not text[0].isspace():
        words[0] = words[0][1:]
    return [*words, " "] if words and text[-1].isspace() else words or [" "] * bool(text)


def _is_near(between: str, *, wide: bool) -> bool:
    """Tell whether covered words before and after a text are of one text: there is no mark and little else."""
    units = [unit for unit in _units(between, wide=wide) if not unit.isspace()]
    return len(units) <= NEAR[wide] and all(unit.strip().isalpha() for unit in units)


def _joined(first: ReadSpan, second: ReadSpan, separator: str) -> ReadSpan:
    """Merge two covered texts of one; what is seen between them is known, so their bits add up."""
    between = "".join(_units(second.before, wide=not separator))
    return ReadSpan(
        text=first.text + between + second.text,
        bits=None if first.bits is None or second.bits is None else first.bits + second.bits,
        fit=min(first.fit, second.fit),
        before=first.before,
        after=second.after,
    )


def _groups(placed: Sequence[PlacedCharacter], line: CoveredLine, *, wide: bool) -> list[tuple[int, int]]:
    """Find the covered texts of a line, without marks at their ends: their first and last characters."""
    covered = _covered_wide_characters(placed, line) if wide else _characters_of_covered_words(placed, line)
    groups: list[tuple[int, int]] = []
    for number in np.flatnonzero(covered).tolist():
        between = placed[groups[-1][1] : number] if groups else ()
        if groups and all(character.text == " " for character in between):
            groups[-1] = groups[-1][0], number + 1
        else:
            groups.append((number, number + 1))
    return groups


def _covered_wide_characters(placed: Sequence[PlacedCharacter], line: CoveredLine) -> list[bool]:
    """Tell of each character of a language without spaces whether it is covered."""
    covered = [  # what is hidden whole is read as spaces
        _is_covered_letter(character, line) or (character.text == " " and _is_hidden(character, line))
        for character in placed
    ]
    # Of a stroke, as 一, nothing may be left beside covered characters.
    for number in range(1, len(placed)):
        if placed[number].text == " ":
            covered[number] |= covered[number - 1]
    for number in reversed(range(len(placed) - 1)):
        if placed[number].text == " ":
            covered[number] |= covered[number + 1]
    return covered


def _characters_of_covered_words(placed: Sequence[PlacedCharacter], line: CoveredLine) -> list[bool]:
    """Tell of each character whether its word is covered; words may go on under a cover of one shade."""
    covered = [_is_covered_letter(character, line) for character in placed]
    inside = [c.text.isalpha() or c.text in INSIDE or _is_hidden(c, line) for c in placed]
    start = 0
    for end in range(len(placed) + 1):
        if end == len(placed) or not inside[end]:
            covered[start:end] = [any(covered[start:end])] * (end - start)
            start = end + 1
    return covered


def _is_covered_letter(character: PlacedCharacter, line: CoveredLine) -> bool:
    """Tell whether a letter is under a cover of one shade or white rows."""
    middle = (character.begin + character.end) / 2
    is_covered = _is_cut(character, line.grey) or any(rows.left < middle < rows.right for rows in line.white)
    return character.text.isalpha() and is_covered


def _is_hidden(character: PlacedCharacter, line: CoveredLine) -> bool:
    """Tell whether a character is under a cover of one shade: nothing is known of it, so it may be a letter or not."""
    middle = (character.begin + character.end) / 2
    is_cut = character.text != " " and _is_cut(character, line.grey)
    return is_cut or any(left < middle < right for left, right in line.grey)


def _is_cut(character: PlacedCharacter, covers: Sequence[tuple[int, int]]) -> bool:
    """Tell whether covers hide a part of a character."""
    begin, end = character.begin, character.end
    return sum(max(0, min(end, right) - max(begin, left)) for left, right in covers) > CUT * (end - begin)


def _is_as_good(reading: Reading, characters: Templates, covered: _Covered, sigma: float) -> bool:
    """Tell whether a text of the lexicon explains the visible pixels as well as what was read in them letter by letter.

    If not, a word that is not in the lexicon is like one that is, but for some pixels.
    """
    codes = characters.lexicon.code_of
    squares = residual = 0.0
    for cell, placed in zip(covered.cells, covered.placed, strict=True):
        energies = Energies(characters, cell, ahead=False)
        code = np.array([codes[character.text] for character in placed], dtype=np.intp)
        pens = np.array([character.begin - placed[0].begin for character in placed], dtype=np.intp)
        overlaps = energies.of_overlaps(characters.overlaps.number[code[:-1], code[1:]].astype(np.intp), pens[1:])
        squares += float(energies.squares[-1])
        residual += float(energies.squares[-1] + energies.glyphs(code, pens).sum() + overlaps.sum())
    return (1 - reading.fit) * squares - residual <= WORSE * 2.0 * (sigma / STEP) ** 2


def _read_covered(
    templates: Templates,
    characters: Templates,
    covered: _Covered,
    sigma: float,
    least_fit: float,
) -> ReadSpan:
    reading = read_span(templates, covered.cells, None, sigma)
    has_ink = any((cell.ink > PAPER).any() for cell in covered.cells)
    is_of_lexicon = bool(reading.text) and (reading.fit >= least_fit or not has_ink)
    text = re.sub(" +", " ", templates.lexicon.line_end.join(map(_text, covered.placed)))
    if is_of_lexicon and templates.lexicon.separator and reading.text != text:
        is_of_lexicon = _is_as_good(reading, characters, covered, sigma)
    return ReadSpan(
        text=reading.text if is_of_lexicon else text,
        bits=reading.bits if is_of_lexicon else None,
        fit=reading.fit if has_ink else 1.0,
        before=covered.before,
        after=covered.after,
    )
