import unicodedata

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from vcrgen.text.normalise import as_typed, lookup_key, normalise_caption, normalise_drawn, without_emoji


@pytest.mark.parametrize(
    ("given", "normal"),
    [
        (" two\n\twords  ", "two words"),
        ("cafe\u0301", "café"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("soft\u00adhyphen", "softhyphen"),
        ("no\u00a0break\u3000ideographic", "no break ideographic"),
        ("nul\0", "nul"),
        ("two \x1b lines\r\x1b\r\u200b\n", "two lines"),
        ("e\u200d\u0301", "é"),
        ("e\u200b\u0327\u200d\u0301", "\u0229\u0301"),
        ("\u06cc\u200c\u062e", "\u06cc\u200c\u062e"),  # Persian: the letters are not to be joined
        ("\u06cc\u200f\u200c\u200c\u200d\u062e", "\u06cc\u200c\u062e"),
        ("\u06cc\u200c \u062e", "\u06cc \u062e"),
        ("\u0647\u200d.", "\u0647\u200d."),  # the initial form without a letter after it
        ("\u0915\u094d\u200d\u0937", "\u0915\u094d\u200d\u0937"),  # Hindi: a half form
        ("\u0915\u094d\u200c\u0937", "\u0915\u094d\u200c\u0937"),
        ("\u064e\u200c\u0628", "\u064e\u200c\u0628"),  # after a mark, whose script is that of its letter
        ("Auf\u200clage", "Auflage"),
        ("葛\U000e0100飾", "葛飾"),  # a variant, which is drawn as the character itself
        ("漢\ufe00字", "漢字"),
        ("e\ufe01\u0301", "é"),
        ("❤\ufe0f", "❤"),
        ("一\u200d二", "一二"),
        ("\U0001f468\u200d\U0001f469", "\U0001f468\U0001f469"),
        ("o\ufb03ce", "office"),
        ("green\ufe0f gre\u034fen gre\u2061en", "green green green"),
        ("well\u2011known well\u2010known 2019\u201320", "well-known well-known 2019\u201320"),
        ("small\u3164green\u2800\u2800boat\ufffc\uffa0", "small green boat"),
        ("\ufedb\ufe8e\ufee5 \ufdf2 \ufe81", "\u0643\u0627\u0646 \u0627\u0644\u0644\u0647 \u0622"),
        ("\u845b\U000e0100\u57ce \u2f00\u2f08 \u2e9f\u2ecb", "\u845b\u57ce \u4e00\u4eba \u6bcd\u8f66"),
        ("lies\x92s \x93so\x94 wait\x85 10\x80 \x81", "lies\u2019s \u201cso\u201d wait\u2026 10\u20ac"),
        ("\U0001d41b\U0001d428\U0001d425\U0001d41d \u210e \u0133s", "bold h ijs"),
        # Their drawing is another one, or they are the ordinary characters: radicals alone stay, too.
        (
            "m\u00b2 \u00bd n\u00ba \u2460 \u2116 \u2103 \u2122 \u2139",
            "m\u00b2 \u00bd n\u00ba \u2460 \u2116 \u2103 \u2122 \u2139",
        ),
        (
            "\u2026 \uff0c\uff21\uff01 \uff71 \u314b\u314b \u0e33 \u2167 \u017f \u00b4 \u3000\u2014",
            "\u2026 \uff0c\uff21\uff01 \uff71 \u314b\u314b \u0e33 \u2167 \u017f \u00b4 \u2014",
        ),
        ("", ""),
    ],
)
def test_cases(given: str, normal: str) -> None:
    assert normalise_caption(given) == normal


@pytest.mark.parametrize(
    ("given", "drawn"),
    [
        ("«\u00a0Sous la pluie\u202f»", "«\u00a0Sous la pluie\u202f»"),
        ("10\u00a0 kilos", "10 kilos"),  # a line may end at the plain one
        ("10\u00a0\u202fkilos", "10\u00a0kilos"),
        ("\u00a0kilos\u2060\u00a0", "kilos"),
        ("km\u2060/\u2060\u2060h", "km\u2060/\u2060h"),
        ("10 \u2060kilos", "10 \u2060kilos"),
        ("10\u2060 kilos", "10 kilos"),  # the line ends after the space
        ("e\u2060\u0301", "é"),
        ("\u1100\u2060\u1161", "\uac00"),
        ("1\u2007000", "1\u2007000"),
    ],
)
def test_what_keeps_a_line_together_is_drawn(given: str, drawn: str) -> None:
    assert normalise_drawn(given) == drawn


UNDRAWN = regex.compile(r"[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]")
# Few enough that what must be composed, blocked, dropped or kept often stands side by side.
TRICKY = "\ufb03\u034f\ufe0f\u3164\u2011\u2f00\ufdf2\ufe70\x92\U0001d41b" + (
    "e\u0301\u0327\u200b\u200c\u200d\u00ad\u0628\u064e\u0915\u094d\u093c\u1100\u1161 \n\x85\u2000\u2126一"
)
NO_BREAK = "\u00a0\u202f\u2007\u2060"


@given(st.text(st.characters()) | st.text(TRICKY))
def test_it_is_done_once(text: str) -> None:
    normal = normalise_caption(text)
    assert normalise_caption(normal) == normal
    assert unicodedata.is_normalized("NFC", normal)
    assert normal == normal.strip() and "  " not in normal and "\n" not in normal
    assert set(UNDRAWN.findall(normal)) <= {"\u200c", "\u200d"}


@given(st.text(st.characters()) | st.text(TRICKY + NO_BREAK))
def test_a_reader_types_plain_spaces(text: str) -> None:
    drawn = normalise_drawn(text)
    assert normalise_drawn(drawn) == drawn
    assert normalise_caption(text) == as_typed(drawn) == normalise_caption(as_typed(text))


def no_emoji(text: str) -> list[str]:
    """A font of letters, digits and the emoji of old fonts."""
    return [char for char in text if ord(char) > 0x1F000 or char == "\u20e3"]


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("a party 🎉 today", "a party today"),
        ("a party 🎉🎊.", "a party."),
        ("a party 🎉 🎊!", "a party!"),
        ('he said 🎉"yes"', 'he said "yes"'),
        ("🇫🇷 a flag", "a flag"),
        ("a thumb 👍🏽", "a thumb"),
        ("one of 🎉☀ two", "one of ☀ two"),
        ("I ❤ it", "I ❤ it"),
        ("1\u20e3 one", "1 one"),
        ("© 2026", "© 2026"),
        ("旗🎌が", "旗が"),
    ],
)
def test_emoji_that_no_font_draws_are_left_out(given: str, shown: str) -> None:
    assert without_emoji(given, no_emoji) == shown
    assert without_emoji(given, lambda _: []) == given


@given(st.text(st.sampled_from("a 🎉☀👍🏽🇫🇷.\u20e31\u0301日")))
def test_nothing_but_emoji_and_spaces_is_left_out(text: str) -> None:
    normal = normalise_caption(text)
    shown = without_emoji(normal, no_emoji)
    assert not no_emoji("".join(shown)) and without_emoji(shown, no_emoji) == shown == normalise_caption(shown)
    # A sign that is left out may have stood between a letter and its accent.
    letters, left = ([c for c in unicodedata.normalize("NFD", each) if c.isalnum()] for each in (normal, shown))
    assert left == letters


def test_every_character_beside_others() -> None:
    for code in [*range(0x3000), *range(0xA000, 0xAC00), *range(0xF900, 0x20000), *range(0xE0000, 0xE0200)]:
        text = f"e{chr(code)}\u0301\u0628{chr(code)}\u200c\u0628"
        normal = normalise_caption(text)
        assert normalise_caption(normal) == normal and unicodedata.is_normalized("NFC", normal), hex(code)


@pytest.mark.parametrize(
    ("word", "key"),
    [
        ("كِتاباً", "كتابا"),
        ("كـــان", "كان"),
        ("\ufedb\ufe8e\ufee5", "كان"),  # presentation forms
        ("За\u0301мок", "замок"),
        ("йод", "йод"),
        ("葛\U000e0100", "葛"),
        ("Élan", "élan"),
        ("कि", "कि"),
    ],
)
def test_words_are_looked_up_without_marks_that_only_help_to_read_them(word: str, key: str) -> None:
    assert lookup_key(word) == lookup_key(key) == key
