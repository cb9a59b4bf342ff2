"""Accuracy by the letter of the key: the counts, the test, its sentence, the table, saved and hidden scores."""

import json
from pathlib import Path

import pytest

from tests.bloom.conftest import made_set, png, row
from vcrgen.core.errors import ScoreError
from vcrgen.scorer import render, score
from vcrgen.scorer.key_letters import KeyLetter, key_letter_warnings, letter_test
from vcrgen.scorer.saved import as_saved, load_saved

ITEMS = 160


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pictures = [{"bytes": png(f"#{5 * number:02x}4080"), "path": None} for number in range(ITEMS // 4)]
    rows = [row(number, image=pictures[number // 4]) for number in range(ITEMS)]
    return made_set(tmp_path_factory.mktemp("letters") / "set", rows)


@pytest.fixture
def outputs(data: Path, tmp_path: Path) -> Path:
    """A model that knows all, but says of every second item with the key A that it cannot tell."""
    file = tmp_path / "preds.jsonl"
    answers = ["I can't tell." if number % 8 == 0 else "ABCD"[number % 4] for number in range(ITEMS)]
    lines = [{"question_id": row(n)["question_id"], "lang": "en", "output": said} for n, said in enumerate(answers)]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def test_counts_warning_and_table(data: Path, outputs: Path) -> None:
    result = score(outputs, data=data)
    letters = result.cells[0].key_letters
    assert [(each.letter, each.units, each.right, each.unread) for each in letters] == [
        ("A", 40, 20, 20),
        ("B", 40, 40, 0),
        ("C", 40, 40, 0),
        ("D", 40, 40, 0),
    ]
    warnings = [note for note in result.notes if "the letter of the key matters" in note]
    assert warnings == [
        "Image, en: the letter of the key matters. Right are A 50.00 %, B 100.00 %, C 100.00 %, D 100.00 % "
        "(p = 0.0002, by Holm).",
        "Image, en: the letter of the key matters. Not read are A 50.00 %, B 0.00 %, C 0.00 %, D 0.00 % "
        "(p = 0.0002, by Holm).",
    ]
    report = render([result], "md").replace("\\", "").replace("&lt;", "<")
    assert "By the letter of the key, in percent" in report
    assert "| 50.00 | 100.00 | 100.00 | 100.00 | <0.001 | 50.00 | 0.00 | 0.00 | 0.00 | <0.001 |" in report
    assert result.as_json()["scores"][0]["key_letters_p"] == {"right": 0.0001, "unread": 0.0001}


def test_even_letters_have_no_warning() -> None:
    even = [KeyLetter(letter=letter, units=40, right=30 + place % 2, unread=1) for place, letter in enumerate("ABCD")]
    assert list(key_letter_warnings([("Image, en", even), ("Image, ar", ())])) == []
    assert min(letter_test(even)) > 0.5


def test_a_warning_takes_all_tests_of_the_run_into_account() -> None:
    near = [
        KeyLetter(letter=letter, units=50, right=right, unread=0) for letter, right in zip("AB", (29, 40), strict=True)
    ]
    assert 0.025 < letter_test(near).right < 0.05
    assert list(key_letter_warnings([("Image, en", near)])) == []


def test_saved_scores_keep_them_and_refuse_other_counts(data: Path, outputs: Path, tmp_path: Path) -> None:
    result = score(outputs, data=data)
    saved, file = as_saved(result, secret=False), tmp_path / "a.scores.json"
    file.write_text(json.dumps(saved))
    assert load_saved(file).cells[0].key_letters == result.cells[0].key_letters
    for name, value in (("right", 21), ("unread", 19), ("items", 41), ("letter", "B"), ("right", -1)):
        changed = json.loads(json.dumps(saved))
        changed["scores"][0]["key_letters"][0][name] = value
        file.write_text(json.dumps(changed))
        with pytest.raises(ScoreError, match="damaged"):
            load_saved(file)
