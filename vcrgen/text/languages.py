"""The table of languages, ``languages.toml``. To add a language, add a row and a folder of data, no Python."""

import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Literal

from vcrgen.core.errors import ConfigError
from vcrgen.core.records import Mode

TARGET_BAND = 0.1  # share of ink on either side of a cover's target


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverTarget:
    """The visible ink that a cover aims at, in any font."""

    visible: float  # share of the span's ink that stays visible: the median of VCR-WIKI's public test set
    above: float  # share of the visible ink above the cover: that of VCR-WIKI's covers in the default font

    def contains(self, visible_ink: float) -> bool:
        """Return true if a span's visible ink is near the target; otherwise its letters are all tall or all short."""
        return abs(visible_ink - self.visible) <= TARGET_BAND


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageRow:
    """One language. Its word lists, sample and captions are in the folder ``vcrgen/text/CODE``.

    Attributes:
        script: First word of the Unicode names of its letters, such as ``"LATIN"``. Tells its texts from those of other
            languages, and which fonts can set it.
        other_scripts: The other scripts of one text, as in Japanese; ``script`` is then the one that no other language
            has.
        break_unit: Unit without line breaks: ``"word"`` (between spaces), or ``"uax14"``, a character with the marks
            that UAX #14 ties to it: no line begins with a closing one.
        word_boundaries: Words are delimited by spaces. A span has to begin and end where a written word does, and a
            sensitive term is matched as a whole word.
        particles: Particles are written to the end of words, so a sensitive term is matched inside words as well.
        sentence_enders: Tokens that end a sentence; empty for the full stops of all scripts, as spaCy lists them.
        extra: The extra that installs the packages of its segmenter; empty if they are always installed.
        segmenter: Cuts outputs of models into tokens: ``"spacy"`` for spaCy's blank tokenizer of the language, or
            ``module:function`` that makes a `vcrgen.text.segmenters.Segmenter` of the same tokens.
        fonts: Names of the default font chain in ``fonts/fonts.toml``; the first face that has a glyph draws it.
        cover_targets: The targets of easy and hard; ``typeset/calibrate.py`` finds the covers for a font.
        ink_by_bits: Of the modes that go by bits: the visible ink of covers that hide whole letters, by the least bits.
    """

    code: str  # ISO 639-1 code
    name: str  # English name
    script: str
    other_scripts: tuple[str, ...] = ()
    direction: Literal["ltr", "rtl"] = "ltr"  # where lines begin: ``"ltr"`` at the left, ``"rtl"`` at the right
    shaper: str = "basic"  # a key of ``typeset.style.SHAPERS``; the basic one sets one glyph a character
    cursive: bool = False  # the letters of a word are joined, so no letter is read by itself
    joiner: str  # between two units of a line and between two lines
    break_unit: Literal["word", "uax14"]
    word_boundaries: bool
    particles: bool = False
    sentence_enders: tuple[str, ...]
    extra: str = ""
    segmenter: str
    pipeline: str  # ``module:function`` that makes the built-in spaCy pipeline from the row
    eligibility: str  # name and version of the built-in eligibility rules, for the signature
    fonts: tuple[str, ...]
    one_face: bool = False  # a face that has all letters of a caption comes first, so that no caption stands in two
    cover_targets: Mapping[Mode, CoverTarget]
    ink_by_bits: Mapping[int, float]
    # Name of the language of these targets, if no public dataset of its own could be measured. A target is a share of
    # ink, not rows, so it hides as much of letters with accents.
    targets_of: str = ""
    question: str  # ST, the question put to the model
    gap_marker: str  # replaces a masked span in the caption of the text-only baseline
    text_only_prompt: str  # its prompt: ``{text}`` is the caption with gap markers, ``{question}`` the question

    def cover_target(self, mode: Mode) -> CoverTarget:
        """The target of a mode; for a level of ink, the ink above the cover is interpolated between easy and hard."""
        if mode.bits:
            return CoverTarget(visible=self.ink_by_bits[mode.bits], above=0.5)
        if mode.ink is None:
            return self.cover_targets[mode]
        (low, below), (high, over) = sorted((target.visible, target.above) for target in self.cover_targets.values())
        between = min(max(mode.ink, low), high) - low
        return CoverTarget(visible=mode.ink, above=(over - below) / (high - low) * between + below)

    @property
    def wiki_break_unit(self) -> str:
        """The unit that VCR-WIKI has for `break_unit`: ``"word"``, or ``"character"``, also before closing marks."""
        return "word" if self.word_boundaries else "character"

    def count_units(self, text: str) -> int:
        """The number of words, or of characters without white space, as lines break between them."""
        words = text.split()
        return len(words) if self.break_unit == "word" else sum(map(len, words))

    @property
    def length_unit(self) -> str:
        """The unit of `count_units`, plural."""
        return "words" if self.break_unit == "word" else "characters"

    @property
    def scripts(self) -> frozenset[str]:
        """``script`` and the other scripts."""
        return frozenset({self.script, *self.other_scripts})

    @property
    def own_scripts(self) -> frozenset[str]:
        """``script``, and those of the other scripts that are ``script`` of no other language."""
        return frozenset({self.script} | {*self.other_scripts} - {row.script for row in LANGUAGES.values()})

    def letters_of_script(self, text: str) -> set[str]:
        """Distinct letters of a text in the language's scripts."""
        return {letter for letter in {*text} if letter.isalpha() and script_of(letter) in self.scripts}

    def accepts_script_of(self, text: str) -> bool:
        """Return true if a text has a letter of the language's scripts, or no letter at all."""
        return bool(self.letters_of_script(text)) or not any(map(str.isalpha, text))


def _read_rows() -> dict[str, LanguageRow]:
    """Read the table, in its order; a row with ``targets_of`` has the covers' targets of another one."""
    table = tomllib.loads((files("vcrgen.text") / "languages.toml").read_text("utf-8"))
    rows = {}
    for code, row in table.items():
        origin = table[row.get("targets_of", code)]
        values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in row.items()}
        values["cover_targets"] = MappingProxyType(
            {Mode(mode): CoverTarget(**share) for mode, share in origin["cover_targets"].items()}
        )
        values["ink_by_bits"] = MappingProxyType({int(bits): ink for bits, ink in origin["ink_by_bits"].items()})
        values["targets_of"] = table[row["targets_of"]]["name"] if "targets_of" in row else ""
        rows[code] = LanguageRow(code=code, **values)
    return rows


LANGUAGES: Mapping[str, LanguageRow] = MappingProxyType(_read_rows())


def language_row(code: str) -> LanguageRow:
    """The row of a language code.

    Raises:
        ConfigError: No language has that code.
    """
    if code not in LANGUAGES:
        raise ConfigError(f"Unknown language {code!r}; known: {', '.join(LANGUAGES)}.")
    return LANGUAGES[code]


def guess_language(texts: Iterable[str]) -> str:
    """The code of the first language whose script most letters are in, or the first code of the table.

    Languages of one script are not distinguished: texts in French, Spanish or German count as English. Of two languages
    that share a script (Japanese has Chinese characters) the one with more scripts comes first, if at least a tenth of
    the letters are of scripts that the other one lacks.
    """
    scripts = Counter[str]()
    for char, count in Counter(char for text in texts for char in text if char.isalpha()).items():
        scripts[script_of(char)] += count
    for row in sorted(LANGUAGES.values(), key=lambda row: -len(row.other_scripts)):
        written = sum(scripts[script] for script in row.scripts)
        own = sum(scripts[script] for script in row.own_scripts)
        if 2 * written > scripts.total() and 10 * own >= scripts.total():
            return row.code
    return next(iter(LANGUAGES))


def script_of(letter: str) -> str:
    """The first word of a letter's Unicode name, as ``LATIN``; empty for a letter without a name."""
    return re.split("[ -]", unicodedata.name(letter, ""), maxsplit=1)[0]
