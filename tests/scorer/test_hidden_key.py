"""Scoring against the key of a hidden set."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from vcrgen import score
from vcrgen.cli import app
from vcrgen.core.errors import AnswerError, DatasetError, HiddenSetError, PredictionError
from vcrgen.data.key import ANSWERS, KEY_FILE, REPORT, VERSION, KeyManifest
from vcrgen.scorer.answers import load_answers

ITEMS = [
    {"question_id": "a" * 32, "crossed_text": ["one small step for man"], "font": "lato", "strip": "above"},
    {
        "question_id": "b" * 32,
        "crossed_text": ["the quick brown fox jumps", "dogs near the river bank"],
        "font": "roboto",
        "strip": "below",
    },
]


@pytest.fixture
def key(tmp_path: Path) -> Path:
    folder = tmp_path / "set" / "key"
    folder.mkdir(parents=True)
    write_key(folder, [with_spans(item) for item in ITEMS])
    return folder


def with_spans(item: dict[str, Any]) -> dict[str, Any]:
    spans = [
        {"tokens": text.split(), "cover": mode, "visible_ink": ink}
        for text, mode, ink in zip(item["crossed_text"], ("easy", "hard"), (0.5, 0.3), strict=False)
    ]
    return item | {"spans": spans}


def write_key(folder: Path, items: list[Any], **changes: Any) -> None:
    (folder / ANSWERS).write_text("".join(json.dumps(item) + "\n" for item in items))
    (folder / REPORT).write_text("{}")
    hashes = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in (ANSWERS, REPORT)}
    values = {
        "version": VERSION,
        "language": "en",
        "items": len(items),
        "canary": "c",
        "nonce": "0",
        "fingerprint": "f",
        "signature": "vcrgen:0|lang:en|pictures:compared",
        "files": hashes,
        "public": "",
        "seal": "",
    }
    (folder / KEY_FILE).write_text(json.dumps(values | changes))


def write_outputs(folder: Path, outputs: dict[str, str], **more: str) -> Path:
    file = folder / "preds.jsonl"
    rows = ({"question_id": name, "output": text, **more} for name, text in outputs.items())
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


PERFECT = {item["question_id"]: " / ".join(item["crossed_text"]) for item in ITEMS}


@pytest.mark.parametrize("place", ["key", "set"])
def test_perfect_and_empty(key: Path, tmp_path: Path, place: str) -> None:
    data = key if place == "key" else key.parent
    perfect = score(write_outputs(tmp_path, PERFECT), data=data).cells[0]
    assert (perfect.variant, perfect.units, perfect.metrics["exact"].value) == ("mixed", 3, 1.0)
    empty = score(write_outputs(tmp_path, dict.fromkeys(PERFECT, "")), data=data).cells[0]
    assert (empty.metrics["exact"].value, empty.metrics["jaccard"].value) == (0.0, 0.0)


def test_scores_by_cover_font_and_place(key: Path, tmp_path: Path) -> None:
    outputs = PERFECT | {"a" * 32: "nothing that is near to it"}
    groups = score(write_outputs(tmp_path, outputs), data=key).cells[0].groups
    found = {(group.by, group.label): (group.units, group.metrics["exact"].value) for group in groups}
    assert found["cover", "easy"] == (2, 0.5) and found["cover", "hard"] == (1, 1.0)
    assert found["font", "lato"] == (1, 0.0) and found["font", "roboto"] == (2, 1.0)
    assert found["strip", "above"] == (1, 0.0) and found["strip", "below"] == (2, 1.0)


def test_the_signature_names_the_commitment_and_no_hash_of_the_answers(key: Path, tmp_path: Path) -> None:
    result = score(write_outputs(tmp_path, PERFECT), data=key)
    values = json.loads((key / KEY_FILE).read_text())
    assert result.signature.facts["data"] == KeyManifest(**values).commitment[:8]
    assert "answers" not in result.signature.facts
    assert any("secret" in note for note in result.notes)


def test_what_is_written_beside_the_outputs_holds_no_answer(key: Path, tmp_path: Path) -> None:
    file = write_outputs(tmp_path, dict.fromkeys(PERFECT, "no idea at all of what"))
    for form in ("text", "md", "csv", "latex", "json"):
        run = CliRunner().invoke(app, ["score", str(file), "--data", str(key), "--format", form])
        assert run.exit_code == 0
        shown = run.output + (tmp_path / "preds.scores.json").read_text()
        assert not any(text in shown for item in ITEMS for text in item["crossed_text"])


def test_modes_and_splits_are_refused(key: Path) -> None:
    for options in ({"mode": "easy"}, {"split": "test"}):
        with pytest.raises(AnswerError, match="no modes and no splits"):
            load_answers(key, **options)
    assert len(load_answers(key, subset="first100", split="all").questions) == 2


def test_outputs_that_name_a_mode_are_refused(key: Path, tmp_path: Path) -> None:
    with pytest.raises(PredictionError, match="its mode is easy"):
        score(write_outputs(tmp_path, PERFECT, mode="easy"), data=key)


def test_a_changed_key_is_refused(key: Path, tmp_path: Path) -> None:
    with (key / ANSWERS).open("a") as lines:
        lines.write("\n")
    with pytest.raises(HiddenSetError, match="was changed"):
        load_answers(key)


@pytest.mark.parametrize(
    "item",
    [
        {},
        {"question_id": "x"},
        {"question_id": "x", "crossed_text": "text", "spans": []},
        {"question_id": "x", "crossed_text": ["text"], "spans": [{}, {}]},
        {"question_id": "x", "crossed_text": ["text"], "spans": None},
        {"question_id": ["x"], "crossed_text": ["text"], "spans": [{}]},
        [1],
        "text",
    ],
)
def test_damaged_items_are_one_sentence_without_the_answer(key: Path, item: Any) -> None:
    write_key(key, [item])
    with pytest.raises((AnswerError, HiddenSetError), match="not an item of a key") as caught:
        load_answers(key)
    assert "text" not in str(caught.value).replace("crossed_text", "")


def test_a_key_of_another_version_or_language_is_refused(key: Path) -> None:
    write_key(key, [with_spans(ITEMS[0])], version="vcrgen-hidden-9")
    with pytest.raises(HiddenSetError, match="another version"):
        load_answers(key)
    write_key(key, [with_spans(ITEMS[0])], language="xx")
    with pytest.raises(AnswerError, match="not known"):
        load_answers(key)
    shutil.rmtree(key)
    with pytest.raises(DatasetError, match="is not a dataset"):
        load_answers(key.parent)


def test_a_part_of_a_key_is_scored_by_itself(key: Path, tmp_path: Path) -> None:
    """The asked questions come first; the ids of the rest are known, so that a whole file fits."""
    write_key(key, [with_spans(item) | {"part": part} for item, part in zip(ITEMS, ("feedback", "final"), strict=True)])
    assert [question.part for question in load_answers(key).questions] == ["feedback", "final"]
    outputs = write_outputs(tmp_path, PERFECT | {"a" * 32: "nothing that is near to it"})
    for part, spans, exact in (("feedback", 1, 0.0), ("final", 2, 1.0)):
        result = score(outputs, data=key, subset=part)
        assert (result.cells[0].units, result.cells[0].metrics["exact"].value) == (spans, exact)
        assert result.signature.facts["subset"] == part
        assert result.problems["outside"][0] == 1 and "missing" not in result.problems
    assert score(outputs, data=key).cells[0].units == 3


def test_parts_that_are_none(key: Path, tmp_path: Path) -> None:
    with pytest.raises(AnswerError, match="has no question in the split 'final'"):
        load_answers(key, subset="final")
    for part in ("training", None, 7, ["final"]):
        write_key(key, [with_spans(item) | {"part": part} for item in ITEMS])
        with pytest.raises(AnswerError, match="item 1: its `part` is none of feedback and final"):
            load_answers(key)
    plain = tmp_path / "plain.jsonl"
    plain.write_text(json.dumps({"question_id": "a", "crossed_text": ["one small step"]}) + "\n")
    with pytest.raises(AnswerError, match="has no parts"):
        load_answers(plain, subset="feedback")
