"""Font faces, their register, and the chain in which a character looks for its glyph."""

import hashlib
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import ImageFont

from vcrgen.errors import ConfigError, FontError
from vcrgen.files import sha256_file
from vcrgen.resources import resource_dir
from vcrgen.text.languages import LANGUAGES

MAX_FONT_BYTES = 128 << 20
MAX_EXTENTS = 100_000  # words whose widths are remembered


@dataclass(frozen=True, slots=True, kw_only=True)
class FontEntry:
    """One row of ``fonts/fonts.toml``."""

    name: str
    file: str
    family: str
    version: str
    languages: tuple[str, ...]
    role: str
    licence: str
    licence_file: str
    source: str
    sha256: str

    @property
    def path(self) -> Path:
        """The font file."""
        return resource_dir("fonts") / self.file


@cache
def font_register() -> dict[str, FontEntry]:
    """All shipped faces by name.

    Raises:
        FontError: A font file is missing or its bytes are not those of the register.
    """
    tables = tomllib.loads((resource_dir("fonts") / "fonts.toml").read_text("utf-8"))
    register = {name: _entry(name, row) for name, row in tables.items()}
    for entry in register.values():
        if not entry.path.is_file() or sha256_file(entry.path) != entry.sha256:
            raise FontError(f"The shipped font {entry.file} is missing or changed; install vcrgen again.")
    return register


def _entry(name: str, row: dict[str, Any]) -> FontEntry:
    return FontEntry(name=name, **row | {"languages": tuple(row["languages"])})


class Face:
    """One font file at one size, in Pillow's BASIC layout.

    Attributes:
        path: The font file.
        sha256: Hash of its bytes.
    """

    def __init__(self, path: Path, size: int) -> None:
        try:
            if path.stat().st_size > MAX_FONT_BYTES:
                raise FontError(f"The font {path} is larger than {MAX_FONT_BYTES >> 20} MiB.")
            self._font = ImageFont.truetype(path, size, layout_engine=ImageFont.Layout.BASIC)
        except OSError as error:
            why = error.strerror or "it is not a font that FreeType can open"
            raise FontError(f"The font {path} cannot be used: {why}.") from None
        self.path = path
        self.sha256 = sha256_file(path)

    @property
    def font(self) -> ImageFont.FreeTypeFont:
        """The face for Pillow's drawing functions."""
        return self._font

    @property
    def family(self) -> str:
        """The family's name as the file gives it."""
        return self._font.getname()[0] or self.path.stem

    @cached_property
    def characters(self) -> frozenset[int]:
        """Code points that have a glyph.

        Raises:
            FontError: The file has no character map that can be read.
        """
        from fontTools.ttLib import TTFont, TTLibError

        try:
            with TTFont(self.path, lazy=True, fontNumber=0) as font:
                return frozenset(font.getBestCmap() or ())
        except (TTLibError, KeyError, ValueError, AssertionError) as error:
            raise FontError(f"The character map of the font {self.path} cannot be read: {error}.") from None


@dataclass(frozen=True, slots=True, eq=False)
class Glyph:
    """One character, drawn once.

    Attributes:
        face: Index of the face in the chain.
        advance: Pixels to the next character.
        right: Pixels from the pen position to the right end of the ink, at least ``advance``.
        ink: Darkness, shape (height, width), 0 = nothing, 255 = black.
        x: Left end of ``ink``, in pixels from the pen position.
        y: Top of ``ink``, in pixels from the baseline, negative above it.
    """

    face: int
    advance: int
    right: int
    ink: npt.NDArray[np.uint8]
    x: int
    y: int


class FontChain:
    """Faces in order of preference; the first one that has a character draws it.

    Every character is measured and drawn once: in Pillow's BASIC layout a line is its characters side by side.

    Args:
        paths: Font files, the primary face first.
        size: Font size in pixels.

    Attributes:
        faces: The faces.
        line_height: Pixels between two baselines: 1.1 times the size.
        baseline: Pixels from the top of a line to its baseline.

    Raises:
        FontError: A file cannot be used.
    """

    def __init__(self, paths: Sequence[Path], *, size: int) -> None:
        self.faces = [Face(path, size) for path in paths]
        self.line_height = (11 * size + 5) // 10
        ascent, descent = self.faces[0].font.getmetrics()
        # Faces with a tall line gap (most CJK families) would leave the line at the bottom: centre them.
        self.baseline = ascent if ascent + descent <= 1.25 * size else (self.line_height + ascent - descent) // 2
        self._glyphs: dict[str, Glyph | None] = {}
        self._extents: dict[str, tuple[int, int]] = {}

    @property
    def digest(self) -> str:
        """Twelve hex digits that stand for the bytes of all faces, in order."""
        return hashlib.sha256("".join(face.sha256 for face in self.faces).encode()).hexdigest()[:12]

    def glyph(self, character: str) -> Glyph | None:
        """A character's glyph, or None if no face has it."""
        if character not in self._glyphs:
            self._glyphs[character] = self._draw(character)
        return self._glyphs[character]

    def _draw(self, character: str) -> Glyph | None:
        for index, face in enumerate(self.faces):
            if ord(character) in face.characters:
                advance = round(face.font.getlength(character))
                right = max(advance, round(face.font.getbbox(character)[2]))
                mask, (x, y) = face.font.getmask2(character, mode="L", anchor="ls")
                ink = np.array(mask, dtype=np.uint8).reshape(mask.size[::-1])
                return Glyph(index, advance, right, ink, x, y)
        return None

    def missing(self, text: str) -> list[str]:
        """Characters of ``text`` without a glyph, each once, in order."""
        return [character for character in dict.fromkeys(text) if self.glyph(character) is None]

    def advance(self, text: str) -> int:
        """Width of ``text`` in pixels, from pen position to pen position; a character without a glyph counts 0."""
        return sum(glyph.advance for glyph in map(self.glyph, text) if glyph)

    def extent(self, text: str) -> tuple[int, int]:
        """The advance of ``text``, and the right end of its ink, in pixels; remembered, so meant for words."""
        if text not in self._extents:
            if len(self._extents) >= MAX_EXTENTS:
                self._extents.clear()
            last = self.glyph(text[-1]) if text else None
            before = self.advance(text[:-1])
            self._extents[text] = (before + last.advance, before + last.right) if last else (before, before)
        return self._extents[text]


def default_chain(names: Sequence[str], *, size: int, first: Path | None = None) -> FontChain:
    """The chain of a language, with the user's own font before it.

    Args:
        names: Names in ``fonts.toml``, the primary face first.
        size: Font size in pixels.
        first: A font file that comes before them.
    """
    register = font_register()
    return FontChain([*([first] if first else []), *(register[name].path for name in names)], size=size)


def check_text(text: str, *, lang: str, font: Path | None = None) -> dict[str, str]:
    """Which face draws which characters of a text.

    Args:
        text: Any text; white space is not checked.
        lang: Code of the language whose chain is used.
        font: A font file put before the chain.

    Returns:
        Family to its characters, each once, in the order of the chain; those without a glyph under the empty name.

    Raises:
        ConfigError: The language is not known.
    """
    if lang not in LANGUAGES:
        raise ConfigError(f"Unknown language {lang!r}; known: {', '.join(LANGUAGES)}.")
    chain = default_chain(LANGUAGES[lang].fonts, size=20, first=font)  # coverage does not depend on the size
    glyphs = {character: chain.glyph(character) for character in dict.fromkeys(text) if not character.isspace()}
    coverage = {
        face.family: "".join(c for c, glyph in glyphs.items() if glyph and glyph.face == index)
        for index, face in enumerate(chain.faces)
    }
    coverage[""] = "".join(character for character, glyph in glyphs.items() if glyph is None)
    return {family: characters for family, characters in coverage.items() if characters}
