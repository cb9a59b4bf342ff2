"""Joined letters, ligatures, reordered vowel signs and lines of two directions: shaped and drawn by HarfBuzz.

The package ``uharfbuzz`` contains HarfBuzz, so drawings depend on its version and on nothing else of a system. Glyphs
are drawn from their outlines, without hints, at quarters of a pixel: whole pixels would tear joined letters apart.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from importlib.metadata import version
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import uharfbuzz as hb

from vcrgen.core.errors import FontError
from vcrgen.text.graphemes import clusters
from vcrgen.typeset.bidi import LEVEL_RULES, levels, visual_order
from vcrgen.typeset.fonts import Face, FontChain
from vcrgen.typeset.records import Glyph, PlacedGlyph
from vcrgen.typeset.shaping import Shaper, ink_reach, line_length

MAX_WORDS = 20_000  # words whose glyphs are cached
MAX_GLYPHS = 100_000  # cached drawings of glyphs, at each quarter of a pixel
UNIT = 64  # HarfBuzz units in a pixel
STEP = 16  # glyphs are drawn at multiples of these units
# Arabic and Devanagari reach further above and below the baseline than Latin letters. As shares of the font size:
LINE, BASELINE = 1.5, 1.0

# Scripts whose letters are drawn wrongly without a font's own rules: a letter, and OpenType's names of the script.
RULES = {"Arab": ("ب", {"arab"}), "Deva": ("क", {"deva", "dev2", "dev3"})}
_PIECE = re.compile(r"\s|\S+")
# Characters without ink that change other glyphs: joiners, and selectors of variants.
_UNDRAWN = re.compile("[\u200c\u200d\ufe00-\ufe0f]")


class Shaped(NamedTuple):
    """A glyph of a word; lengths in units (`UNIT`)."""

    start: int  # first character of the word that it stands for
    end: int  # the character after the last one
    face: int  # index of the face in the chain
    glyph_id: int  # number of the glyph in the face
    advance: int  # to the next pen position
    x: int  # from the pen position to the glyph's origin
    y: int  # from the baseline up to the glyph's origin


class GlyphRun(NamedTuple):
    """Glyphs of a part of a word with one face, one script and one direction."""

    level: int  # of the bidirectional algorithm
    glyphs: tuple[Shaped, ...]  # from left to right


class WordExtent(NamedTuple):
    """The width of a word or a space."""

    length: int  # characters
    advance: int  # in units
    before: int  # pixels of its ink before its first pen position
    behind: int  # the same behind its last one


class HarfBuzzShaper(Shaper):
    """Sets each word with HarfBuzz, and orders the runs of a line by the bidirectional algorithm.

    Args:
        chain: The fonts, at their size.

    Raises:
        FontError: The first font has the letters of a script and no rules that join them.
    """

    def __init__(self, chain: FontChain, direction: str) -> None:
        super().__init__(chain, direction)
        self.engine = f"uharfbuzz-{version('uharfbuzz')}+bidi-{LEVEL_RULES}"
        self.line_height = round(LINE * chain.size)
        self.baseline = round(BASELINE * chain.size)
        self._faces = [HarfBuzzFace(face, chain.size) for face in chain.faces]
        self._faces[0].check_rules()
        self._word = lru_cache(MAX_WORDS)(self._shape_word)
        self._extent = lru_cache(MAX_WORDS)(self._measure)
        self._glyph = lru_cache(MAX_GLYPHS)(self._draw)

    def shape(self, text: str, start: int, end: int) -> tuple[PlacedGlyph, ...]:
        """As `Shaper.shape`, with pen positions rounded to whole pixels and ink at quarters of a pixel."""
        placed = []
        pen = 0
        for offset, run in self.runs(text, start, end):
            for shaped in run.glyphs:
                pixel, next_pixel = (pen + UNIT // 2) // UNIT, (pen + shaped.advance + UNIT // 2) // UNIT
                x = (pen + shaped.x + STEP // 2) // STEP - pixel * UNIT // STEP
                y = (shaped.y + STEP // 2) // STEP
                glyph = self._glyph(shaped.face, shaped.glyph_id, x, y, next_pixel - pixel)
                placed.append(PlacedGlyph(offset + shaped.start, offset + shaped.end, pixel, glyph))
                pen += shaped.advance
        return tuple(placed)

    def outline(self, text: str, pen: Any) -> int:
        """Draw the outlines of a line with a pen of fontTools; returns its width. Both are in units (`UNIT`)."""
        from fontTools.pens.transformPen import TransformPen

        position = 0
        for _, run in self.runs(text, 0, len(text)):
            for shaped in run.glyphs:
                moved = TransformPen(pen, (1, 0, 0, 1, position + shaped.x, shaped.y))
                self._faces[shaped.face].outline(shaped.glyph_id, moved)
                position += shaped.advance
        return position

    def growing_width(self, text: str, start: int) -> Callable[[int], int]:
        """As `Shaper.growing_width`: widths of words add up, with some pixels more for their rounding and overhang."""
        pen, last = 0, start  # start of the last word, in units and in the text
        before = behind = 0  # the largest overhang of any word: words of two directions change places

        def width(end: int) -> int:
            nonlocal pen, last, before, behind
            extents = [self._extent(piece) for piece in _PIECE.findall(text[last:end]) or [""]]
            before, behind = max(before, *(e.before for e in extents)), max(behind, *(e.behind for e in extents))
            pen, last = pen + sum(e.advance for e in extents[:-1]), last + sum(e.length for e in extents[:-1])
            return -(-(pen + extents[-1].advance) // UNIT) + before + behind + 1  # pen positions are rounded

        return width

    def _measure(self, word: str) -> WordExtent:
        glyphs = self.shape(word, 0, len(word))
        advance = sum(shaped.advance for _, run in self.runs(word, 0, len(word)) for shaped in run.glyphs)
        reach = ink_reach(glyphs)
        return WordExtent(len(word), advance, -reach.left, reach.right - line_length(glyphs))

    def runs(self, text: str, start: int, end: int) -> list[tuple[int, GlyphRun]]:
        """Order the runs of a line from left to right, each with the start of its word in the text."""
        level = levels(text, self.direction)
        runs = [
            (start + piece.start(), run)
            for piece in _PIECE.finditer(text[start:end])
            for run in self._word(piece[0], level[start + piece.start() : start + piece.end()])
        ]
        return [runs[position] for position in visual_order([run.level for _, run in runs])]

    def _shape_word(self, word: str, level: tuple[int, ...]) -> tuple[GlyphRun, ...]:
        """Shape a word into runs in reading order, without characters that no face can draw."""
        if len(word) == 1:
            word = self.chain.faces[0].drawn_space(word)
        return tuple(
            GlyphRun(at_level, self._faces[face].shape(word, start, end, script, at_level, face))
            for start, end, at_level, face, script in self._stretches(word, level)
            if face is not None
        )

    def _stretches(self, word: str, level: tuple[int, ...]) -> Iterator[tuple[int, int, int, int | None, str]]:
        """Yield start, end, level, face and script of stretches in which the last three are constant."""
        parts = clusters(word)
        scripts = [next(filter(None, map(script_of, word[start:end])), "") for start, end in parts]
        script = next(filter(None, scripts), "")
        kinds = []
        for (start, end), own in zip(parts, scripts, strict=True):
            script = own or script  # digits and punctuation go with what is before them
            kinds.append((level[start], self._face_of(word[start:end], script), script))
        for kind, group in groupby(range(len(parts)), key=kinds.__getitem__):
            positions = list(group)
            yield parts[positions[0]][0], parts[positions[-1]][1], *kind

    def _face_of(self, cluster: str, script: str) -> int | None:
        """Index of the first face that draws a whole cluster; None if none does."""
        drawn = _UNDRAWN.sub("", cluster)
        return next((index for index, face in enumerate(self._faces) if face.draws(drawn, script)), None)

    def _draw(self, face: int, glyph_id: int, x: int, y: int, advance: int) -> Glyph:
        ink, left, top = self._faces[face].draw(glyph_id, x * STEP, y * STEP)
        return Glyph(face, advance, max(advance, left + ink.shape[1]), ink, left, top)


class HarfBuzzFace:
    """A face as HarfBuzz sees it.

    Args:
        size: Font size in pixels.
    """

    def __init__(self, face: Face, size: int) -> None:
        self._face = face
        opened = hb.Face(hb.Blob.from_file_path(str(face.path)), face.index)
        self._font = hb.Font(opened)
        self._font.scale = (size * UNIT, size * UNIT)
        self._rules = frozenset(opened.get_table_script_tags("GSUB"))
        self._pen = hb.RasterDraw()
        self._pen.scale_factor = (UNIT, UNIT)

    def check_rules(self) -> None:
        """Check that the face has the rules to draw its letters.

        Raises:
            FontError: It has letters of a script whose rules it lacks.
        """
        for script, (letter, _) in RULES.items():
            if ord(letter) in self._face.characters and not self._has_rules(script):
                raise FontError(
                    f"The font {self._face.path} has letters such as {letter} and no rules (a GSUB table) that say how "
                    "they are joined; choose another font."
                )

    def draws(self, letters: str, script: str) -> bool:
        """True if the face has the characters, whole or decomposed, and the script's rules."""
        characters = self._face.characters
        whole = all(ord(letter) in characters for letter in letters)
        parts = whole or all(ord(letter) in characters for letter in unicodedata.normalize("NFD", letters))
        return parts and self._has_rules(script)

    def _has_rules(self, script: str) -> bool:
        return script not in RULES or not self._rules.isdisjoint(RULES[script][1])

    def shape(self, word: str, start: int, end: int, script: str, level: int, face: int) -> tuple[Shaped, ...]:
        """Shape characters of a word; its other characters decide how the outer letters are joined."""
        buffer = hb.Buffer()
        buffer.add_codepoints([ord(character) for character in word], start, end - start)
        buffer.direction = "rtl" if level % 2 else "ltr"
        buffer.script = script or "Zyyy"
        buffer.language = "und"  # otherwise that of the machine
        hb.shape(self._font, buffer)
        infos, positions = buffer.glyph_infos, buffer.glyph_positions
        begins = sorted({info.cluster for info in infos})
        end_of = dict(zip(begins, [*begins[1:], end], strict=True))
        return tuple(
            Shaped(info.cluster, end_of[info.cluster], face, info.codepoint, at.x_advance, at.x_offset, at.y_offset)
            for info, at in zip(infos, positions, strict=True)
        )

    def outline(self, glyph_id: int, pen: Any) -> None:
        """Draw the outline of a glyph with a pen of fontTools, in units (`UNIT`), upwards from the baseline."""
        self._font.draw_glyph_with_pen(glyph_id, pen)

    def draw(self, glyph_id: int, x: int, y: int) -> tuple[npt.NDArray[np.uint8], int, int]:
        """Draw a glyph: its ink, its left end from the pen, and its top from the baseline, in pixels.

        Args:
            glyph_id: Number of the glyph in the face.
            x: From the pixel of the pen to its origin.
            y: From the baseline up to its origin.
        """
        self._pen.transform = (1, 0, 0, 1, x, y)
        self._pen.draw_glyph(self._font, glyph_id)
        image = self._pen.render()
        extents = image.extents
        if not (extents.width and extents.height):
            return np.zeros((0, 0), dtype=np.uint8), 0, 0
        rows = np.frombuffer(image.buffer, dtype=np.uint8).reshape(extents.height, extents.stride)
        ink = np.ascontiguousarray(rows[::-1, : extents.width])
        return ink, extents.x_origin, -(extents.y_origin + extents.height)


@cache
def script_of(character: str) -> str:
    """Script of a character, such as ``"Arab"``; "" for digits, marks and others of many scripts."""
    buffer = hb.Buffer()
    buffer.add_codepoints([ord(character)])
    buffer.guess_segment_properties()
    return str(buffer.script or "")
