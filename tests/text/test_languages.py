"""The table of languages: what a row needs, and that nothing else knows a language by its code."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

import vcrgen
from vcrgen.text.languages import LANGUAGES, guess_language
from vcrgen.text.lexicons import read_lexicon
from vcrgen.text.pipelines import load_pipeline
from vcrgen.text.segmenters import load_segmenter
from vcrgen.typeset.fonts import font_register

PACKAGE = Path(vcrgen.__file__).parent
FOLDERS = PACKAGE / "text"


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_row_has_all_that_it_names(code: str) -> None:
    row = LANGUAGES[code]
    module, _, function = row.pipeline.partition(":")
    assert callable(getattr(import_module(module), function))
    assert load_segmenter(code).name == load_pipeline(code).segmenter
    assert load_pipeline(code).eligibility == row.eligibility
    assert set(row.fonts) <= set(font_register())
    assert (FOLDERS / code / "lexicons" / "sensitive.txt").is_file()


# Lists of words that stand beside names, which are compared as they are written: where nouns have a capital, with it.
AS_WRITTEN = ("geographic", "institutions", "bodies", "bodies_first")


def by_capitals() -> list[str]:
    return [code for code, row in LANGUAGES.items() if "capitals" in row.pipeline]


def test_languages_of_one_pipeline_have_the_same_lists() -> None:
    lists = {code: {file.name for file in (FOLDERS / code / "lexicons").iterdir()} for code in by_capitals()}
    assert len({frozenset(names) for names in lists.values()}) == 1 and len(lists) > 1


@pytest.mark.parametrize("file", sorted(FOLDERS.glob("*/lexicons/*.txt")), ids=lambda file: "/".join(file.parts[-3::2]))
def test_a_list_says_what_it_is_and_whose(file: Path) -> None:
    lines = file.read_text("utf-8").splitlines()
    assert lines[0].startswith("# ")
    if file.stem != "sensitive" and file.parts[-3] in by_capitals():
        head = " ".join(line for line in lines if line.startswith("#"))
        assert "Source: " in head and "Licence" in head


@pytest.mark.parametrize("code", by_capitals())
def test_entries_stand_once_and_can_be_found(code: str) -> None:
    for file in (FOLDERS / code / "lexicons").glob("*.txt"):
        entries = [line for line in file.read_text("utf-8").splitlines() if not line.startswith("#")]
        assert len(set(entries)) == len(entries) and all(entry == entry.strip() != "" for entry in entries), file.name
        as_written = file.stem in AS_WRITTEN and read_lexicon(code, "capital_nouns")
        if not as_written and file.stem not in ("plain_capitals", "sensitive"):
            assert all(entry == entry.lower() for entry in entries), file.name


OF_PYTORCH = {"return_tensors", "framework"}  # where "pt" is PyTorch, not Portuguese


def lines_of_python(code: str) -> dict[str, int]:
    """By file, how many lines the statements have that hold the code of a language as a string: a row, a condition.

    Rooms with pages for people have the texts of those pages in the languages that they speak, which is another matter.
    """
    found = {}
    files = (file for file in PACKAGE.rglob("*.py") if file.relative_to(PACKAGE).parts[0] not in ("bloom", "study"))
    for file in [*files, *(FOLDERS / code).rglob("*.py")]:
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.keyword) and node.arg in OF_PYTORCH:
                continue
            named = [a.value for a in getattr(node, "keywords", ()) if a.arg not in OF_PYTORCH]
            inside = node.keys if isinstance(node, ast.Dict) else ast.iter_child_nodes(node)
            children = [*inside, *named]
            if any(isinstance(child, ast.Constant) and child.value == code for child in children):
                name = file.relative_to(PACKAGE).as_posix()
                found[name] = found.get(name, 0) + (node.end_lineno or 0) - node.lineno + 1
    return found


@pytest.mark.parametrize("code", sorted(LANGUAGES.keys() - {"en", "zh"}))
def test_a_language_needs_its_row_and_no_other_line_of_python(code: str) -> None:
    """A string that is its code stands nowhere else, and its folder holds no Python."""
    lines = lines_of_python(code)
    assert lines.keys() == {"text/languages.py"} and lines["text/languages.py"] <= 12
    assert not list((FOLDERS / code).rglob("*.py"))


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
    assert LANGUAGES[code].may_write(text) is may
