"""Every format, joined by id; every oddity counted."""

import json
from pathlib import Path
from typing import Any

import pytest

from vcrgen.core.errors import DatasetError, PredictionError
from vcrgen.scorer import Outcome, RunResult, ScoreOptions, Session, score
from vcrgen.scorer.output_matcher import PROBLEMS, describe_problem, problem_name
from vcrgen.scorer.predictions.output import row_number

ANSWERS = {
    "a": "the quick brown fox jumps\nover the lazy old dog",
    "b": "is a town in the",
    "c": "one of the most famous",
}
TABLE = [
    {"index": row, "question": "q", "answer": None, "prediction": text} for row, text in enumerate(ANSWERS.values())
]
LISTS = [["the quick brown fox jumps", "over the lazy old dog"], ["is a town in the"], ["one of the most famous"]]


def exact(result: RunResult, view: str = "stacked") -> float:
    return result.cell(view).metrics["exact"].value


def counts(result: RunResult) -> dict[str, int]:
    return {kind: count for kind, (count, _) in result.problems.items()}


def test_canonical(perfect: Path, key: Path) -> None:
    result = score(perfect, data=key)
    assert (result.format, exact(result), counts(result)) == ("vcrgen-jsonl", 1.0, {})


@pytest.mark.parametrize(
    ("text", "number"), [("0", 0), ("012", 12), ("9" * 18, 10**18 - 1), ("9" * 19, None), ("-1", None), ("１", None)]
)
def test_row_numbers(text: str, number: int | None) -> None:
    assert row_number(text) == number


def test_order_does_not_matter(perfect: Path, key: Path, write_lines: Any) -> None:
    lines = perfect.read_text("utf-8").splitlines()
    assert score(write_lines("r.jsonl", reversed(lines)), data=key).cells == score(perfect, data=key).cells


def test_views_modes_and_model(key: Path, write_lines: Any) -> None:
    rows = [
        {"question_id": i, "output": text, "view": view, "mode": "hard", "model": "M"}
        for i, text in ANSWERS.items()
        for view in ("stacked", "tei")
        if (i, view) != ("b", "tei")
    ]
    result = score(write_lines("p.jsonl", rows), data=key)
    assert (result.title, [(c.variant, c.view.value) for c in result.cells]) == (
        "M",
        [("hard", "stacked"), ("hard", "tei")],
    )
    assert (exact(result), exact(result, "tei"), counts(result)) == (1.0, 0.75, {"missing": 1})
    assert result.differences[0].metrics["exact"].value == 0.25


def test_vcr_repository(tmp_path: Path, key: Path) -> None:
    values: dict[str, Any] = {
        str(row): {"res_stacked_image": [text], "res_only_it_image": text, "res_only_it_image_small": None}
        for row, text in enumerate(ANSWERS.values())
    }
    values["1"]["res_only_it_image"] = {}
    for indent in (None, 4):
        file = tmp_path / "p.json"
        file.write_text(json.dumps(values, indent=indent), "utf-8")
        result = score(file, data=key)
        assert result.format == "vcr-repository-json"
        assert [exact(result, view) for view in ("stacked", "tei", "strip")] == [1.0, 0.75, 0.0]
        assert counts(result) == {"null": 3, "empty": 1, "listed": 3, "object": 1}


def write_table(file: Path, rows: list[dict[str, Any]], kind: str) -> Path:
    import csv

    if kind == "xlsx":
        openpyxl = pytest.importorskip("openpyxl")
        book = openpyxl.Workbook()
        for row in [list(rows[0]), *(list(row.values()) for row in rows)]:
            book.active.append(row)
        book.save(file)
    elif kind == "json":
        file.write_text(json.dumps(rows), "utf-8")
    elif kind == "columns":
        file.write_text(
            json.dumps({name: {str(i): row[name] for i, row in enumerate(rows)} for name in rows[0]}), "utf-8"
        )
    else:
        with file.open("w", encoding="utf-8", newline="") as handle:
            writer = csv.DictWriter(handle, list(rows[0]), delimiter="\t" if kind == "tsv" else ",")
            writer.writeheader()
            writer.writerows(rows)
    return file


@pytest.mark.parametrize("kind", ["xlsx", "csv", "tsv", "json", "columns"])
def test_vlmevalkit_tables(tmp_path: Path, key: Path, kind: str) -> None:
    rows = [row | {"answer": repr(answers)} for row, answers in zip(TABLE, LISTS, strict=True)]
    rows = [rows[2], rows[0], rows[1] | {"prediction": None}]
    result = score(write_table(tmp_path / "table.bin", rows, kind), data=key, view="stacked")
    assert (exact(result), result.cells[0].counts["null"]) == (0.75, 1)
    assert result.format.startswith("vlmevalkit-")


def test_question_id_of_a_table_comes_before_its_index(tmp_path: Path, key: Path) -> None:
    rows = [
        row | {"index": 9 - i, "question_id": name} for i, (row, name) in enumerate(zip(TABLE, ANSWERS, strict=True))
    ]
    assert exact(score(write_table(tmp_path / "t.csv", rows, "csv"), data=key, view="stacked")) == 1.0


def test_lmms_eval_logs(tmp_path: Path, key: Path, write_lines: Any) -> None:
    rows = [
        {"doc_id": row, "target": LISTS[row], "resps": [["x"]], "filtered_resps": [text]}
        for row, text in enumerate(ANSWERS.values())
    ]
    result = score(write_lines("log.jsonl", reversed(rows)), data=key, view="stacked")
    assert (result.format, exact(result), counts(result)) == ("lmms-eval-jsonl", 1.0, {})
    old = tmp_path / "old.json"
    old.write_text(json.dumps({"args": {}, "logs": rows}), "utf-8")
    assert exact(score(old, data=key, view="stacked")) == 1.0


LINE = '{{"question_id": "{}", "output": "{}", "view": "tei"}}'
TEXTS = {name: text.replace("\n", " ") for name, text in ANSWERS.items()}
RECORDS = [LINE.format(name, text) for name, text in TEXTS.items()]
FORMS = {
    "an array": f"[{', '.join(RECORDS)}]",
    "an array over lines": "[\n" + ",\n".join(RECORDS) + "\n]\n",
    "an indented array": json.dumps(list(map(json.loads, RECORDS)), indent=4),
    "a line before the array goes on": f"[{RECORDS[0]},\n{RECORDS[1]}, {RECORDS[2]}]",
    "ids to texts": json.dumps(TEXTS),
    "ids to texts, indented": json.dumps(TEXTS, indent=1),
    "ids to lists": json.dumps(dict(zip(ANSWERS, LISTS, strict=True))),
    "ids to objects": json.dumps({name: {"output": text, "view": "stacked"} for name, text in TEXTS.items()}),
    "lmms-eval's samples": json.dumps([{"doc_id": n, "resps": [[text]]} for n, text in enumerate(TEXTS.values())]),
    "own columns": "question_id,output\n" + "".join(f'{name},"{text}"\n' for name, text in TEXTS.items()),
    "semicolons": "index;prediction;question\n" + "".join(f'{name};"{text}";x\n' for name, text in TEXTS.items()),
}


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be"])
@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS.keys())
def test_other_forms_of_outputs(tmp_path: Path, key: Path, text: str, encoding: str) -> None:
    file = tmp_path / "outputs.txt"
    file.write_bytes(text.encode(encoding))
    view = "tei" if '"tei"' in text else "stacked"
    assert exact(score(file, data=key, view=view), view) == 1.0


def test_utf_16_that_is_none_is_a_sentence(tmp_path: Path, key: Path) -> None:
    file = tmp_path / "outputs.jsonl"
    for data, message in (
        (b"\xff\xfea\0\0", "begins as UTF-16, but is none"),
        ("{}".encode("utf-32"), "not UTF-8 text"),
    ):
        file.write_bytes(data)
        with pytest.raises(PredictionError, match=f"outputs.jsonl.* {message}"):
            score(file, data=key)


def test_an_id_that_comes_twice_in_an_object_is_counted(tmp_path: Path, key: Path) -> None:
    file = tmp_path / "outputs.json"
    file.write_text('{"a": "x", "b": "y", "c": "z", "a": "x", "b": "other"}', "utf-8")
    assert counts(score(file, data=key)) == {"duplicate": 1, "conflict": 1}


def test_answers_of_another_dataset_are_noticed(tmp_path: Path, key: Path) -> None:
    rows = [row | {"answer": "['something else']"} for row in TABLE]
    with pytest.raises(PredictionError, match="row 1: its answers are not those of 'a'"):
        score(write_table(tmp_path / "t.csv", rows, "csv"), data=key, view="stacked")


def test_everything_odd_is_counted(key: Path, write_lines: Any) -> None:
    rows = [
        {"question_id": "a", "output": [ANSWERS["a"]]},
        {"question_id": "a", "output": ANSWERS["a"]},
        {"question_id": "a", "output": "again"},
        {"question_id": "nobody", "output": "x"},
        {"question_id": "b", "output": None},
        '{"question_id": "c", "output": NaN}',
    ]
    file = write_lines("p.jsonl", rows)
    result = score(file, data=key)
    assert counts(result) == {"unknown": 1, "duplicate": 1, "conflict": 1, "null": 1, "nan": 1, "listed": 1}
    assert (exact(result), result.cells[0].outcomes["null"]) == (0.5, 2)
    with pytest.raises(PredictionError, match="--strict"):
        score(file, data=key, strict=True)


def test_missing_counts_as_wrong_and_is_said(key: Path, write_lines: Any) -> None:
    file = write_lines("p.jsonl", [{"question_id": "a", "output": ANSWERS["a"]}])
    result = score(file, data=key)
    assert (exact(result), counts(result)["missing"], result.cells[0].outcomes["missing"]) == (0.5, 2, 2)
    assert (result.cells[0].missing, result.cells[0].questions_of(result.task)) == (2, 3)
    with pytest.raises(PredictionError, match="2 questions without an output"):
        score(file, data=key, strict=True)


def test_a_problem_is_said_of_one_and_of_several() -> None:
    for kind in PROBLEMS:
        one, two = describe_problem(kind, 1), describe_problem(kind, 2)
        assert problem_name(kind) == two.removeprefix("2 ") and not set("[|]") & set(one + two)
        assert one.removeprefix("1 ") != two.removeprefix("2 ") or kind in ("null", "nan")  # without a plural


def test_empty_is_not_missing(key: Path, write_lines: Any) -> None:
    result = score(write_lines("p.jsonl", [{"question_id": i, "output": " "} for i in ANSWERS]), data=key)
    assert (exact(result), result.cells[0].counts["empty"], counts(result)) == (0.0, 3, {"empty": 3})


def test_whole_numbers_are_ids(write_lines: Any) -> None:
    key = write_lines("k.jsonl", [{"question_id": 7, "crossed_text": ["red dog"]}])
    for value in (7, "7", 7.0):
        assert exact(score(write_lines("p.jsonl", [{"question_id": value, "output": "red dog"}]), data=key)) == 1.0


FAILURES = {
    "vlmevalkit": "Failed to obtain answer via API. ",
    "lmms-eval": "[LMMS_EVAL_REQUEST_FAILED after 3 retries] Error code: 429",
    "lmms-eval, no money left": "[LMMS_EVAL_BUDGET_EXCEEDED]",
}


@pytest.mark.parametrize("tool", FAILURES)
def test_a_call_that_failed_is_no_answer(tmp_path: Path, key: Path, write_lines: Any, tool: str) -> None:
    """A file of them was said to be complete."""
    texts = [FAILURES[tool], *list(ANSWERS.values())[1:]]
    if tool == "vlmevalkit":
        file = write_table(
            tmp_path / "t.csv", [{**row, "prediction": t} for row, t in zip(TABLE, texts, strict=True)], "csv"
        )
    else:
        file = write_lines("log.jsonl", [{"doc_id": row, "resps": [[text]]} for row, text in enumerate(texts)])
    found = Session(key, ScoreOptions(view="stacked")).validate(file)
    assert not found.fit and found.problems["failed"] == (1, ("row 1" if tool == "vlmevalkit" else "line 1",))
    with pytest.raises(PredictionError, match="1 output that says that the call to the model failed"):
        score(file, data=key, view="stacked", strict=True)
    result = score(file, data=key, view="stacked")
    assert result.cell().outcomes["failed"] == 2 and result.cell().counts["failed"] == 1
    assert result.cell().outcomes["wrong"] == 0, "a failed call is no wrong answer"
    (found_a,) = Session(key, ScoreOptions(view="stacked")).find_examples(file, {"a"})
    assert {(match.outcome, match.ngram) for match in found_a.matches} == {(Outcome.FAILED, "")}
    # The published programs score the text; it is told apart all the same.
    published = score(file, data=key, view="stacked", protocol="vlmevalkit").cell()
    assert published.outcomes["failed"] == 2
    # Where a model itself may have said so, it is an answer.
    assert counts(score(write_lines("p.jsonl", [{"question_id": "a", "output": texts[0]}]), data=key)) == {"missing": 2}


def test_subsets_keep_the_datasets_order(write_lines: Any) -> None:
    key = write_lines("k.jsonl", [{"question_id": i, "crossed_text": ["red dog"]} for i in range(150)])
    rows = [{"question_id": i, "output": "red dog" if i < 100 else "x"} for i in range(150)]
    result = score(write_lines("p.jsonl", rows), data=key, subset="first100")
    assert (exact(result), result.cells[0].clusters, counts(result)) == (1.0, 100, {"outside": 50})
    assert result.signature.facts["subset"] == "first100"


def test_vcr_wikis_parquet(tmp_path: Path, write_lines: Any) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = tmp_path / "wiki" / "data"
    folder.mkdir(parents=True)
    for split, first in (("train", 100), ("test", 0)):
        columns = {"question_id": [first, first + 1], "crossed_text": [["red dog"], ["blue cat"]], "image": [b"", b""]}
        pq.write_table(pa.table(columns), folder / f"{split}-00000-of-00001.parquet")
    file = write_lines("p.jsonl", [{"question_id": 0, "output": "red dog"}, {"question_id": "1", "output": "x y"}])
    for data in (tmp_path / "wiki", folder / "test-00000-of-00001.parquet"):
        assert exact(score(file, data=data)) == 0.5
    assert exact(score(file, data=tmp_path / "wiki", split="all")) == 0.25


def test_a_parquet_of_something_else(perfect: Path, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"a": [1]}), tmp_path / "x.parquet")
    with pytest.raises(DatasetError, match="has no column `question_id`"):
        score(perfect, data=tmp_path / "x.parquet")
