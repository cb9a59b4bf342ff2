"""The table of languages: what a row needs, and that nothing else knows a language by its code."""

import ast
import re
from pathlib import Path

import pytest

import vcrgen
from vcrgen.text.languages import LANGUAGES, guess_language
from vcrgen.text.pipelines import load_pipeline
from vcrgen.text.segmenters import load_segmenter
from vcrgen.typeset.fonts import font_registry

PACKAGE = Path(vcrgen.__file__).parent


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_row_has_all_that_it_names(code: str) -> None:
    row = LANGUAGES[code]
    assert load_segmenter(code).name == load_pipeline(code).segmenter
    assert load_pipeline(code).eligibility == row.eligibility
    assert set(row.fonts) <= set(font_registry())
    assert (PACKAGE / "text" / code / "lexicons" / "sensitive.txt").is_file()


OF_PYTORCH = {"return_tensors", "framework"}  # where "pt" is PyTorch, not Portuguese


def lines_of_python(codes: set[str]) -> dict[str, dict[str, int]]:
    """Return by code and file the number of lines of statements with the code as a string: a row, a condition.

    Packages with pages for people have the texts of those pages in their own languages, which is another matter.
    """
    found: dict[str, dict[str, int]] = {code: {} for code in codes}
    quoted = re.compile(rf"""(["'])(?:{"|".join(codes)})\1""")
    for file in PACKAGE.rglob("*.py"):
        name, text = file.relative_to(PACKAGE).as_posix(), file.read_text("utf-8")
        if name.startswith(("bloom/", "study/")) or not quoted.search(text):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.keyword) and node.arg in OF_PYTORCH:
                continue
            named = [a.value for a in getattr(node, "keywords", ()) if a.arg not in OF_PYTORCH]
            inside = node.keys if isinstance(node, ast.Dict) else ast.iter_child_nodes(node)
            constants = {child.value for child in [*inside, *named] if isinstance(child, ast.Constant)}
            for code in codes & {value for value in constants if isinstance(value, str)}:
                found[code][name] = found[code].get(name, 0) + (node.end_lineno or 0) - node.lineno + 1
    return found


def test_a_language_needs_its_row_and_no_line_of_python() -> None:
    """A string that is its code stands nowhere else, and its folder holds no Python."""
    for code, lines in lines_of_python(LANGUAGES.keys() - {"en", "zh"}).items():
        assert not lines, code
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
        ("ja", "古老的港口", False),  # no Japanese text is without kana but a short one
        ("ko", "낡은 등대", True),
        ("ko", "古い港", False),
    ],
)
def test_a_text_in_another_script_is_told(code: str, text: str, may: bool) -> None:
    assert LANGUAGES[code].accepts_script_of(text) is may
