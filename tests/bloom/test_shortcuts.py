"""The gate of made sets: a set that can be read without its pictures is not written, unless that is allowed."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.bloom.conftest import PATHS, done, png, row
from vcrgen.bloom.rejects import RejectLog
from vcrgen.bloom.shortcuts import ShortcutGate
from vcrgen.bloom.taxonomy import default_taxonomy
from vcrgen.bloom.write import CARD, write_set
from vcrgen.core.errors import ShortcutError
from vcrgen.data.tasks.bloom import read_items
from vcrgen.data.tasks.opening import open_task_dataset


def rows(count: int, *, longest: bool) -> list[dict[str, Any]]:
    """Items of which the right option is the longest, or all are as long."""
    found = []
    for number in range(count):
        key = number % 4
        options = [f"{'very ' * (longest and at == key)}small {'abcd'[at]}" for at in range(4)]
        texts = {"question_en": f"Question {number}?", "options_en": options, "answer": "ABCD"[key]}
        found.append(row(number, ("en",), **texts, path=PATHS[0], image={"bytes": png(f"#{number:06x}"), "path": None}))
    return found


def write(out: Path, found: list[dict[str, Any]], gate: ShortcutGate | None) -> str:
    write_set(
        out,
        found,
        languages=("en",),
        taxonomy=default_taxonomy(),
        source="a test",
        config={},
        rejects=RejectLog(),
        notes="\n## More\n",
        gate=gate,
    )
    return (out / CARD).read_text("utf-8")


def test_a_set_with_a_shortcut_is_not_written_unless_it_is_allowed(tmp_path: Path) -> None:
    found = rows(100, longest=True)
    with pytest.raises(ShortcutError) as refused:
        write(tmp_path / "set", found, ShortcutGate())
    assert "by an n-gram classifier: right in 100.0 % of 100 items in en (chance 25.0 %)" in str(refused.value)
    assert "--allow-shortcuts" in str(refused.value) and not (tmp_path / "set").exists()
    card = write(tmp_path / "set", found, ShortcutGate(allowed=True))
    assert "**Shortcuts: right in 100.0 % of 100 items" in card
    assert "| en | 100 | 100.0 | 25.0 |" in card and card.endswith("## More\n")
    assert "## Read without pictures" not in write(tmp_path / "other", found, None)


def test_the_reader_learns_from_items_of_other_seeds_where_there_are_any(tmp_path: Path) -> None:
    asked: list[int] = []

    def training(items: int) -> list[Any]:
        asked.append(items)
        return []

    card = write(tmp_path / "small", rows(40, longest=False), ShortcutGate(training=training))
    assert not asked and "Not tested: no language has 100 items" in card
    card = write(tmp_path / "large", rows(120, longest=False), ShortcutGate(training=training))
    assert asked == [120] and "None is a shortcut." in card


def test_built_in_sets_pass_the_gate(run: Any, tmp_path: Path) -> None:
    done(run, "bloom", "build", "-n", 120, "--out", tmp_path / "set")
    card = (tmp_path / "set" / CARD).read_text("utf-8")
    assert "| ar | 120 |" in card and "it learned from items of other seeds" in card
    assert "the form of an item is that of its level, not the skill" in card
    code, out, err = run("inspect", tmp_path / "set")
    assert code == 0 and "the form of an item is that of its level, not the skill" in out
    items = read_items(open_task_dataset(tmp_path / "set"), pictures=False)
    lines = [json.dumps({"question_id": item.question_id, "lang": "en", "output": "A"}) for item in items]
    Path("all-a.jsonl").write_text("\n".join(lines))
    assert run("score", "all-a.jsonl", "--data", tmp_path / "set", "--lang", "en")[0] == 0
    code, out, err = run("profile", "all-a.scores.json", "--format", "md")
    assert code == 0 and "the form of an item is that of its level, not the skill" in out, err
