"""What a language is: a row in one table. Adding a language is adding a row and its lexicon, not an ``if``."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from vcrgen.records import Mode


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """The part of a line that a cover hides, as shares of the line height from the line's top."""

    top: float
    bottom: float

    def rows(self, line_height: int) -> range:
        """The covered pixel rows of a line of ``line_height`` pixels, the top row of the line being 0."""
        return range(int(self.top * line_height), int(self.bottom * line_height) + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageRow:
    """One language.

    Attributes:
        code: ISO 639-1 code.
        name: English name.
        joiner: What stands between two units of a line and between two lines.
        break_unit: Where lines break: between words or between any two characters.
        word_boundaries: Whether a span has to begin and end at a boundary of written words.
        pipeline: ``module:function`` that makes the built-in spaCy pipeline.
        eligibility: Name and version of the built-in eligibility rules, for the signature.
        whole_words: Whether sensitive terms match whole words only.
        fonts: Names of the default font chain in ``fonts/fonts.toml``; the first face that has a glyph draws it.
        bands: The cover of each mode (measured on VCR-WIKI, see the README).
        question: ST, the question put to the model.
    """

    code: str
    name: str
    joiner: str
    break_unit: str
    word_boundaries: bool
    pipeline: str
    eligibility: str
    whole_words: bool
    fonts: tuple[str, ...]
    bands: Mapping[Mode, Band]
    question: str

    def count_units(self, text: str) -> int:
        """Words or characters (white space not counted), whichever lines break between."""
        words = text.split()
        return len(words) if self.break_unit == "word" else sum(map(len, words))


_ROWS = (
    LanguageRow(
        code="en",
        name="English",
        joiner=" ",
        break_unit="word",
        word_boundaries=True,
        pipeline="vcrgen.text.names_en:english_pipeline",
        eligibility="builtin-en-1",
        whole_words=True,
        fonts=("liberation-sans", "dejavu-sans", "droid-sans-fallback"),
        bands=MappingProxyType({Mode.EASY: Band(top=0.46, bottom=0.77), Mode.HARD: Band(top=0.41, bottom=0.80)}),
        question=(
            "What is the covered texts in the image? "
            "Please restore the covered texts without outputting the explanations."
        ),
    ),
    LanguageRow(
        code="zh",
        name="Chinese",
        joiner="",
        break_unit="character",
        word_boundaries=False,
        pipeline="vcrgen.text.names_zh:chinese_pipeline",
        eligibility="builtin-zh-1",
        whole_words=False,
        fonts=("ar-pl-sungti-gb", "droid-sans-fallback", "dejavu-sans"),
        bands=MappingProxyType({Mode.EASY: Band(top=0.38, bottom=0.62), Mode.HARD: Band(top=0.26, bottom=0.75)}),
        question="图像中被覆盖的文本是什么？请在不输出解释的情况下还原被覆盖的文本。",
    ),
)

LANGUAGES: Mapping[str, LanguageRow] = MappingProxyType({row.code: row for row in _ROWS})
