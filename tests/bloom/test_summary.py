"""``vcrgen inspect`` of an MCQ benchmark."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.bloom.conftest import PATHS, made_set, row
from vcrgen.bloom.summary import set_figures, set_taxonomy
from vcrgen.core.errors import ConfigError
from vcrgen.data.tasks.opening import open_task_dataset

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = [row(number) for number in range(12)]
    rows[3] |= {"question_en": "Which of the following is right?"}
    rows[4] |= {"question_ar": "", "options_ar": ["", "", "", ""]}
    rows[5] |= {"options_en": ["a", "b much longer than all", "c", "d"], "answer": "B"}
    rows[6] |= {"options_en": ["same", "Same", "c", "d"], "trap": ""}
    return made_set(tmp_path_factory.mktemp("summary") / "set", rows)


def test_the_figures(made: Path) -> None:
    figures = set_figures(open_task_dataset(made))
    assert (figures.items, figures.pictures, figures.max_items_of_picture, figures.traps) == (12, 3, 4, 11)
    assert figures.positions == {"A": 3, "B": 3, "C": 3, "D": 3}
    assert {lang: each.items for lang, each in figures.languages.items()} == {"en": 12, "ar": 11}
    assert figures.levels["remember"] == (12, 12, 39) and figures.levels["create"] == (0, 0, 11)
    assert figures.empty_categories == PATHS[12:] and figures.unknown_categories == ()
    assert figures.problems == {"equal_options": 1, "points_at_options": 1}
    # "three boats" is the longest of its four; so items 2, 10 and, by its own options, 5 are right by length. In item 6
    # the first two are the longest, and its key is neither.
    assert figures.languages["en"].longest_key == pytest.approx(3 / 12)


def test_inspect(made: Path, run: Run) -> None:
    code, out, _ = run("inspect", str(made))
    assert code == 0 and "12 items about 3 pictures: 4.0 a picture" in out and "points_at_options" in out
    assert "Categories without items: 94" in out and "Right options: A 3, B 3, C 3, D 3" in out
    code, out, _ = run("inspect", str(made), "--json")
    assert code == 0 and json.loads(out)["positions"] == {"A": 3, "B": 3, "C": 3, "D": 3}


def test_a_set_with_a_taxonomy_of_its_own(tmp_path: Path, run: Run) -> None:
    folder = made_set(tmp_path / "own", [row(0, path="see/far/hills"), row(1, path="see/far/seas")])
    (folder / "taxonomy.csv").write_text("level,subcategory,leaf\nsee,far,hills\nsee,far,clouds\n", "utf-8")
    figures = set_figures(open_task_dataset(folder))
    assert figures.levels == {"see": (1, 1, 2)} and figures.empty_categories == ("see/far/clouds",)
    assert figures.unknown_categories == ("see/far/seas",) and figures.problems == {"unknown_category": 1}
    code, out, _ = run("inspect", str(folder))
    assert code == 0 and out.count("see/far/seas") == 1
    (folder / "taxonomy.csv").write_text("x", "utf-8")
    with pytest.raises(ConfigError, match="it needs level, subcategory, leaf"):
        set_taxonomy(open_task_dataset(folder))
