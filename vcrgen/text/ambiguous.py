"""Texts that their drawing does not tell: another text looks the same, so no reader of the pixels can be exact."""

import unicodedata
from collections.abc import Callable
from functools import cache, lru_cache

import regex

from vcrgen.text.languages import LANGUAGES, script_of
from vcrgen.text.lookalikes import skeleton
from vcrgen.text.sample import calibration_sample

AMBIGUITY = "told-1"  # name and version of the rule, for signatures
# What is not drawn by itself (joiners, which change their neighbours; private use, whose glyph may be any ligature),
# and letters of Hangul outside of a syllable, which look like those of the keyboard.
_NOT_TOLD = regex.compile(r"[\p{C}\p{Default_Ignorable_Code_Point}\p{HST=L}\p{HST=V}\p{HST=T}]")
# Compatibility characters with a drawing of their own: raised, lowered, in a ring, as a fraction.
_OWN_DRAWING = frozenset(("<super>", "<sub>", "<circle>", "<fraction>"))
_WIDTH_FORMS = frozenset(("<wide>", "<narrow>", "<small>", "<vertical>"))  # of another size, or turned
_CASED = frozenset(("Lu", "Ll", "Lt"))
_IDEOGRAPH = regex.compile(r"\p{Ideographic}")


@lru_cache(maxsize=1 << 14)
def is_ambiguous(text: str, lang: str) -> bool:
    """Return true if a reader who knows the language cannot tell a text from its drawing.

    So it is if a character is not drawn, is drawn as its compatibility decomposition, or is a letter that looks like
    one of the language (UTS #39), as a phonetic ``ɡ``. A letter of another script, as a Cyrillic ``а`` in English,
    counts beside letters of the language, or if all letters look like some.
    """
    row = LANGUAGES[lang]
    if text.isascii() and row.script == "LATIN":
        return False
    if _NOT_TOLD.search(text) or any(map(_is_drawn_as_another, text)):
        return True
    letters, looks_native = set(filter(str.isalpha, text)), _looks_native(lang)
    native = {letter for letter in letters if script_of(letter) in row.scripts}
    foreign = letters - native
    if not row.other_scripts and any(map(looks_native, native)):
        return True
    return any(map(looks_native, foreign)) if native else bool(foreign) and all(map(looks_native, foreign))


def _is_drawn_as_another(character: str) -> bool:
    """Return true for a compatibility character that looks like its decomposition, maybe of another size."""
    tag, _, _ = unicodedata.decomposition(character).partition(" ")
    if not tag.startswith("<") or tag in _OWN_DRAWING:
        return False
    category = unicodedata.category(character)
    if tag in _WIDTH_FORMS:  # marks of these widths are the ordinary ones of Chinese and Japanese
        return category[0] in "LN"
    if category[0] in "NPS":
        return skeleton(character) == skeleton(unicodedata.normalize("NFKC", character))
    return category in _CASED


@cache
def _looks_native(lang: str) -> Callable[[str], bool]:
    """A function that is true for a letter that looks like one of the language's ordinary letters.

    These are the letters of the language's sample, and all ideographs, as no sample has those.
    """
    row = LANGUAGES[lang]
    sample = "".join(calibration_sample(lang))
    ordinary = {letter for letter in sample + sample.upper() + sample.lower() if letter.isalpha()}
    looks = set(map(skeleton, ordinary))

    @cache
    def looks_native(letter: str) -> bool:
        if letter in ordinary:
            return False
        look = skeleton(letter)
        if script_of(letter) in row.scripts:
            return look in looks and not _IDEOGRAPH.match(letter)
        return look in looks or all(part in ordinary or script_of(part) == "CJK" in row.scripts for part in look)

    return looks_native
