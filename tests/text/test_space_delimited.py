"""Remembered pieces: the tokens are spaCy's own in every text, and the memory stays small."""

from functools import cache

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.language import Language

from vcrgen.text import space_delimited
from vcrgen.text.space_delimited import WordTokenizer, texts_and_starts

LANGUAGES = ("en", "es", "fr", "it", "pt", "ru", "de")


@cache
def blank(lang: str) -> Language:
    return spacy.blank(lang)


@cache
def remembering(lang: str) -> WordTokenizer:
    return WordTokenizer(lang)


def is_spacys(lang: str, text: str) -> bool:
    for piece in text.split():  # words that it may wrongly take for known are known then
        remembering(lang)(piece)
    return remembering(lang)(text) == texts_and_starts(blank(lang).tokenizer(text))


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        ("en", "The river runs north, past (U.S.) forts."),
        ("en", "river river I cannot, don't"),
        ("en", " two  spaces, a\ttab,\nlines \n and an end "),
        ("en", "a.m. a . m. at 10a.m. :) : ) (: :-( C++ e.g. i.e."),
        ("en", "no\u00a0break zero\u200bwidth ideographic\u3000space"),
        ("en", "river"),
        ("en", " "),
        ("es", "Los EE. UU. y la Sra. Ruiz"),  # a special case over a space
        ("ru", "Он канд. филол. наук и живёт"),  # it ends with a word of letters
        ("ru", "в т.ч. вед. науч. сотр. дома"),
        ("de", "Prof. Dr. Weiß u. a. am 3. Mai"),
        ("fr", "l'eau d'aujourd'hui, c.-à-d. celle-ci"),
    ],
)
def test_the_tokens_are_spacys(lang: str, text: str) -> None:
    assert is_spacys(lang, text)
    assert is_spacys(lang, text)  # from memory


@st.composite
def texts(draw: st.DrawFn) -> tuple[str, str]:
    """A language, and pieces of its special cases beside ordinary words, with marks at their ends."""
    lang = draw(st.sampled_from(LANGUAGES))
    cases = sorted(blank(lang).tokenizer.rules)  # type: ignore[union-attr]
    core = st.sampled_from(["river", "город", "Straße", "1999", "a", "наук", "UU", "x2"])
    core |= st.sampled_from(cases) | st.sampled_from(cases).map(lambda case: case.split(".")[-1])
    piece = st.tuples(
        st.sampled_from(["", "", "(", '"', ":", "."]), core, st.sampled_from(["", "", ",", ")", ".", "'"])
    )
    pieces = draw(st.lists(piece.map("".join), max_size=12))
    return lang, draw(st.sampled_from([" ", " ", " ", "  ", " \n"])).join(pieces)


@given(texts())
def test_the_tokens_are_spacys_in_any_text(lang_and_text: tuple[str, str]) -> None:
    lang, text = lang_and_text
    assert not text or is_spacys(lang, text)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_tokens_are_spacys_in_long_runs(lang: str) -> None:
    """Suffixes are looked for near the end only, where all begin but runs of dots."""
    units = ["'", "’", ".", "..", "…", "$", "5kg", "km²", "°F.", "'s", "a.", ")%", "€", "🙂", "x", "(", "5.", "’S"]
    for unit in units:
        for text in (unit * 40, f"word{unit * 23}", f"{unit * 31}end.", f"{'.' * 40}{unit}", f"a {unit * 60} b"):
            assert is_spacys(lang, text), text


def test_vietnamese_needs_no_further_package() -> None:
    tokenizer = WordTokenizer("vi")
    assert tokenizer("Chợ Bến Thành, đẹp!")[0] == ["Chợ", "Bến", "Thành", ",", "đẹp", "!"]


def test_each_piece_is_asked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = WordTokenizer("en")
    text = "the river, the (old) river"
    first = tokenizer(text), tokenizer(text), tokenizer(text)

    def refuse(_: str) -> None:
        raise AssertionError("asked again")

    monkeypatch.setattr(tokenizer._pieces, "_tokenizer", refuse)
    assert tokenizer(text) == first[0] == first[2]


def test_memory_stays_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(space_delimited, "MAX_STRINGS", 10)
    tokenizer = WordTokenizer("en")
    for number in range(50):
        assert len(tokenizer(f"word{number} other{number}")[0]) == 2
        tokenizer(", . " * (number % 12) + ".")  # no string that spaCy has not seen
    assert len(tokenizer._strings) < len(spacy.blank("en").vocab.strings) + 30
    assert len(tokenizer._pieces) <= 10
