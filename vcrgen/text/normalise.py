"""The normalisation of captions. Its name is part of every dataset's signature."""

import re
import unicodedata
from collections.abc import Callable, Collection
from functools import lru_cache

import regex

from vcrgen.text.lookalikes import skeleton

NORMALISATION = "nfc-ws-6"
NO_BREAK_SPACES = "\u00a0\u2007\u202f"
WORD_JOINER = "\u2060"
_TYPED = {ord(space): " " for space in NO_BREAK_SPACES} | {ord(WORD_JOINER): None}
_WHITE_SPACE = re.compile(rf"[{NO_BREAK_SPACES}]*[^\S{NO_BREAK_SPACES}]\s*")  # that has a place for a line break
_UNBROKEN_SPACE = re.compile(rf"([{NO_BREAK_SPACES}])[{NO_BREAK_SPACES}]+")
# Characters that are not drawn, but for white space, the two joiners and the word joiner.
_UNDRAWN = regex.compile(r"(?V1)[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}--[\s\u200c\u200d\u2060]]")
# Beside what is not broken anyway, and where the characters on both sides could compose without it.
_IDLE_WORD_JOINER = regex.compile(
    rf"(?V1)(?<=^|[{NO_BREAK_SPACES}\u200c\u200d])\u2060|\u2060(?![\p{{NFC_Quick_Check=Yes}}--[\s\p{{M}}\p{{Cf}}]])"
)
# Drawn as a gap, but no white space by any property of Unicode: the blank of Braille, the fillers of Hangul, and the
# place of an object.
_GAPS = re.compile("[\u2800\u3164\uffa0\ufffc]")
# Bytes of Windows-1252 that were read as Latin-1; as characters they are controls that nobody types.
_C1_CONTROLS = re.compile("[\x80-\x9f]")
# Characters that may be drawn as others: ligatures and letters of other fonts, but no emoji; forms of Arabic letters
# that are chosen by their neighbours; radicals beside the ideographs; hyphens.
_FOLDABLE = regex.compile(
    r"(?V1)[[\p{dt=Compat}&&\p{LC}][[\p{dt=Font}&&[\p{L}\p{Nd}]]--\p{Extended_Pictographic}]"
    r"\p{dt=Initial}\p{dt=Medial}\p{dt=Final}\p{dt=Isolated}\p{Radical}\p{Hyphen}]"
)
_IDEOGRAPH = regex.compile(r"\p{Ideographic}")
# Scripts in which a joiner changes the drawing of its neighbours: cursive ones, and those that stack consonants.
SHAPED_SCRIPTS = (
    *("Arabic", "Syriac", "Nko", "Mandaic", "Mongolian", "Adlam"),
    *("Devanagari", "Bengali", "Gurmukhi", "Gujarati", "Oriya", "Tamil", "Telugu", "Kannada", "Malayalam"),
    *("Sinhala", "Myanmar", "Khmer", "Balinese", "Javanese"),
)
_SHAPED = "".join(rf"\p{{Script_Extensions={script}}}" for script in SHAPED_SCRIPTS)
# An emoji with its marks, a flag of two letters (or half of one), or what makes a keycap of a digit.
_EMOJI = regex.compile(
    r"(?:\p{Extended_Pictographic}|\p{Regional_Indicator}{1,2}|\p{Emoji_Modifier})[\p{M}\p{Emoji_Modifier}]*|\u20e3"
)
_EMOJI_RUN = regex.compile(rf"(\s?)((?:{_EMOJI.pattern})+)(?=([\s\p{{Pe}}\p{{Pf}}.,;:!?…。、，！？]|$)?)")
_JOINERS = regex.compile(r"([\u200c\u200d])[\u200c\u200d]+")
_JOINED = rf"[[{_SHAPED}]--\s]"  # a narrow no-break space is of Mongolian, too
_IDLE_JOINER = regex.compile(rf"(?V1)(?<!{_JOINED})\u200c|\u200c(?!{_JOINED})|(?<!{_JOINED})\u200d(?!{_JOINED})")

# What a reader may see without reading another word: variation selectors, Arabic vowel signs and the stroke that
# lengthens a word, and stress marks on Cyrillic letters.
_READING_MARKS = regex.compile(
    r"[\ufe00-\ufe0f\U000e0100-\U000e01ef\u0640\u064b-\u0652\u0670]|(?<=\p{Script=Cyrillic})[\u0300\u0301]"
)
_PRESENTATION_FORMS = regex.compile(r"[\ufb50-\ufdff\ufe70-\ufefc]+")


def lookup_key(word: str) -> str:
    """A word as lists have it: in lower case, with plain letters, without marks that only help to read it."""
    lower = word.lower()
    if lower.isascii():
        return lower
    plain = _PRESENTATION_FORMS.sub(lambda forms: unicodedata.normalize("NFKC", forms[0]), lower)
    return unicodedata.normalize("NFC", _READING_MARKS.sub("", plain))


def normalise_caption(text: str) -> str:
    """Normalise a caption as a reader of the pixels types it: `normalise_drawn` with plain spaces alone.

    Normalisation is idempotent.
    """
    return as_typed(normalise_drawn(text))


def as_typed(text: str) -> str:
    """A text with plain spaces for no-break ones, and without word joiners."""
    return text if text.isascii() else text.translate(_TYPED)


def normalise_drawn(text: str) -> str:
    """Normalise a caption as it is drawn: NFC, single spaces, no space at the ends, and one text for each drawing.

    No-break spaces and word joiners stay, as no line may break there. White space that has a plain space is one. Other
    characters that draw nothing (bidirectional marks, soft hyphens, variation selectors) are removed, as a reader of
    the pixels could never recover them. The zero-width joiner and non-joiner stay where they change the drawing: a
    non-joiner between two characters, a joiner beside one, of a script such as Arabic or Devanagari. They are removed
    in Latin and Chinese, and between emoji. Ligatures, letters of mathematics, forms of Arabic letters, radicals and
    hyphens become what they are drawn as. Controls that are bytes of Windows-1252 become its characters. Lone
    surrogates and private-use characters stay.

    Normalisation is idempotent.
    """
    # A removed character may have stood between a letter and its accent, or between two joiners: repeat until stable.
    while (normal := _once(text)) != text:
        text = normal
    return text


def without_emoji(text: str, missing: Callable[[str], Collection[str]]) -> str:
    """A normalised caption without the emoji that cannot be drawn, and without the space before them.

    Args:
        missing: Returns the characters of a text that have no glyph.
    """

    def without_missing(run: regex.Match[str]) -> str:
        drawn_emoji = "".join(emoji for emoji in _EMOJI.findall(run[2]) if not missing(emoji))
        return drawn_emoji if not drawn_emoji and run[3] is not None else run[1] + drawn_emoji

    drawable = text if text.isascii() else _EMOJI_RUN.sub(without_missing, text)
    return text if drawable == text else normalise_drawn(drawable)


def _once(text: str) -> str:
    if not text.isascii():
        text = _C1_CONTROLS.sub(lambda control: _as_windows_1252(control[0]), unicodedata.normalize("NFC", text))
        text = _FOLDABLE.sub(lambda character: _folded(character[0]), _GAPS.sub(" ", text))
    drawn = _UNDRAWN.sub("", text)
    joined = _IDLE_JOINER.sub("", _JOINERS.sub(r"\1", _IDLE_WORD_JOINER.sub("", drawn)))
    spaced = _WHITE_SPACE.sub(" ", unicodedata.normalize("NFC", joined)).strip()
    return _UNBROKEN_SPACE.sub(r"\1", spaced)


def _as_windows_1252(control: str) -> str:
    """The character of a C1 control's byte; five bytes have none and stay."""
    try:
        return control.encode("latin-1").decode("cp1252")
    except UnicodeDecodeError:
        return control


@lru_cache(maxsize=1 << 12)
def _folded(character: str) -> str:
    """The text that a compatibility character, radical or hyphen is drawn as, or itself."""
    look, plain = skeleton(character), unicodedata.normalize("NFKC", character)
    if look == "-":
        return look
    if plain == character:  # a radical that UTS #39 alone has beside an ideograph
        return look if len(look) == 1 and _IDEOGRAPH.match(look) else character
    is_form = unicodedata.category(character) == "Lo" and not plain.startswith(" ")
    return plain if is_form or look == skeleton(plain) else character
