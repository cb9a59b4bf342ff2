from pathlib import Path

import pytest

from vcrgen.builder.filters import CensorList
from vcrgen.core.errors import ConfigError
from vcrgen.text.languages import LANGUAGES


@pytest.mark.parametrize(
    ("lang", "text", "matches"),
    [
        ("en", "He was murdered in his sleep.", True),
        ("en", "MURDER in the house", True),
        ("en", "The serial killer's house", True),
        ("en", "A murderousness of crows", False),  # whole words only
        ("en", "grapes and rapeseed, a therapist", False),
        ("en", "A quiet street", False),
        ("zh", "他死于谋杀。", True),
        ("zh", "他死於謀殺。", True),
        ("zh", "安静的街道", False),
        ("ja", "彼は自殺した。", True),
        ("ja", "静かな通り", False),
        ("ko", "그는 연쇄살인을 저질렀다.", True),  # particles are written to the end of words
        ("ko", "조용한 거리", False),
        ("hi", "एक अपहरण हुआ।", True),
        ("hi", "काअपहरण", False),  # a vowel sign before the term: it is the end of a longer word
        ("hi", "अपहरणा", False),
    ],
)
def test_built_in_lists(lang: str, text: str, matches: bool) -> None:
    assert CensorList.load(LANGUAGES[lang], None).matches(text) is matches


def test_a_users_list_comes_on_top(tmp_path: Path) -> None:
    file = tmp_path / "words.txt"
    file.write_bytes("\ufeff# mine\nTurnip\n\nbig   boat\n".encode())
    both = CensorList.load(LANGUAGES["en"], file)
    assert both.matches("a turnip") and both.matches("a murder") and not both.matches("turnips")
    assert both.digest != CensorList.load(LANGUAGES["en"], None).digest


@pytest.mark.parametrize("whole_words", [True, False])
def test_what_only_says_how_a_term_is_drawn_hides_none(whole_words: bool) -> None:
    assert CensorList.of(["☠"], whole_words=whole_words).matches("here ☠\ufe0f lies")
    assert CensorList.of(["死"], whole_words=False).matches("死\U000e0100亡")


def test_regular_expressions_are_taken_as_text() -> None:
    assert not CensorList.of([".*"], whole_words=False).matches("anything")


@pytest.mark.parametrize("content", [None, "é".encode("latin-1")])
def test_lists_that_cannot_be_read(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "words.txt"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ConfigError, match=r"words\.txt"):
        CensorList.load(LANGUAGES["en"], file)
