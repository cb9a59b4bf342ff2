"""What a language is: a row in one table. Adding a language is adding a row and its lexicon, not an ``if``."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from vcrgen.records import Mode

BAND = 0.1  # share of ink on either side of a cover's target


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverTarget:
    """What a cover leaves of a span, whatever the font.

    Attributes:
        visible: Share of the span's ink that stays visible: the median of VCR-WIKI's public test set.
        above: Share of the visible ink that stands above the cover: in the default font under VCR-WIKI's covers.
    """

    visible: float
    above: float

    def holds(self, visible_ink: float) -> bool:
        """Whether a span's visible ink is in the band around the target; outside, its letters are all tall or short."""
        return abs(visible_ink - self.visible) <= BAND


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
        covers: What the cover of each mode leaves; ``typeset/calibrate.py`` finds the rows for a font.
        question: ST, the question put to the model.
        shaper: What places the glyphs of a line: a name of ``SHAPERS`` in ``typeset/style.py``.
        direction: Where a line begins: ``"ltr"`` at its left end, ``"rtl"`` at its right end.
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
    covers: Mapping[Mode, CoverTarget]
    question: str
    shaper: str = "basic"
    direction: str = "ltr"

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
        covers=MappingProxyType(
            {Mode.EASY: CoverTarget(visible=0.48, above=0.57), Mode.HARD: CoverTarget(visible=0.27, above=0.61)}
        ),
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
        covers=MappingProxyType(
            {Mode.EASY: CoverTarget(visible=0.63, above=0.57), Mode.HARD: CoverTarget(visible=0.28, above=0.58)}
        ),
        question="图像中被覆盖的文本是什么？请在不输出解释的情况下还原被覆盖的文本。",
    ),
)

LANGUAGES: Mapping[str, LanguageRow] = MappingProxyType({row.code: row for row in _ROWS})
