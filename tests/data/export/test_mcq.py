"""MCQ benchmarks in the formats of other tools."""

import csv
import re
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

from tests.bloom.conftest import made_set, row
from vcrgen.bloom.importing import import_questions
from vcrgen.bloom.options import BloomImportOptions
from vcrgen.core.errors import ConfigError
from vcrgen.data.export import export_dataset
from vcrgen.data.tasks.bloom import ChoiceItem, read_items
from vcrgen.data.tasks.opening import open_task_dataset


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = [row(number) for number in range(10)]
    rows[4] |= {"question_ar": "", "options_ar": ["", "", "", ""]}
    rows[7] |= {"trap": "", "question_en": 'How many "boats"?\tAnd\nwhere?'}
    return made_set(tmp_path_factory.mktemp("questions") / "set", rows)


def of_language(items: list[ChoiceItem], lang: str) -> list[tuple[Any, ...]]:
    return [
        (item.question_id, item.path, item.picture, item.questions[lang], item.answer, item.trap)
        for item in items
        if lang in item.questions
    ]


BROKEN_LINE = "item-007"  # its English question has a line break, which VLMEvalKit reads and our TSV reader rejects


@pytest.mark.parametrize(("to", "ending"), [("vlmevalkit", "tsv"), ("lmms-eval", "parquet")])
def test_what_is_exported_is_read_back_equal(made: Path, tmp_path: Path, to: str, ending: str) -> None:
    result = export_dataset(made, to=to, out=tmp_path / "out")
    assert result.rows == 19
    there = list(read_items(open_task_dataset(made)))
    for lang in ("en", "ar"):
        (file,) = (path for path in (tmp_path / "out").rglob(f"*.{ending}") if f"_{lang}_" in path.name.lower())
        import_questions(file, BloomImportOptions(lang=lang), tmp_path / lang)
        expected = [item for item in there if ending != "tsv" or lang != "en" or item.question_id != BROKEN_LINE]
        assert of_language(list(read_items(open_task_dataset(tmp_path / lang))), lang) == of_language(expected, lang)


def test_a_table_of_vlmevalkit(made: Path, tmp_path: Path) -> None:
    export_dataset(made, to="vlmevalkit", out=tmp_path / "out")
    (file,) = (tmp_path / "out").glob("BLOOM_EN_test_*.tsv")
    with file.open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle, delimiter="\t"))
    assert len({each["index"] for each in rows}) == len(rows) == 10
    first = rows[0]
    assert (first["answer"], first["l2-category"], first["lang"], first["view"]) == ("A", "remember", "en", "image")
    assert first["category"] == "remember/core object recognition/clothing & accessories"
    assert re.search(r"--data BLOOM_EN_test_[0-9a-f]{8} ", (tmp_path / "out" / "README.md").read_text("utf-8"))


def test_a_task_of_lmms_eval(made: Path, tmp_path: Path) -> None:
    export_dataset(made, to="lmms-eval", out=tmp_path / "out")
    (file,) = (tmp_path / "out").glob("bloom_ar_*.yaml")
    task = yaml.safe_load(file.read_text("utf-8"))
    table = pq.read_table(tmp_path / "out" / task["dataset_kwargs"]["data_files"]["test"])
    first = table.to_pylist()[0]
    assert {task["doc_to_visual"], task["doc_to_text"], task["doc_to_target"], "category"} <= set(table.column_names)
    assert first["prompt"].splitlines()[1:5] == ["A. واحد", "B. اثنان", "C. ثلاثة", "D. أربعة"]
    assert first[task["doc_to_target"]] == "A" and table.num_rows == 9


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"to": "webdataset"}, "Unknown format 'webdataset'. Known: vlmevalkit, "),
        ({"to": "vlmevalkit", "mode": "easy"}, "has no modes"),
        ({"to": "trl"}, "which goes to vlmevalkit or lmms-eval only"),
        ({"to": "vlmevalkit", "split": "train"}, "nothing of split 'train'"),
    ],
)
def test_what_cannot_be_exported(made: Path, tmp_path: Path, options: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        export_dataset(made, out=tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()
