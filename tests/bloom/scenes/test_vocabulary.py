"""The words of questions: files of data, one a language, that have to have the same names."""

import json
import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

import vcrgen
from vcrgen.bloom.scenes.vocabulary import PAINTED, QUESTION_LANGUAGES, SCENE_PARTS, WORDS, fill_in, read_words
from vcrgen.core.errors import VcrgenError
from vcrgen.text.languages import LANGUAGES

ENGLISH = """
[seasons]
winter = winter
[forms]
colour = What is the {label}?
steps = Add {more}. Then subtract {less}.
"""


def test_every_language_with_a_file_has_all_words() -> None:
    """Loading compares the files with each other; this compares them with what is asked about."""
    assert QUESTION_LANGUAGES[0] == "en" and set(QUESTION_LANGUAGES) <= set(LANGUAGES)
    assert {folder.name for folder in files("vcrgen.text").iterdir() if (folder / "questions.txt").is_file()} == set(
        QUESTION_LANGUAGES
    )
    for part in (part for parts in SCENE_PARTS.values() for part in parts):
        for value in part.values:
            assert len(part.states(value)) == len(QUESTION_LANGUAGES)
    for fact, colours in PAINTED.values():
        assert fact in WORDS["things"] and set(colours) <= WORDS["colours"].keys()


def test_words_are_in_the_order_of_the_languages_whatever_the_order_of_lines() -> None:
    german = """# How it is said.
[forms]
steps = Nimm {more} dazu,
    dann {less} weg.
colour = Was ist das: {label}?
[seasons]
winter = Winter
"""
    assert read_words({"en": ENGLISH, "de": german, "again": ENGLISH}) == {
        "seasons": {"winter": ("winter", "Winter", "winter")},
        "forms": {
            "colour": ("What is the {label}?", "Was ist das: {label}?", "What is the {label}?"),
            "steps": (
                "Add {more}. Then subtract {less}.",
                "Nimm {more} dazu, dann {less} weg.",
                "Add {more}. Then subtract {less}.",
            ),
        },
    }


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("winter = winter\n", "", r"^de.txt: \[seasons\] needs a line for 'winter', which other languages have\.$"),
        ("winter = winter", "winter =", r"^de.txt: \[seasons\] needs a line for 'winter'"),
        ("[seasons]", "[season]", r"^en.txt: \[season\] needs a line for 'winter'"),
        ("winter = ", "summer = s\nwinter = ", r"^en.txt: \[seasons\] needs a line for 'summer'"),
        (" {label}", "", r"^de.txt: 'colour' in \[forms\] needs \{label\}, as in other languages\.$"),
        ("{less}", "{fewer}", r"^en.txt: 'steps' in \[forms\] needs \{fewer\}"),
        ("winter = ", "winter ", r"^A file of words is not understood: .*'de.txt'.*line *3"),
        ("winter = ", "winter = a\nwinter = ", r"^A file of words is not understood: .*'de.txt' \[line 4\].*'winter'"),
    ],
)
def test_what_a_file_lacks_is_told(old: str, new: str, message: str) -> None:
    assert old in ENGLISH
    with pytest.raises(VcrgenError, match=message):
        read_words({"en.txt": ENGLISH, "de.txt": ENGLISH.replace(old, new)})


def test_parts_are_put_in_by_language_and_numbers_in_all() -> None:
    said = fill_in("steps", label=WORDS["labels"]["boats"], more=5, less=2)
    assert said[0] == "Take the number of boats. Add 5. Then subtract 2. What is the result?"
    assert said[QUESTION_LANGUAGES.index("ar")] == "خذ عدد القوارب. أضف 5. ثم اطرح 2. ما الناتج؟"


def test_another_language_needs_a_file_and_nothing_else(tmp_path: Path) -> None:
    """In a copy of the package: all words of German begin with a letter of their own."""
    copy = tmp_path / "vcrgen"
    shutil.copytree(Path(vcrgen.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    english = (copy / "text" / "en" / "questions.txt").read_text("utf-8")
    (copy / "text" / "de" / "questions.txt").write_text(english.replace(" = ", " = Ö"), "utf-8")
    program = """if True:
        import json
        from vcrgen.bloom.rejects import RejectLog
        from vcrgen.bloom.scenes.generator import generate_scene_items
        from vcrgen.bloom.options import BloomSceneOptions
        made = generate_scene_items(BloomSceneOptions(items=50), RejectLog())
        print(json.dumps([row for _, rows in made for row in rows]))
    """
    made = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True, capture_output=True, text=True)
    rows = json.loads(made.stdout)
    assert len(rows) == 50 and all({"question_en", "question_de", "question_ar"} <= row.keys() for row in rows)
    for row in rows:
        for english, german in zip(
            [row["question_en"], *row["options_en"]], [row["question_de"], *row["options_de"]], strict=True
        ):
            assert german.replace("Ö", "").lower() == english.lower() and (german[0] == "Ö" or german.isdigit())
