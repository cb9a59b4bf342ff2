"""A copy without the items that models answer without the picture."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.bloom.conftest import made_set, row
from vcrgen.data.tasks.bloom import read_items
from vcrgen.data.tasks.opening import open_task_dataset

Run = Callable[..., tuple[int, str, str]]
KEYS = ["ABCD"[number % 4] for number in range(8)]


@pytest.fixture
def made(tmp_path: Path) -> Path:
    return made_set(tmp_path / "made", [row(number) for number in range(8)])


def outputs(
    file: Path, right: Mapping[int, int], *, view: str = "text-only", lang: str = "en", orders: int = 1
) -> Path:
    """Outputs in several orders; item `number` is right in `right[number]` of them, and wrong in the others."""
    lines = []
    for number, key in enumerate(KEYS):
        for rotation in range(orders):
            shown = "ABCD"[("ABCD".index(key) - rotation) % 4]
            wrong = "ABCD"[("ABCD".index(shown) + 1) % 4]
            line: dict[str, Any] = {"question_id": f"item-{number:03d}", "lang": lang, "view": view}
            line |= {"output": shown if rotation < right.get(number, 0) else wrong, "rotation": rotation}
            lines.append(json.dumps(line))
    file.write_text("\n".join(lines), "utf-8")
    return file


def kept(folder: str) -> list[int]:
    return [int(item.question_id[-3:]) for item in read_items(open_task_dataset(Path(folder)))]


def test_what_most_models_answer_without_the_picture_is_left_out(run: Run, made: Path) -> None:
    files = [
        outputs(Path("a-blind.jsonl"), {0: 1, 1: 1, 2: 1}),
        outputs(Path("b-blind.jsonl"), {1: 1, 2: 1}, lang="ar"),
        outputs(Path("c-blind.jsonl"), {2: 1, 3: 1}),
    ]
    words = [word for file in files for word in ("--blind", file)]
    code, out, err = run("bloom", "filter", made, *words, "--out", "most")
    assert code == 0 and kept("most") == [0, 3, 4, 5, 6, 7], err
    assert "a-blind: 3 of 8 items answered without the picture, 2 expected from guesses." in out
    assert "answered_text_only" in out
    card = Path("most/README.md").read_text()
    assert "2 items that 2 models of 3 or more answered without the picture were left out" in card
    assert run("bloom", "filter", made, *words, "--blind-models", 3, "--out", "all")[0] == 0 and len(kept("all")) == 7
    assert run("bloom", "filter", made, *words, "--blind-models", 1, "--out", "any")[0] == 0 and len(kept("any")) == 4
    code, _, err = run("bloom", "filter", made, *words, "--blind-models", 4, "--out", "none")
    assert code == 2 and "--blind-models 4 needs a number from 1 to 3" in err
    code, _, err = run("bloom", "filter", made, *words, "--without", "ids.txt", "--out", "none")
    assert code == 2 and "give one of --without FILE, --audit FOLDER and --blind FILE" in err


def test_an_item_is_answered_only_in_all_orders(run: Run, made: Path) -> None:
    file = outputs(Path("a.jsonl"), {0: 4, 1: 3, 2: 1}, orders=4)
    code, out, err = run("bloom", "filter", made, "--blind", file, "--out", "less")
    assert code == 0 and kept("less") == [1, 2, 3, 4, 5, 6, 7], err
    assert "a: 1 of 8 items answered without the picture, 0 expected from guesses." in out


def test_outputs_with_the_picture_say_nothing(run: Run, made: Path) -> None:
    file = outputs(Path("a.jsonl"), {0: 1}, view="image")
    code, _, err = run("bloom", "filter", made, "--blind", file, "--out", "less")
    assert code == 2 and "of 8 outputs none fits --view text-only" in err and not Path("less").exists()


def test_an_output_that_does_not_say_its_view_may_be_of_the_picture(run: Run, made: Path) -> None:
    file = outputs(Path("a.jsonl"), {0: 1})
    file.write_text(file.read_text().replace('"view": "text-only", ', "", 3))
    code, _, err = run("bloom", "filter", made, "--blind", file, "--out", "less")
    assert code == 2 and "a.jsonl: 3 outputs do not say their view" in err and not Path("less").exists()
