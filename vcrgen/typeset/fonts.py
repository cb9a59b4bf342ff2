"""Font faces, their registry, and the chain of faces that draws a text."""

import contextlib
import difflib
import hashlib
import os
import struct
import sys
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import regex
from PIL import ImageFont

from vcrgen.core.errors import FontError
from vcrgen.core.files import sha256_file
from vcrgen.core.resources import resource_dir
from vcrgen.text.languages import LANGUAGES
from vcrgen.text.normalise import NO_BREAK_SPACES, SHAPED_SCRIPTS
from vcrgen.typeset.records import Glyph

MAX_FONT_BYTES = 128 << 20
VOICING_MARKS = "\u3099\u309a"  # that are combined with the kana before them
PRIVATE_USE = 0xE000
UNREADABLE = (LookupError, ValueError, TypeError, AttributeError, AssertionError, struct.error)
"""What fontTools raises besides errors of its own."""
# Letters and marks that are joined or stacked, or read from right to left.
_SHAPED = "".join(rf"\p{{Script={script}}}" for script in SHAPED_SCRIPTS)
_NOT_BY_ITSELF = regex.compile(rf"(?V1)[[\p{{L}}\p{{M}}]&&[\p{{Bidi_Class=R}}\p{{Bidi_Class=AL}}{_SHAPED}]]")
_BLANK = regex.compile(r"[\s\p{Default_Ignorable_Code_Point}]")

FontFile = Path | tuple[Path, int]
"""A font file, or a collection and the index of a face in it."""


def fetched_fonts_dir() -> Path:
    """Folder of fetched fonts: ``$VCRGEN_FONTS``, or in the user's cache."""
    if folder := os.environ.get("VCRGEN_FONTS"):
        return Path(folder)
    if sys.platform == "darwin":
        cached = Path.home() / "Library" / "Caches"
    elif sys.platform == "win32":
        cached = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        cached = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cached / "vcrgen" / "fonts"


@dataclass(frozen=True, slots=True, kw_only=True)
class FontEntry:
    """One row of ``fonts/fonts.toml``, whose head describes the fields."""

    name: str
    file: str
    index: int = 0
    family: str
    weight: str
    style: str
    version: str
    languages: tuple[str, ...]
    text: tuple[str, ...]
    role: str
    license: str
    license_file: str
    source: str
    sha256: str
    fetched: bool = False
    package_path: str = ""
    package_sha256: str = ""
    package_file: str = ""

    @property
    def path(self) -> Path:
        """The path of the font file, even if it is not fetched yet."""
        return (fetched_fonts_dir() if self.fetched else resource_dir("fonts")) / self.file

    @property
    def is_installed(self) -> bool:
        """True if the font file exists."""
        return self.path.is_file()

    @property
    def remedy(self) -> str:
        """The end of a sentence about a missing or changed file."""
        return f"fetch it with `vcrgen fonts fetch {self.name}`" if self.fetched else "install vcrgen again"

    def verified_path(self) -> Path:
        """Check the bytes of the font file, and return its path.

        Raises:
            FontError: It is missing, or its bytes are not those of the registry.
        """
        try:
            changed = _hash(self.path) != self.sha256
        except OSError:
            raise FontError(f"The font {self.name} is not on this machine; {self.remedy}.") from None
        if changed:
            raise FontError(f"The font file {self.path} is not the one of the registry; {self.remedy}.")
        return self.path


def _hash(path: Path) -> str:
    """SHA-256 of a file's bytes, in hex; cached while its size and modification time are the same."""
    status = path.stat()
    return _hash_of_state(path, status.st_size, status.st_mtime_ns)


@cache
def _hash_of_state(path: Path, _size: int, _changed: int) -> str:
    return sha256_file(path)


@cache
def font_registry() -> dict[str, FontEntry]:
    """All faces by name, including those to fetch; no font file is read."""
    tables = tomllib.loads((resource_dir("fonts") / "fonts.toml").read_text("utf-8"))
    return {name: _entry(name, row) for name, row in tables.items()}


def _entry(name: str, row: dict[str, Any]) -> FontEntry:
    scripts = {"languages": row.pop("scripts"), "text": row["text"]}
    codes = {
        key: tuple(code for code, language in LANGUAGES.items() if language.script in names)
        for key, names in scripts.items()
    }
    return FontEntry(name=name, **row | codes)


def text_faces(lang: str) -> tuple[str, ...]:
    """Names of shipped faces that may set a whole caption in a language, in the order of the registry.

    Fetched faces are not among them, so the result is the same on every machine.
    """
    return tuple(name for name, entry in font_registry().items() if lang in entry.text and not entry.fetched)


def find_font(name: str) -> FontEntry:
    """Find the entry of a name.

    Raises:
        FontError: There is no such name; the message has the nearest one.
    """
    register = font_registry()
    if name not in register:
        near = difflib.get_close_matches(name.lower().replace(" ", "-"), register, n=1)
        hint = f"did you mean {near[0]}?" if near else "`vcrgen fonts` lists the names."
        raise FontError(f"The font {name} cannot be used: there is no such file, and no font of that name; {hint}")
    return register[name]


def resolve_font(value: str | Path) -> tuple[Path, int]:
    """Resolve a font that a user names.

    Args:
        value: A font file, or a name in ``fonts.toml``; a file comes first.

    Returns:
        The file, and the index of the face in it.

    Raises:
        FontError: It is neither, or the file of the registry is missing or changed.
    """
    with contextlib.suppress(OSError):  # such as a path through a folder that may not be read
        if Path(value).is_file():
            return Path(value), 0
    entry = find_font(str(value))
    return entry.verified_path(), entry.index


class Face:
    """One face at one size, in Pillow's BASIC layout.

    Attributes:
        path: The font file.
        size: Font size in pixels.
        index: Index of the face in a collection.
        font: The face for Pillow's drawing functions.
        sha256: Hash of the file's bytes.
    """

    def __init__(self, path: Path, size: int, index: int = 0) -> None:
        try:
            if path.stat().st_size > MAX_FONT_BYTES:
                raise FontError(f"The font {path} is larger than {MAX_FONT_BYTES >> 20} MiB.")
            self.font = ImageFont.truetype(path, size, index=index, layout_engine=ImageFont.Layout.BASIC)
        except OSError as error:
            why = error.strerror or "it is not a font that FreeType can open"
            raise FontError(f"The font {path} cannot be used: {why}.") from None
        self.path = path
        self.size = size
        self.index = index
        self.sha256 = _hash(path)

    @property
    def family(self) -> str:
        """The family's name in the file."""
        return self.font.getname()[0] or self.path.stem

    @cached_property
    def characters(self) -> frozenset[int]:
        """Code points that have a glyph.

        Raises:
            FontError: The file has no character map that can be read.
        """
        return _characters(self.path, self.index, self.sha256)

    @cached_property
    def combined(self) -> tuple[Mapping[str, str], ImageFont.FreeTypeFont | None]:
        """Kana with a voicing mark that are one glyph, each as its character in a font, and that font."""
        data, characters = _combined_kana(self.path, self.index, self.sha256)
        font = ImageFont.truetype(BytesIO(data), self.size, layout_engine=ImageFont.Layout.BASIC) if data else None
        return characters, font

    def drawn_space(self, character: str) -> str:
        """Plain space for a no-break one that the face lacks; any other character itself."""
        return " " if character in NO_BREAK_SPACES and ord(character) not in self.characters else character


@lru_cache(maxsize=64)  # of all sizes of a face
def _characters(path: Path, index: int, sha256: str) -> frozenset[int]:
    """Read the code points that have a glyph in the face of a file with this hash; a FontError if it has no map."""
    from fontTools.ttLib import TTFont, TTLibError

    try:
        with TTFont(path, lazy=True, fontNumber=index) as font:
            return frozenset(font.getBestCmap() or ())
    except (TTLibError, KeyError, ValueError, AssertionError) as error:
        raise FontError(f"The character map of the font {path} cannot be read: {error}.") from None


@lru_cache(maxsize=64)
def _combined_kana(path: Path, index: int, sha256: str) -> tuple[bytes, dict[str, str]]:
    """Make a font with the glyphs of kana and marks that a face combines (its rules ``ccmp``), and their characters.

    Pillow draws no glyph without a character, so in that font they have private ones.
    """
    from fontTools.fontBuilder import FontBuilder
    from fontTools.subset import Options, Subsetter
    from fontTools.ttLib import TTFont, TTLibError

    try:
        with TTFont(path, lazy=True, fontNumber=index) as font:
            glyphs = dict(_combinations(font))
            characters = {text: chr(PRIVATE_USE + number) for number, text in enumerate(sorted(glyphs))}
            mapping = {ord(characters[text]): name for text, name in glyphs.items()}
            FontBuilder(font=font).setupCharacterMap(mapping)
            del font["GSUB"]  # quicker
            subsetter = Subsetter(Options(notdef_outline=True))
            subsetter.populate(unicodes=list(mapping))
            subsetter.subset(font)
            font.save(data := BytesIO())
    except (*UNREADABLE, TTLibError, Subsetter.SubsettingError):
        return b"", {}  # the face combines none, or by rules that cannot be read
    return (data.getvalue(), characters) if glyphs else (b"", {})


def _combinations(font: Any) -> Iterator[tuple[str, str]]:
    """Yield kana with a mark and the name of the glyph for both, by the rules ``ccmp`` of an opened font."""
    character_of = {name: chr(code) for code, name in font.getBestCmap().items()}
    marks = {name for name, character in character_of.items() if character in VOICING_MARKS}
    rules = font["GSUB"].table
    numbers = {
        number
        for record in rules.FeatureList.FeatureRecord
        if record.FeatureTag == "ccmp"
        for number in record.Feature.LookupListIndex
    }
    for subtable in (subtable for number in sorted(numbers) for subtable in rules.LookupList.Lookup[number].SubTable):
        for first, ligatures in getattr(getattr(subtable, "ExtSubTable", subtable), "ligatures", {}).items():
            for ligature in ligatures:
                if first in character_of and len(ligature.Component) == 1 and ligature.Component[0] in marks:
                    yield character_of[first] + character_of[ligature.Component[0]], ligature.LigGlyph


def line_height(size: int) -> int:
    """Pixels between two baselines in a font size: 1.1 times the size, as in VCR-WIKI."""
    return (11 * size + 5) // 10


class FontChain:
    """Faces in order of preference; the first one that has a character draws it.

    Args:
        size: Font size in pixels.

    Attributes:
        faces: The faces.
        size: Font size in pixels.
        line_height: Pixels between two baselines: 1.1 times the size.
        baseline: Pixels from the top of a line to its baseline.
        glyph: Function from a character, or a kana and a voicing mark that the first face combines, to its isolated
            glyph; None if no face has it, or if it is a letter that is joined or stacked, or read from right to left.
            No-break spaces that the first face lacks are its plain ones.

    Raises:
        FontError: A file cannot be used.
    """

    def __init__(self, files: Sequence[FontFile], *, size: int) -> None:
        pairs = [file if isinstance(file, tuple) else (file, 0) for file in files]
        self.faces = [Face(path, size, index) for path, index in pairs]
        self.size = size
        self.line_height = line_height(size)
        # A cover is a share of the line, so letters have to stand where those of VCR-WIKI's faces do, at ascents of
        # 0.88 and 0.91 of the size. Other faces' ascents go from 0.75 (Carlito) to 1.16 (Noto CJK).
        ascent = self.faces[0].font.getmetrics()[0]
        self.baseline = min(max(ascent, -(-7 * size // 8)), -(-11 * size // 12))
        self.glyph: Callable[[str], Glyph | None] = cache(self._draw)

    @property
    def digest(self) -> str:
        """Twelve hex digits of a hash of all faces, in order."""
        faces = (f"{face.sha256}#{face.index}" if face.index else face.sha256 for face in self.faces)
        return hashlib.sha256("".join(faces).encode()).hexdigest()[:12]

    def first_with(self, letters: Collection[str]) -> int:
        """Index of the first face that has all letters; 0 if none has."""
        whole = (all(ord(letter) in face.characters for letter in letters) for face in self.faces)
        return next((index for index, is_whole in enumerate(whole) if is_whole), 0)

    def led_by(self, index: int) -> "FontChain":
        """Make the chain with one of its faces, by index, before the others."""
        faces = [self.faces[index], *self.faces[:index], *self.faces[index + 1 :]]
        return FontChain([(face.path, face.index) for face in faces], size=self.size)

    def _draw(self, character: str) -> Glyph | None:
        if len(character) > 1:
            characters, font = self.faces[0].combined
            return _draw_glyph(0, font, characters[character]) if font and character in characters else None
        character = self.faces[0].drawn_space(character)
        for index, face in enumerate(() if _NOT_BY_ITSELF.match(character) else self.faces):
            if ord(character) in face.characters:
                glyph = _draw_glyph(index, face.font, character)
                # Some faces have empty glyphs for letters that they lack.
                if glyph.ink.any() or _BLANK.match(character):
                    return glyph
        return None


def _draw_glyph(face: int, font: ImageFont.FreeTypeFont, character: str) -> Glyph:
    advance = round(font.getlength(character))
    right = max(advance, round(font.getbbox(character)[2]))
    mask, (x, y) = font.getmask2(character, mode="L", anchor="ls")
    ink = np.array(mask, dtype=np.uint8).reshape(mask.size[::-1])
    rows, columns = np.flatnonzero(ink.any(axis=1)), np.flatnonzero(ink.any(axis=0))
    if not rows.size:
        return Glyph(face, advance, right, ink, x, y)
    top, left = int(rows[0]), int(columns[0])  # a strip grows by what ink needs, not by empty edges of drawings
    return Glyph(face, advance, right, ink[top : rows[-1] + 1, left : columns[-1] + 1], x + left, y + top)


def default_chain(names: Sequence[str], *, size: int, first: FontFile | None = None) -> FontChain:
    """Open the chain of a language, with the user's own font before it.

    Args:
        names: Names in ``fonts.toml``, the primary face first.
        size: Font size in pixels.
        first: A font file that comes before them.

    Raises:
        FontError: A name is unknown, or a file is missing, changed or no font.
    """
    entries = map(find_font, names)
    files = [(entry.verified_path(), entry.index) for entry in entries]
    return FontChain([*([first] if first else []), *files], size=size)
