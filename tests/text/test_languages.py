"""The table of languages: what a row needs."""

from pathlib import Path

import pytest

import vcrgen
from tests.text.language_data import language_data
from vcrgen.text.languages import LANGUAGES, guess_language
from vcrgen.text.optional_files import absent_files
from vcrgen.text.pipelines import load_pipeline
from vcrgen.text.sample import calibration_sample
from vcrgen.text.segmenters import load_segmenter
from vcrgen.typeset.fonts import font_registry

PACKAGE = Path(vcrgen.__file__).parent


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_row_has_all_that_it_names(code: str) -> None:
    row = LANGUAGES[code]
    assert load_segmenter(code).name == load_pipeline(code).segmenter
    assert load_pipeline(code).eligibility == row.eligibility
    assert set(row.fonts) <= set(font_registry())
    assert language_data(code) and calibration_sample(code)


def test_what_a_language_goes_without_is_said() -> None:
    assert absent_files("en") == []
    assert absent_files("ko") == ["Without questions.txt, no questions are made of built-in scenes."]


@pytest.mark.parametrize("code", LANGUAGES)
def test_the_folder_of_a_language_holds_data_only(code: str) -> None:
    assert not list((PACKAGE / "text" / code).rglob("*.py"))


@pytest.mark.parametrize(
    ("texts", "code"),
    [
        (["the old harbour"], "en"),
        (["le vieux port"], "en"),  # told by --lang; the script is the same
        (["古老的港口"], "zh"),
        (["古老的港口", "old harbour"], "en"),
        (["古老的港口 harbour"[:8]], "zh"),
        (["港口 ab"], "en"),  # half is not most
        (["старый порт"], "ru"),
        (["λιμάνι"], "en"),
        (["古い港の灯台"], "ja"),
        (["古い港の灯台", "古老的港口" * 9], "zh"),  # less than a tenth is kana
        (["コーヒー"], "ja"),
        (["낡은 등대"], "ko"),
        (["الميناء القديم iPhone"], "ar"),
        (["पुराना बंदरगाह"], "hi"),
        ([], "en"),
    ],
)
def test_guessing_by_script(texts: list[str], code: str) -> None:
    assert guess_language(texts) == code


@pytest.mark.parametrize(
    ("code", "text", "may"),
    [
        ("en", "the old harbour", True),
        ("en", "λιμάνι", False),
        ("en", "λιμάνι a", True),  # one letter is enough
        ("en", "12:30", True),  # nothing tells that it is not English
        ("de", "the old harbour", True),
        ("zh", "古老的港口", True),
        ("zh", "the old harbour", False),
        ("ja", "古い港", True),
        ("ja", "コーヒー", True),
        ("ja", "東京駅前広場", True),
        ("ja", "The old harbour", False),
        ("ko", "낡은 등대", True),
        ("ko", "古い港", False),
    ],
)
def test_a_text_in_another_script_is_told(code: str, text: str, may: bool) -> None:
    assert LANGUAGES[code].accepts_script_of(text) is may
