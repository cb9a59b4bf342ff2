"""Reading scores: every kind of file gives the same table, missing stays missing, and what is wrong is said where."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from vcrgen.analysis import score_table
from vcrgen.analysis.score_table import Columns, binomial_standard_error, parse_number, read_scores, table_from_rows
from vcrgen.core.errors import AnalysisError, ScoreError, VcrgenError
from vcrgen.scorer import score
from vcrgen.scorer.saved import as_saved

GRID: list[list[Any]] = [["model", "Color", "Count"], ["GPT", 92.5, 90.0], ["Seer", 75.0, None], ["Eye", 60.0, 55.5]]
LONG: list[list[Any]] = [
    ["model", "task", "score", "se", "items", "family"],
    ["GPT", "Color", 92.5, 1.5, None, "OpenAI"],
    ["GPT", "Count", 90.0, None, 30, "OpenAI"],
    ["Seer", "Color", 75.0, None, None, "Lab"],
    ["Eye", "Color", 60.0, None, 100, "Lab"],
    ["Eye", "Count", 55.5, 2.0, 30, "Lab"],
]


def write(folder: Path, suffix: str, rows: list[list[Any]]) -> Path:
    file = folder / f"scores{suffix}"
    if suffix == ".xlsx":
        book = openpyxl.Workbook()
        for row in rows:
            book.active.append(row)
        book.save(file)
    elif suffix == ".parquet":
        columns = {head: [row[number] for row in rows[1:]] for number, head in enumerate(rows[0])}
        pq.write_table(pa.table(columns), file)
    else:
        with file.open("w", newline="", encoding="utf-8") as handle:
            csv.writer(handle, delimiter="\t" if suffix == ".tsv" else ",").writerows(rows)
    return file


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".xlsx", ".parquet"])
def test_wide_and_long_tables_of_every_kind(tmp_path: Path, suffix: str) -> None:
    wide = read_scores([write(tmp_path, suffix, GRID)])
    assert wide.models == ("GPT", "Seer", "Eye") and wide.tasks == ("Color", "Count") and wide.errors is None
    np.testing.assert_array_equal(wide.scores, [[92.5, 90], [75, np.nan], [60, 55.5]])
    long = read_scores([write(tmp_path, suffix, LONG)])
    assert (long.models, long.tasks, long.families) == (wide.models, wide.tasks, ("OpenAI", "Lab", "Lab"))
    np.testing.assert_array_equal(long.scores, wide.scores)
    assert long.errors is not None and long.groups is not None and long.groups.tolist() == [0, 1, 1]
    expected = [[1.5, 100 * np.sqrt(0.9 * 0.1 / 30)], [np.nan, np.nan], [100 * np.sqrt(0.6 * 0.4 / 100), 2.0]]
    np.testing.assert_allclose(long.errors, expected)


def test_columns_about_models_are_no_tasks(tmp_path: Path) -> None:
    rows = [["name", "Color", "family", "released"], ["A", "1", "x", "2024-01-01"], ["B", "2", "y", ""]]
    table = read_scores([write(tmp_path, ".csv", rows)])
    assert table.tasks == ("Color",) and table.families == ("x", "y") and table.models == ("A", "B")


@pytest.mark.parametrize("cell", ["", " ", "-", "–", "nan", "NaN", "NULL", "None", "N/A", "#N/A", None, float("nan")])
def test_what_stands_for_a_missing_score(cell: object) -> None:
    assert np.isnan(parse_number(cell, "here"))


@pytest.mark.parametrize(
    "cell", ["=1+1", "12,5", "%", "85%%", "inf%", "inf", "-inf", "1e999", "1e200", True, [1], "0x10", "x" * 9999]
)
def test_what_is_no_number(cell: object) -> None:
    with pytest.raises(AnalysisError, match=r"t\.csv, row 3: .{1,60} is no number; leave the cell empty"):
        parse_number(cell, "t.csv, row 3")


@pytest.mark.parametrize("cell", ["59.1%", " 59.1 % ", "59.1", 59.1])
def test_a_percent_sign_is_left_out(cell: object) -> None:
    assert parse_number(cell, "here") == 59.1


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".xlsx", ".parquet"])
def test_tables_as_pandas_writes_them(tmp_path: Path, suffix: str) -> None:
    """The index holds the models, or numbers of rows beside a column of names, of which it may be called model."""
    expected = read_scores([write(tmp_path, suffix, GRID)])
    blank: Any = "__index_level_0__" if suffix == ".parquet" else None if suffix == ".xlsx" else ""
    named = [[blank, *GRID[0][1:]], *GRID[1:]]
    if suffix == ".parquet":  # where the index comes last
        named = [[*row[1:], row[0]] for row in named]
    numbered = [[blank, *GRID[0]], *([number, *row] for number, row in enumerate(GRID[1:]))]
    other = [[blank, "name", *GRID[0][1:]], *numbered[1:]]
    long = [[blank, *LONG[0]], *([number, *row] for number, row in enumerate(LONG[1:]))]
    for rows in (named, numbered, other, long):
        table = read_scores([write(tmp_path, suffix, rows)])
        assert (table.models, table.tasks) == (expected.models, expected.tasks)
        np.testing.assert_array_equal(table.scores, expected.scores)


def test_numbers_may_name_models() -> None:
    assert table_from_rows(iter([["", "C", "D"], [0, 1, 2], [1, 3, 4]]), "t").models == ("0", "1")


def test_ignored_columns(tmp_path: Path) -> None:
    rows = [[*row, extra] for row, extra in zip(GRID, ["Lab", "x", "y", "z"], strict=True)]
    file = write(tmp_path, ".csv", rows)
    assert read_scores([file], columns=Columns(ignore=["Lab"])).tasks == ("Color", "Count")
    with pytest.raises(AnalysisError, match=r"--ignore 'Labs' is no column of .*; there are model, Color, Count, Lab"):
        read_scores([file], columns=Columns(ignore=["Labs"]))
    with pytest.raises(AnalysisError, match="--ignore is for the columns of one table"):
        read_scores([file, file], columns=Columns(ignore=["Lab"]))


def test_a_formula_without_a_stored_value_names_its_cell(tmp_path: Path) -> None:
    file = write(tmp_path, ".xlsx", [["model", "C"], ["A", 1], ["B", "=1+1"]])
    with pytest.raises(VcrgenError, match=r"scores\.xlsx, cell B3: the formula has no stored value; open the file"):
        read_scores([file])


def test_errors_of_shares() -> None:
    assert (
        binomial_standard_error(50, 30) == pytest.approx(9.13, abs=0.005)
        and binomial_standard_error(0.5, 25, whole=1) == 0.1
    )
    assert np.isnan(binomial_standard_error(150, 30)) and np.isnan(binomial_standard_error(-1, 30))


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([], r"t is empty; a table has a row of names"),
        ([["model", "Color"]], r"t holds no scores"),
        ([["model"], ["A"]], r"t holds no scores"),
        ([["model", "C", "C"], ["A", 1, 2]], r"t: the column 'C' stands there twice"),
        ([["model", "C", ""], ["A", 1, 2]], r"t, column 3: the first row has to name every column, and here it has ''"),
        ([["model", "C", 7], ["A", 1, 2]], r"t, column 3: the first row has to name every column, and here it has '7'"),
        ([["model", "C"], ["A", 1, 2]], r"t, row 2: it has 3 cells, and the first row has 2"),
        ([["model", "C"], ["", 1]], r"t, row 2: the name of the model is missing"),
        ([["model", "C"], ["A" * 5000, 1]], r"t, row 2: the name of the model is longer than 80 characters"),
        ([["model", "C"], ["A\u202eB", 1]], r"t, row 2: the name of the model holds the invisible character U\+202E"),
        ([["model", "C"], ["A", "much"]], r"t, row 2, column 'C': 'much' is no number"),
        (
            [["model", "task", "score", "size"], ["A", "C", 1, "7B"]],
            r"'size' is not known; .* out with --ignore size\.",
        ),
        ([["Task", "gpt", "qwen"], ["OCR", 1, 2], ["Math", 3, 4]], r"t: its rows are tasks, by the head 'Task'; turn"),
        ([["sub_category", "gpt"], ["OCR", 1], ["Math", 3]], r"its rows are tasks, by the head 'sub_category'; turn"),
        (
            [["LLM", "Benchmark", "Accuracy"], ["A", "OCR", 1], ["A", "Math", 2]],
            r"t has a row for each score; name its columns model, task and score, in place of LLM, Benchmark and Acc",
        ),
        ([["model", "C"], ["A", "12,5"], ["B", "9,5"]], r"t, row 2, column 'C': '12,5' is no number"),
        ([[*LONG[0][:3]], ["A", "C", 1], ["A", "C", 2]], r"t, row 3: 'A' has a score on 'C' in row 2 already"),
        ([LONG[0], ["A", "C", 1, -1, None, "x"]], r"t, row 2, column 'se': a standard error is not below 0"),
        ([LONG[0], ["A", "C", 1, None, 0, "x"]], r"t, row 2, column 'items': a score is of one item at least"),
        ([LONG[0], ["A", "C", 1, 1, 1, "x"], ["A", "D", 1, 1, 1, "y"]], r"t, row 3: 'A' is of the family 'x' above"),
        ([["m", *(f"t{i}" for i in range(301))], ["A", *range(301)]], r"t has 301 tasks; at most 300 are analysed"),
    ],
)
def test_what_is_wrong_is_said_where(rows: list[list[Any]], sentence: str) -> None:
    with pytest.raises(AnalysisError, match=sentence):
        table_from_rows(iter(rows), "t")


def test_a_column_that_is_said_to_name_models_is_believed() -> None:
    rows = [["Level", "gpt", "qwen"], ["A", 1, 2], ["B", 3, 4]]
    assert table_from_rows(iter(rows), "t", Columns(models="Level")).models == ("A", "B")


def test_tabs_between_the_cells_of_a_csv(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("model\tA, easy\tB\nx\t1\t2\n")
    assert read_scores([tmp_path / "t.csv"]).tasks == ("A, easy", "B")


def test_files_that_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        AnalysisError, match=r"Name a table of scores, or take data that ships with vcrgen: --example gold"
    ):
        read_scores([])
    for name, content, sentence in (
        ("no.csv", None, r"no\.csv is not a file; name a table of scores"),
        ("a.txt", b"x", r"a\.txt: scores are read from \.csv, \.tsv, \.xlsx, \.parquet and \.json"),
        ("a.csv", b"\xff\xfe\x00", r"a\.csv: not UTF-8 text; it looks like UTF-16"),
        ("b.csv", b'model,C\n"A,1\n', r"b\.csv, line 2: not a table"),
        ("c.csv", b"model;C;D\r\nA;1,5;2\r\n", r"c\.csv: its cells are separated by semicolons; save it with commas"),
        ("d.csv", b"| model | C | D |\n|---|--:|--:|\n| A | 1 | 2 |\n", r"separated by bars, as in Markdown; save it"),
        ("e.csv", b"model & C & D \\\\\n", r"separated by &, as in LaTeX; save it"),
        ("a.parquet", b"PAR1", r"a\.parquet cannot be read as Parquet"),
        ("a.xlsx", b"PK", r"a\.xlsx cannot be read as an Excel table"),
        ("a.json", b"[1]", r"a\.json holds no scores; give what `vcrgen score` wrote"),
        ("b.json", b'{"schema": "vcrgen-board-1"}', r"b\.json is not a board as `vcrgen leaderboard export"),
        ("wide.csv", b"model," + b",".join(b"t%d" % i for i in range(1_000_000)), r"more than 1,000 columns"),
    ):
        if content is not None:
            (tmp_path / name).write_bytes(content)
        with pytest.raises(VcrgenError, match=sentence):
            read_scores([tmp_path / name])
    monkeypatch.setattr(score_table, "MAX_BYTES", 10)
    with pytest.raises(AnalysisError, match=r"a\.txt is larger than|wide\.csv is larger than"):
        read_scores([tmp_path / "wide.csv"])  # before anything is read


def test_an_xlsx_row_with_more_cells_than_names(tmp_path: Path) -> None:
    with pytest.raises(AnalysisError, match=r"row 2: it has more cells than the first row has names"):
        read_scores([write(tmp_path, ".xlsx", [["model", "C"], ["A", 1, 2]])])


def test_lower_is_better(tmp_path: Path) -> None:
    file = write(tmp_path, ".csv", GRID)
    table = read_scores([file], lower_is_better=["Count"])
    assert table.scores[:, 1].tolist()[::2] == [-90.0, -55.5] and table.scores[0, 0] == 92.5
    assert table.notes == ("Lower is better for Count: the scores are turned around.",)
    with pytest.raises(AnalysisError, match=r"--lower-is-better 'Cnt' is no task of .*; there are Color, Count\."):
        read_scores([file], lower_is_better=["Cnt"])


def test_a_task_with_a_score_above_1_is_in_percent() -> None:
    rows = [["A", "C", 0.5], ["B", "C", 60.0], ["A", "D", 0.5], ["B", "D", 1.0]]
    table = table_from_rows(iter([[*LONG[0][:3], "items"], *([*row, 25] for row in rows)]), "t")
    assert table.errors is not None
    np.testing.assert_allclose(table.errors[0], [100 * np.sqrt(0.005 * 0.995 / 25), 0.1])


def test_parts_of_a_table() -> None:
    table = table_from_rows(iter(LONG), "t")
    whole = table.complete_cases()
    assert whole.models == ("GPT", "Eye") and whole.families == ("OpenAI", "Lab")
    assert (
        whole.notes == ("Models left out, as they lack a score of some task: 1 of 3 (Seer).",)
        and whole.complete_cases() is whole
    )
    one = table.select_tasks(["Count"])
    assert one.scores.shape == (3, 1) and one.errors is not None and one.errors[2, 0] == 2


def test_saved_scores_of_several_models(tmp_path: Path) -> None:
    key = tmp_path / "key.jsonl"
    key.write_text(
        '{"question_id": "a", "crossed_text": ["is a town in the"]}\n{"question_id": "b", "crossed_text": ["x"]}\n'
    )
    files = []
    for model, output in (("A", "is a town in the"), ("B", "no")):
        preds = tmp_path / f"{model}.jsonl"
        rows = [{"question_id": name, "output": output, "model": model} for name in "ab"]
        preds.write_text("".join(json.dumps(row) + "\n" for row in rows))
        result = score(preds, data=key, lang="en")
        files.append(tmp_path / f"{model}.scores.json")
        files[-1].write_text(json.dumps(as_saved(result, secret=model == "B")))  # a hidden set's lacks its spans
    with pytest.raises(AnalysisError, match=r"B\.scores\.json is of a hidden set, .* mark the report with --private"):
        read_scores(files)
    table = read_scores(files, private=True)
    assert table.models == ("A", "B") and table.tasks == ("en - stacked",)
    assert table.scores[:, 0].tolist() == [50.0, 0.0] and table.errors is not None
    with pytest.raises(AnalysisError, match="'A' has a score on"):
        read_scores([files[0], files[0]])
    with pytest.raises(AnalysisError, match=r"key\.jsonl: several files have to be saved scores"):
        read_scores([files[0], key])
    damaged = tmp_path / "c.scores.json"
    damaged.write_text(files[0].read_text().replace('"exact"', '"exac"'))
    with pytest.raises(ScoreError, match="is damaged"):
        read_scores([files[0], damaged])


def board(kind: str, metric: str = "exact") -> str:
    rows = [
        ("S1", "hard", "m1", "T", 0.5, "sig1"),
        ("S1", "hard", "m2", "T", 0.25, "sig1"),
        ("S1", "easy", "m1", "T", 0.75, "sig1"),
        ("S1", "hard", "m1", "U", 0.125, "sig1"),
        ("S1", "hard", "m3", "T", 0.25, "sig2"),
    ]
    if kind == "csv":
        heads = f"kind,set,mode,view,signature,model,team,{metric},{metric}_low,{metric}_high"
        lines = [f"ranked,{s},{m},stacked,{g},{n},{t},{e},{e - 0.1},{e + 0.1}" for s, m, n, t, e, g in rows]
        return "\n".join([heads, *lines, "quoted,S1,hard,stacked,,m9,,0.9,,"])
    tables_of = [
        {
            "track": {"set": s, "mode": m, "view": "stacked"},
            "rankings": [
                {
                    "signature": g,
                    "rows": [
                        {
                            "facts": {"model": n, "team": t},
                            "scores": {"stacked": {metric: {"value": e, "low": e - 0.1, "high": e + 0.1}}},
                        }
                    ],
                }
            ],
        }
        for s, m, n, t, e, g in rows
    ]
    return json.dumps({"schema": "vcrgen-board-1", "tables": tables_of})


@pytest.mark.parametrize("kind", ["csv", "json"])
@pytest.mark.parametrize("metric", ["exact", "rae"])  # of VCR, of MCQ benchmarks
def test_a_board(tmp_path: Path, kind: str, metric: str) -> None:
    """Only ranked rows; what was scored in two ways is two tasks, and a model of two teams is two models."""
    file = tmp_path / f"board.{kind}"
    file.write_text(board(kind, metric))
    table = read_scores([file])
    assert set(table.models) == {"m1 (T)", "m1 (U)", "m2", "m3"}
    assert [task.partition(" [")[0] for task in table.tasks] == [
        "S1 hard stacked",
        "S1 easy stacked",
        "S1 hard stacked",
    ]
    at = {
        (model, task): table.scores[i, j] for i, model in enumerate(table.models) for j, task in enumerate(table.tasks)
    }
    first, _, second = table.tasks
    assert (at["m1 (T)", first], at["m1 (U)", first], at["m2", first], at["m3", second]) == (50, 12.5, 25, 25)
    assert np.isnan(at["m3", first]) and table.errors is not None
    assert np.nanmax(table.errors) == pytest.approx(10 / 1.959964)


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_a_board_of_likelihoods_alone(tmp_path: Path, kind: str) -> None:
    """LBS is not what ranks, so such rows are no scores beside those of others."""
    file = tmp_path / f"board.{kind}"
    file.write_text(board(kind, "lbs"))
    with pytest.raises(AnalysisError, match="holds no scores"):
        read_scores([file])
