import gzip
import math
from pathlib import Path

import numpy as np
import pytest

from vcrgen.core.errors import ConfigError
from vcrgen.pixels.lexicon import FORMS, Lexicon, load_lexicon, make_lexicon


def prior(lexicon: Lexicon) -> dict[str, float]:
    return dict(zip(lexicon.units, np.exp(lexicon.log_prior).tolist(), strict=True))


def test_words_have_three_forms(tmp_path: Path) -> None:
    file = tmp_path / "words.txt"
    file.write_text("the\t3\nbe-bop's\nnaïve\t1\nx1\t100\n", "utf-8")
    lexicon = load_lexicon("en", file=file)
    words = prior(lexicon)
    assert set(words) == {"the", "The", "THE", "be-bop's", "Be-bop's", "BE-BOP'S", "naïve", "Naïve", "NAÏVE"}
    assert words["the"] == pytest.approx(0.6 * FORMS["lower"]) and words["NAÏVE"] == pytest.approx(0.2 * FORMS["upper"])
    assert math.fsum(words.values()) == pytest.approx(1) and lexicon.separator == " "


def test_the_bits_of_words_by_their_frequencies() -> None:
    lexicon = make_lexicon("toy", "en", {"a": 1, "b": 1, "c": 2}, " ")
    assert lexicon.mean_bits == pytest.approx(1.5)
    assert lexicon.bits_a_unit("a c") == pytest.approx(1.5) and lexicon.bits_a_unit("c") == pytest.approx(1)
    assert lexicon.bits_a_unit("other") == pytest.approx(2)  # as rare as the rarest
    assert make_lexicon("toy", "zh", {"水": 3, "山": 1}, "").bits_a_unit("水 水") == pytest.approx(math.log2(4 / 3))


def test_the_most_frequent_words_are_kept() -> None:
    words = prior(load_lexicon("en", size=2000))
    assert len({word.lower() for word in words}) == 2000
    assert words["the"] > words["house"] > words["House"] > words["HOUSE"] > 0


@pytest.mark.parametrize(
    ("lang", "unit", "others"), [("zh", "的", "aA 。"), ("ja", "の", "aA 。"), ("ko", "을", "aA。")]
)
def test_units_are_characters_of_the_languages_scripts(lang: str, unit: str, others: str) -> None:
    lexicon = load_lexicon(lang)
    words = prior(lexicon)
    assert lexicon.separator == "" and set(map(len, words)) == {1}
    assert words[unit] > 0.001 and not set(others) & set(words)
    assert (" " in words) == (lang == "ko")


def test_letters_that_wordfreq_folds_or_names_otherwise() -> None:
    lexicon = load_lexicon("de")
    german = prior(lexicon)
    assert lexicon.name.startswith("wordfreq-3.1.1-de-")
    assert german["große"] == german["grosse"] > 0 and {"ausschließlich", "müssen"} <= set(german)
    assert "々" in load_lexicon("ja").units and "々" not in load_lexicon("zh").units


@pytest.mark.parametrize("lang", ["fr", "es", "pt", "ru"])
def test_every_language_of_single_letters_has_a_lexicon(lang: str) -> None:
    lexicon = load_lexicon(lang, size=3000)
    assert len({unit.lower() for unit in lexicon.units}) >= 2990  # forms such as ß and SS fall together
    assert lexicon.name.startswith(f"wordfreq-3.1.1-{lang}-")


def test_the_tree_holds_every_unit_once() -> None:
    lexicon = load_lexicon("fr", size=500)
    found = []

    def walk(depth: int, node: int, before: str) -> None:
        level = lexicon.tree[depth]
        text = before + lexicon.alphabet[level.code[node]]
        if level.unit[node] >= 0:
            assert lexicon.units[level.unit[node]] == text
            found.append(text)
        for child in range(level.first[node], level.first[node + 1]):
            walk(depth + 1, child, text)

    for node in range(len(lexicon.tree[0].code)):
        walk(0, node, "")
    assert found == list(lexicon.units)


def test_a_gzipped_list(tmp_path: Path) -> None:
    file = tmp_path / "words.txt.gz"
    file.write_bytes(gzip.compress("\ufeffhaus\t2\nHof\t1\n".encode()))
    assert "HOF" in load_lexicon("de", file=file).units


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"\xff\xfe", "cannot be read"),
        (b"\n \n", "has no words"),
        (b"12\n", "has no words"),
        (b"word\tmany\n", "line 1: 'many' is no frequency"),
        (b"word\tnan\n", "line 1: 'nan' is no frequency"),
    ],
)
def test_files_that_are_no_word_list(tmp_path: Path, content: bytes, sentence: str) -> None:
    file = tmp_path / "words.txt"
    file.write_bytes(content)
    with pytest.raises(ConfigError, match=sentence):
        load_lexicon("en", file=file)
    with pytest.raises(ConfigError, match="cannot be read"):
        load_lexicon("en", file=tmp_path / "missing.txt")


def test_letters_that_are_joined_have_no_templates() -> None:
    with pytest.raises(ConfigError, match="bits of its spans are unknown"):
        load_lexicon("ar")
