"""Glyphs cut out of uncovered text, for strips whose face is not known: a look-alike face is enough to begin with.

The look-alike reads the uncovered text. Advances are whole pixels, so a character is the same image wherever it stands;
the image that occurs most often where one character was read is its glyph, although some were read wrongly. With these
glyphs the text is read better, and so on.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import zip_longest
from typing import NamedTuple

import numpy as np

from vcrgen.core.products import product
from vcrgen.pixels.attack import Typeface, read_lines
from vcrgen.pixels.characters import LineReading, PlacedCharacter
from vcrgen.pixels.energies import Energies, VisibleCell
from vcrgen.pixels.strips import CoveredLine, Gray, find_covers
from vcrgen.pixels.templates import STEP, Templates
from vcrgen.typeset.records import Glyph

ROUNDS = (40.0, 8.0, 4.0)  # grey levels of noise, by which the text is read again and again
LEAST_READ = 0.8  # fit of a line from whose characters glyphs are cut out
BEYOND = 4  # px that ink may reach beyond the line and the pen positions
SAME = 0.01  # squared difference of two images of a glyph, as a share of their squares
ALIKE = 40.0  # grey levels by which blurred glyphs of a look-alike differ
LIKELY = 12  # characters that an image may be
MOST_WORDS = 5  # that count for what an image stands for
UNKNOWN, LETTER = -8.0, -2.5  # log probability of a word that is not in the lexicon, and of each of its letters
UNKNOWN_COLUMN = 15.0  # nats of the ink in a column of a character that is not among the glyphs
LOOSE = 2  # px after a glyph that belong to its advance
HOLE = "\0"
SURE_MARKS = '.,-:;()"'  # those whose glyphs are cut out
MARKS = '.,;:!?"()“”‘’'  # around words


class _Image(NamedTuple):
    """An uncovered character, or what stands between two of them.

    Attributes:
        ink: Its image, with margins of `BEYOND`.
        beside: The characters directly before and after it.
        word: Its word, in which it is a `HOLE`.
        read: The character; empty if there is none.
    """

    ink: Gray
    beside: tuple[str, str]
    word: str
    read: str


def harvest(face: Typeface, strips: Sequence[tuple[Gray, int]]) -> Typeface:
    """Make a face whose glyphs are cut out of strips, and those of a look-alike for characters that do not occur.

    Args:
        face: The look-alike, in the size of the strips.
        strips: Darkness of images with nothing but a strip, and the row of the first baseline.
    """
    labels = _Labels(face)
    harvested = _with_glyphs(face, labels.soft_glyph)
    for sigma in ROUNDS:
        images: list[_Image] = []
        for ink, baseline in strips:
            covers, page = find_covers(ink), np.pad(ink, BEYOND + face.line_height)
            seen, unknown = (_soft(ink), math.inf) if sigma == ROUNDS[0] else (ink, UNKNOWN_COLUMN)
            for line, reading in read_lines(seen, seen, covers, harvested, baseline, sigma, unknown):
                images += _occurrences(page, line, reading) if reading.fit >= LEAST_READ else ()
        glyphs = _glyphs(labels.by_character(images), face)
        harvested = _with_glyphs(face, partial(_own_glyph, glyphs, face))
    return replace(harvested, name=f"glyphs {harvested.digest}, like {face.name}")


def _with_glyphs(face: Typeface, glyph: Callable[[str], Glyph | None]) -> Typeface:
    return replace(face, glyph=glyph)


def _own_glyph(glyphs: Mapping[str, Glyph], face: Typeface, text: str) -> Glyph | None:
    return glyphs.get(text) or face.glyph(text)


def _soft(ink: Gray) -> Gray:
    """Blur rows by about a pixel, so that strokes which are a pixel apart are alike."""
    wide = np.pad(ink, ((0, 0), (1, 1))).astype(np.uint16)
    return ((wide[:, :-2] + 2 * wide[:, 1:-1] + wide[:, 2:]) // 4).astype(np.uint8)


def _occurrences(page: Gray, line: CoveredLine, reading: LineReading) -> Iterable[_Image]:
    """Yield the images of uncovered characters of a line, and of what none is read in."""
    edge = (page.shape[1] - line.cell.width) // 2
    rows = slice(edge + line.top - BEYOND, edge + line.top + len(line.cell.ink) + BEYOND)
    placed = _with_holes(reading.characters)
    done = set()
    for characters in (placed, _with_wide_holes(placed), _with_early_holes(placed)):
        texts = [" ", *(character.text for character in characters), " "]
        for number, (text, begin, end) in enumerate(characters, start=1):
            clear = begin - BEYOND, end + BEYOND
            if (begin, end) in done or any(left < clear[1] and clear[0] < right for left, right in line.stretches):
                continue
            done.add((begin, end))
            before, after = "".join(texts[:number]), "".join(texts[number + 1 :])
            word = before[before.rfind(" ") + 1 :] + HOLE + after.partition(" ")[0]
            ink = page[rows, edge + clear[0] : edge + clear[1]]
            yield _Image(ink, (texts[number - 1], texts[number + 1]), word, text.strip(HOLE))


def _with_holes(placed: Sequence[PlacedCharacter]) -> list[PlacedCharacter]:
    """Put holes between characters where none is read."""
    separated = []
    for character, after in zip_longest(placed, placed[1:]):
        hole = after.begin - character.end if after else 0
        separated.append(character if hole > LOOSE else character._replace(end=character.end + hole))
        if after and hole > LOOSE:
            separated.append(PlacedCharacter(HOLE, character.end, after.begin))
    return separated


def _with_wide_holes(placed: Sequence[PlacedCharacter]) -> list[PlacedCharacter]:
    """Widen holes: they include the marks beside them, which may be strokes of the same glyph."""
    widened: list[PlacedCharacter] = []
    for character in placed:
        mark = not character.text.isalnum() and character.text != " "
        if (
            widened
            and mark
            and widened[-1].text != " "
            and not widened[-1].text.isalnum()
            and HOLE in widened[-1].text + character.text
        ):
            widened[-1] = PlacedCharacter(HOLE, widened[-1].begin, character.end)
        else:
            widened.append(character)
    return widened


def _with_early_holes(placed: Sequence[PlacedCharacter]) -> list[PlacedCharacter]:
    """Begin holes a column earlier after spaces, as glyphs begin with a blank one."""
    shifted: list[PlacedCharacter] = []
    for character in placed:
        early = character.text == HOLE and shifted and shifted[-1].text == " "
        shifted.append(character._replace(begin=character.begin - 1) if early else character)
    return shifted


class _Labels:
    """Tells which character an image is: by a look-alike, and by the words in which it stands."""

    def __init__(self, face: Typeface) -> None:
        self._face = face
        self._alphabet = face.character_templates.lexicon
        self._words = dict(zip(face.words.units, face.words.log_prior.tolist(), strict=True))
        self._spaced = bool(face.words.separator)

    def soft_glyph(self, text: str) -> Glyph | None:
        """Glyph of the look-alike, blurred by about a pixel; None if it has none."""
        glyph = self._face.glyph(text)
        if glyph is None or not glyph.ink.size:
            return glyph
        return replace(glyph, ink=_soft(np.pad(glyph.ink, ((0, 0), (1, 1)))), x=glyph.x - 1)

    @cached_property
    def _soft_templates(self) -> Templates:
        return Templates(self.soft_glyph, self._alphabet)

    def by_character(self, images: Sequence[_Image]) -> dict[str, list[_Image]]:
        """Group images by the character that they show; of several groups of equal images the largest counts."""
        widths = {image.ink.shape[1] for image in images}
        groups: dict[str, list[_Image]] = {}
        for width in sorted(widths):
            for group in _groups([image for image in images if image.ink.shape[1] == width]):
                text = self._text(group)
                if text and len(group) > len(groups.get(text, ())):
                    groups[text] = group
        return groups

    def _text(self, group: Sequence[_Image]) -> str:
        """Tell which character equal images show; empty if none is likely."""
        ink = _soft(group[0].ink)[BEYOND:-BEYOND, BEYOND:-BEYOND]
        if not ink.any():
            return " "
        templates, reads = self._soft_templates, Counter(image.read for image in group)
        letters = self._alphabet.alphabet
        codes = [
            code
            for code in np.flatnonzero(templates.advance == ink.shape[1]).tolist()
            # Marks are of many forms, and no word tells which of them is right.
            if letters[code].isalnum() or (letters[code] in SURE_MARKS and 2 * reads[letters[code]] > len(group))
        ]
        cell = VisibleCell(ink, np.ones(ink.shape, dtype=bool), self._face.baseline)
        energy = Energies(templates, cell, ahead=False).glyphs(np.array(codes, np.intp), np.zeros(len(codes), np.intp))
        score = self._alphabet.log_prior[codes] - energy / (2 * (ALIKE / STEP) ** 2)
        likely = {letters[codes[at]]: float(score[at]) for at in np.argsort(-score, kind="stable")[:LIKELY].tolist()}
        words = sorted({image.word for image in group if image.word.count(HOLE) == 1})[:MOST_WORDS]
        if self._spaced:
            likely = {
                text: value + sum(self._log_probability(word.replace(HOLE, text)) for word in words)
                for text, value in likely.items()
            }
        best = max(likely, key=lambda text: likely[text], default="")
        sure = 2 * reads[""] < len(group) or any(self._is_known(word.replace(HOLE, best)) for word in words)
        return best if sure else ""

    def _is_known(self, word: str) -> bool:
        return word.strip(MARKS) in self._words or word.strip(MARKS).isdecimal()

    def _log_probability(self, word: str) -> float:
        """Natural logarithm of a word's probability; each letter of a word that is not in the lexicon costs some."""
        word = word.strip(MARKS)
        unknown = UNKNOWN + LETTER * len(word)
        listed: float = self._words.get(word, unknown)
        return max(unknown, listed)


def _groups(images: Sequence[_Image]) -> Iterable[list[_Image]]:
    """Yield groups of nearly equal images of one width, the largest first."""
    inner = np.stack([image.ink[BEYOND:-BEYOND, BEYOND:-BEYOND].ravel() for image in images]).astype(np.float64)
    square = (inner**2).sum(axis=1)
    left = np.arange(len(images))
    apart = square[:, None] + square - 2 * product(inner, inner.T)
    same = apart <= SAME * np.minimum(square[:, None], square)
    while len(left):
        own = same[np.ix_(left, left)]
        group = left[own[own.sum(axis=1).argmax()]]
        yield [images[number] for number in group.tolist()]
        left = np.setdiff1d(left, group)


def _glyphs(images: Mapping[str, Sequence[_Image]], face: Typeface) -> dict[str, Glyph]:
    """Cut the glyph of each character out of the median of its images, without what is its neighbours'."""
    cores = {text: _middle([image.ink[:, BEYOND:-BEYOND] for image in own]) for text, own in images.items()}
    glyphs = {}
    for text, own in images.items():
        ink = _middle([image.ink for image in own])
        edge = _low([image.ink for image in own])
        ink[:BEYOND], ink[-BEYOND:] = edge[:BEYOND], edge[-BEYOND:]
        left = [_rest(i.ink[:, :BEYOND], cores[i.beside[0]][:, -BEYOND:]) for i in own if i.beside[0] in cores]
        right = [_rest(i.ink[:, -BEYOND:], cores[i.beside[1]][:, :BEYOND]) for i in own if i.beside[1] in cores]
        ink[:, :BEYOND] = _low(left) if left else 0
        ink[:, -BEYOND:] = _low(right) if right else 0
        glyphs[text] = _cut(ink, face.baseline)
    return glyphs


def _middle(inks: Sequence[Gray]) -> Gray:
    middle: Gray = np.sort(np.stack(inks), axis=0)[(len(inks) - 1) // 2]
    return middle.copy()


def _low(inks: Sequence[Gray]) -> Gray:
    low: Gray = np.sort(np.stack(inks), axis=0)[len(inks) // 10]
    return low


def _rest(ink: Gray, core: Gray) -> Gray:
    """Take the neighbour's ink from that beside a glyph."""
    rest = ink.astype(np.int16)
    rest[:, : core.shape[1]] -= core
    return rest.clip(0).astype(np.uint8)


def _cut(ink: Gray, baseline: int) -> Glyph:
    """Crop an image with margins of `BEYOND` to its ink."""
    advance = ink.shape[1] - 2 * BEYOND
    rows, columns = np.flatnonzero(ink.any(axis=1)), np.flatnonzero(ink.any(axis=0))
    if not len(rows):
        return Glyph(0, advance, advance, ink[:0, :0], 0, 0)
    ink = ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    x, y = int(columns[0]) - BEYOND, int(rows[0]) - BEYOND - baseline
    return Glyph(0, advance, max(advance, x + ink.shape[1]), ink, x, y)
