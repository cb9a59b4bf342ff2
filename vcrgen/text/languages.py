"""What a language is: a row in one table. Adding a language is adding a row and a folder of data, not an ``if``."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from vcrgen.errors import ConfigError
from vcrgen.records import Mode

BAND = 0.1  # share of ink on either side of a cover's target


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverTarget:
    """What a cover leaves of a span, whatever the font."""

    visible: float  # share of the span's ink that stays visible: the median of VCR-WIKI's public test set
    above: float  # share of the visible ink that stands above the cover: in the default font under VCR-WIKI's covers

    def holds(self, visible_ink: float) -> bool:
        """Whether a span's visible ink is in the band around the target; outside, its letters are all tall or short."""
        return abs(visible_ink - self.visible) <= BAND


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageRow:
    """One language. What does not fit in a row is in the folder ``vcrgen/text/CODE``: word lists, sample, captions.

    Attributes:
        script: First word of the Unicode names of its letters, such as ``"LATIN"``. Tells its texts from those of other
            languages, and which fonts can set it.
        other_scripts: Where letters of several scripts stand in one text, as in Japanese, the others: ``script`` is
            then the one that no other language has.
        break_unit: What no line ends inside: ``"word"`` is what stands between spaces, ``"character"`` any character,
            ``"uax14"`` a character with the marks that UAX #14 ties to it: no line begins with a closing one.
        word_boundaries: Whether words are written apart, so that a span has to begin and end where a written word does,
            and a sensitive term is looked for as a whole word.
        particles: Whether particles are written to the end of words, so that a sensitive term is looked for inside
            words after all.
        sentence_enders: Tokens that end a sentence; empty for the full stops of all scripts, as spaCy lists them.
        extra: Name of the extra with which the packages of its segmenter are installed; empty where they always are.
        segmenter: Cuts outputs of models into tokens: ``"spacy"`` for spaCy's blank tokenizer of the language, or
            ``module:function`` that makes a :class:`~vcrgen.text.segmenters.Segmenter` of the same tokens.
        fonts: Names of the default font chain in ``fonts/fonts.toml``; the first face that has a glyph draws it.
        covers: What the covers of easy and hard leave; ``typeset/calibrate.py`` finds the rows for a font.
    """

    code: str  # ISO 639-1 code
    name: str  # English name
    script: str
    other_scripts: tuple[str, ...] = ()
    direction: Literal["ltr", "rtl"] = "ltr"  # where lines begin: ``"ltr"`` at the left, ``"rtl"`` at the right
    shaper: str = "basic"  # what places the glyphs of a line; this one gives each character one, from left to right
    cursive: bool = False  # whether the letters of a word are joined, so that no letter is read by itself
    joiner: str  # what stands between two units of a line and between two lines
    break_unit: Literal["word", "character", "uax14"]
    word_boundaries: bool
    particles: bool = False
    sentence_enders: tuple[str, ...]
    extra: str = ""
    segmenter: str
    pipeline: str  # ``module:function`` that makes the built-in spaCy pipeline from the row
    eligibility: str  # name and version of the built-in eligibility rules, for the signature
    trained_pipeline: (
        str  # the usual trained spaCy pipeline, which the published scorers use, too; empty if there is none
    )
    fonts: tuple[str, ...]
    covers: Mapping[Mode, CoverTarget]
    # Name of the language whose covers these are, where no public dataset of its own could be measured. A target is a
    # share of ink, not rows, so it hides as much of letters with accents.
    covers_of: str = ""
    question: str  # ST, the question put to the model
    covered: str  # what stands for a covered text where a model is asked without an image
    words: str  # what it is asked then: ``{text}`` is the caption with its gaps, ``{question}`` is the question

    def cover(self, mode: Mode) -> CoverTarget:
        """What the cover of a mode leaves; that of a level has as much ink above it as named covers near to it."""
        if mode.ink is None:
            return self.covers[mode]
        (low, below), (high, over) = sorted((target.visible, target.above) for target in self.covers.values())
        between = min(max(mode.ink, low), high) - low
        return CoverTarget(visible=mode.ink, above=(over - below) / (high - low) * between + below)

    def count_units(self, text: str) -> int:
        """Words or characters (white space not counted), whichever lines break between."""
        words = text.split()
        return len(words) if self.break_unit == "word" else sum(map(len, words))

    @property
    def counted(self) -> str:
        """What :meth:`count_units` counts."""
        return "words" if self.break_unit == "word" else "characters"

    @property
    def own_scripts(self) -> frozenset[str]:
        """``script``, and those of the other scripts that are ``script`` of no other language."""
        return frozenset({self.script} | {*self.other_scripts} - {row.script for row in _ROWS})

    def may_write(self, text: str) -> bool:
        """Whether a text has a letter of the language's own scripts, or none of any script."""
        letters, own = list(filter(str.isalpha, text)), self.own_scripts
        return not letters or any(_script_of(letter) in own for letter in letters)


_LATIN_FONTS = ("liberation-sans", "dejavu-sans", "droid-sans-fallback")
_CYRILLIC_FONTS = ("liberation-sans", "dejavu-sans")
_LATIN_COVERS = MappingProxyType(
    {Mode.EASY: CoverTarget(visible=0.48, above=0.57), Mode.HARD: CoverTarget(visible=0.27, above=0.61)}
)
_ARABIC_FONTS = ("noto-sans-arabic", "dejavu-sans")
_DEVANAGARI_FONTS = ("noto-sans-devanagari", "dejavu-sans")
_BY_MORPHEMES = "vcrgen.text.names_morphemes:morpheme_pipeline"
_BY_CAPITALS = "vcrgen.text.names_capitals:capitals_pipeline"

_ROWS = (
    LanguageRow(
        code="en", name="English", script="LATIN",
        joiner=" ", break_unit="word", word_boundaries=True, sentence_enders=(), segmenter="spacy",
        pipeline=_BY_CAPITALS, eligibility="builtin-en-1", trained_pipeline="en_core_web_sm",
        fonts=_LATIN_FONTS, covers=_LATIN_COVERS,
        question="What is the covered texts in the image? "
        "Please restore the covered texts without outputting the explanations.",
        # As the VCR repository (b3be5a9) words it, here and in Chinese.
        covered="[covered]",
        words="Text context in image starts with:{text} Text context in image ends here. Question: {question}",
    ),
    LanguageRow(
        code="zh", name="Chinese", script="CJK",
        joiner="", break_unit="character", word_boundaries=False,
        # ； too: what stands on its two sides is as independent as what stands around a full stop.
        sentence_enders=("。", "！", "？", "!", "?", "；"), segmenter="vcrgen.text.jieba_zh:jieba",
        pipeline="vcrgen.text.names_zh:chinese_pipeline", eligibility="builtin-zh-2", trained_pipeline="zh_core_web_sm",
        fonts=("ar-pl-sungti-gb", "droid-sans-fallback", "dejavu-sans"),
        covers=MappingProxyType(
            {Mode.EASY: CoverTarget(visible=0.63, above=0.57), Mode.HARD: CoverTarget(visible=0.28, above=0.58)}
        ),
        question="图像中被覆盖的文本是什么？请在不输出解释的情况下还原被覆盖的文本。",
        covered="[被覆盖]", words="图片中的文字：{text}图片中的文字结束。问题：{question}",
    ),
    LanguageRow(
        code="fr", name="French", script="LATIN",
        joiner=" ", break_unit="word", word_boundaries=True, sentence_enders=(".", "!", "?"), segmenter="spacy",
        pipeline=_BY_CAPITALS, eligibility="builtin-fr-1", trained_pipeline="fr_core_news_sm",
        fonts=_LATIN_FONTS, covers=_LATIN_COVERS, covers_of="English",
        question="Quels sont les textes masqués dans l'image ? "
        "Veuillez restituer les textes masqués sans donner d'explications.",
        covered="[masqué]",
        words="Le texte dans l'image commence ainsi : {text} Fin du texte dans l'image. Question : {question}",
    ),
    LanguageRow(
        code="es", name="Spanish", script="LATIN",
        joiner=" ", break_unit="word", word_boundaries=True, sentence_enders=(".", "!", "?"), segmenter="spacy",
        pipeline=_BY_CAPITALS, eligibility="builtin-es-1", trained_pipeline="es_core_news_sm",
        fonts=_LATIN_FONTS, covers=_LATIN_COVERS, covers_of="English",
        question="¿Cuáles son los textos tapados de la imagen? Restaure los textos tapados sin dar explicaciones.",
        covered="[tapado]",
        words="El texto de la imagen empieza así: {text} Fin del texto de la imagen. Pregunta: {question}",
    ),
    LanguageRow(
        code="pt", name="Portuguese", script="LATIN",
        joiner=" ", break_unit="word", word_boundaries=True, sentence_enders=(".", "!", "?"), segmenter="spacy",
        pipeline=_BY_CAPITALS, eligibility="builtin-pt-1", trained_pipeline="pt_core_news_sm",
        fonts=_LATIN_FONTS, covers=_LATIN_COVERS, covers_of="English",
        question="Quais são os textos tapados na imagem? Restaure os textos tapados sem dar explicações.",
        covered="[tapado]",
        words="O texto na imagem começa assim: {text} Fim do texto na imagem. Pergunta: {question}",
    ),
    LanguageRow(
        code="ru", name="Russian", script="CYRILLIC",
        joiner=" ", break_unit="word", word_boundaries=True, sentence_enders=(".", "!", "?"), segmenter="spacy",
        pipeline=_BY_CAPITALS, eligibility="builtin-ru-1", trained_pipeline="ru_core_news_sm",
        fonts=_CYRILLIC_FONTS, covers=_LATIN_COVERS, covers_of="English",
        question="Какие тексты закрыты на изображении? Восстановите закрытые тексты без пояснений.",
        covered="[закрыто]",
        words="Текст на изображении начинается так: {text} Конец текста на изображении. Вопрос: {question}",
    ),
    LanguageRow(
        code="de", name="German", script="LATIN",
        joiner=" ", break_unit="word", word_boundaries=True, sentence_enders=(".", "!", "?"), segmenter="spacy",
        pipeline=_BY_CAPITALS, eligibility="builtin-de-1", trained_pipeline="de_core_news_sm",
        fonts=_LATIN_FONTS, covers=_LATIN_COVERS, covers_of="English",
        question="Wie lauten die verdeckten Texte im Bild? Stelle die verdeckten Texte ohne Erklärungen wieder her.",
        covered="[verdeckt]",
        words="Der Text im Bild beginnt so: {text} Ende des Textes im Bild. Frage: {question}",
    ),
    LanguageRow(
        code="ar", name="Arabic", script="ARABIC", direction="rtl", shaper="joined", cursive=True,
        joiner=" ", break_unit="word", word_boundaries=True, sentence_enders=(".", "!", "?", "؟"), segmenter="spacy",
        pipeline=_BY_CAPITALS, eligibility="builtin-ar-1", trained_pipeline="",
        fonts=_ARABIC_FONTS, covers=_LATIN_COVERS, covers_of="English",
        question="ما هي النصوص المغطاة في الصورة؟ يرجى استعادة النصوص المغطاة دون تقديم شرح.",
        covered="[مغطى]",
        words="يبدأ النص في الصورة هكذا: {text} نهاية النص في الصورة. السؤال: {question}",
    ),
    LanguageRow(
        code="hi", name="Hindi", script="DEVANAGARI", shaper="joined",
        joiner=" ", break_unit="word", word_boundaries=True, sentence_enders=("।", "॥", ".", "!", "?"),
        segmenter="spacy", pipeline=_BY_CAPITALS, eligibility="builtin-hi-1", trained_pipeline="",
        fonts=_DEVANAGARI_FONTS, covers=_LATIN_COVERS, covers_of="English",
        question="चित्र में ढका हुआ पाठ क्या है? कृपया बिना किसी व्याख्या के ढके हुए पाठ को पुनः लिखिए।",
        covered="[ढका हुआ]",
        words="चित्र का पाठ इस प्रकार शुरू होता है: {text} चित्र का पाठ यहाँ समाप्त होता है। प्रश्न: {question}",
    ),
    LanguageRow(
        code="ja", name="Japanese", script="HIRAGANA", other_scripts=("KATAKANA", "CJK"),
        joiner="", break_unit="uax14", word_boundaries=False, sentence_enders=("。", "！", "？", "!", "?"),
        extra="japanese", segmenter="vcrgen.text.sudachi_ja:sudachi", pipeline=_BY_MORPHEMES,
        eligibility="builtin-ja-1", trained_pipeline="ja_core_news_sm",
        fonts=("ipaex-gothic", "dejavu-sans"), covers=_LATIN_COVERS, covers_of="English",
        question="画像の中で隠されている文字は何ですか。説明を加えずに、隠されている文字だけを復元してください。",
        covered="［隠された文字］",
        words="画像の中の文字は次のとおりです：{text}画像の中の文字はここまでです。質問：{question}",
    ),
    LanguageRow(
        code="ko", name="Korean", script="HANGUL",
        joiner=" ", break_unit="word", word_boundaries=True, particles=True, sentence_enders=(".", "!", "?"),
        extra="korean", segmenter="vcrgen.text.mecab_ko:mecab", pipeline=_BY_MORPHEMES,
        eligibility="builtin-ko-1", trained_pipeline="ko_core_news_sm",
        fonts=("nanum-gothic", "dejavu-sans"), covers=_LATIN_COVERS, covers_of="English",
        question="이미지에서 가려진 글자는 무엇입니까? 설명 없이 가려진 글자만 복원하십시오.",
        covered="[가려진 글자]",
        words="이미지 속 글은 다음과 같습니다: {text} 이미지 속 글은 여기까지입니다. 질문: {question}",
    ),
)  # fmt: skip

LANGUAGES: Mapping[str, LanguageRow] = MappingProxyType({row.code: row for row in _ROWS})


def language_row(code: str) -> LanguageRow:
    """The row of a language.

    Raises:
        ConfigError: No language has that code.
    """
    if code not in LANGUAGES:
        raise ConfigError(f"Unknown language {code!r}; known: {', '.join(LANGUAGES)}.")
    return LANGUAGES[code]


def guess_language(texts: Iterable[str]) -> str:
    """The code of the first language whose script most letters of the texts are in; of the table's first, if none is.

    Languages of one script are not told apart: texts in French, Spanish or German count as English. Of two languages
    that share a script (Japanese has Chinese characters) the one with more scripts comes first, where at least a tenth
    of the letters are of scripts that the other one lacks.
    """
    scripts = Counter[str]()
    for char, count in Counter(char for text in texts for char in text if char.isalpha()).items():
        scripts[_script_of(char)] += count
    for row in sorted(_ROWS, key=lambda row: -len(row.other_scripts)):
        written = sum(scripts[script] for script in {row.script, *row.other_scripts})
        own = sum(scripts[script] for script in row.own_scripts)
        if 2 * written > scripts.total() and 10 * own >= scripts.total():
            return row.code
    return _ROWS[0].code


def _script_of(letter: str) -> str:
    """The first word of a letter's Unicode name."""
    return re.split("[ -]", unicodedata.name(letter, ""), maxsplit=1)[0]
