"""Tables as people publish them: what is no task is recognised and named, what is no table of scores is refused."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vcrgen.analysis.published_table import kind_of, mean_columns, plain
from vcrgen.analysis.score_table import Columns, ScoreTable, read_scores, table_from_rows
from vcrgen.core.errors import AnalysisError


def read(text: str, **columns: str | tuple[str, ...]) -> ScoreTable:
    return table_from_rows(csv.reader(io.StringIO(text)), "t", Columns(**columns))  # type: ignore[arg-type]


ISSUE = (
    "Rank,Method,Param (B),Avg,A,B\n1,GPT,?,80,85.1,74.9\n2,LLaVA,7.6B,70.1,75,65.2\n3,Qwen,76.3B,69,70,68\n"
    "4,Eagle,13B,60.5,61,60\n"
)


@pytest.mark.parametrize(
    ("text", "models", "tasks"),
    [
        (ISSUE, "GPT LLaVA Qwen Eagle", "A B"),
        ("Model,MMBench,,MME,\n,en,cn,P,C\nA,70.1,60,15,3\nB,71,63,14,4\n", "A B", "MMBench en|MMBench cn|MME P|MME C"),
        ("Method,MMMU,POPE\n,acc,F1\nA,70,60\nB,1,2\n", "A B", "MMMU acc|POPE F1"),
        ("Model,A,B\n[A](https://x.y/z),1,2\n" + '"<a href=""u"" style=""s"">B</a>",2,3\n', "A B", "A|B"),
        ("Model,A,B\n" + "x" * 200 + ",1,2\n**B**,2,3\n", "x" * 79 + "… B", "A|B"),
        ("Model,A,B,,\nA,1,2,,\n,,\nB,3,4,,,\nC,5,6\n", "A B C", "A|B"),
        ("Team,Model,A↑,Hub ❤️\nx,A,**1***,5\nx,B,2†,7\n", "A B", "A↑"),
        ("LLM,Release Date,$/1M tokens,A\nOpen,,,\nA,2024-01-02,1,1\nB,2024-02-02,2,3\n", "A B", "A"),
        ("#,who,A\n1,A,3\n2,B,2\n", "A B", "A"),
        (
            "eval_name,fullname,Average ⬆️,BBH Raw,BBH,MoE,Generation\na_16,a,1,0.3,5,no,1\na_8,a,2,0.4,6,no,2\n",
            "a_16 a_8",
            "BBH",
        ),
        ("fullname,BBH Raw,BBH,Type\na,0.3,5,x\nb,0.4,6,y\n", "a b", "BBH"),
    ],
)
def test_tables_as_published(text: str, models: str, tasks: str) -> None:
    table = read(text)
    assert (table.models, "|".join(table.tasks)) == (tuple(models.split()), tasks.replace("A B", "A|B"))
    assert np.isfinite(table.scores).all()


def test_what_is_left_out_is_named_and_can_be_kept() -> None:
    assert read(ISSUE).notes == (
        "Columns left out as no tasks (rank: Rank; size: Param (B); average: Avg); --keep COLUMN takes one in.",
    )
    assert read(ISSUE, keep=("Av*",)).tasks == ("Avg", "A", "B")
    assert read(ISSUE, models="Rank", ignore=("Avg",)).models == ("1", "2", "3", "4")
    with pytest.raises(AnalysisError, match=r"--models 'Who' is no column of t; there are Rank, Method"):
        read(ISSUE, models="Who")


def test_a_model_with_two_rows() -> None:
    """A copy is left out; another evaluation under the same name is numbered."""
    table = read("Model,A,B\nx,1,2\ny,3,\nx,1,2\ny,3,\ny,4,\n")
    assert table.models == ("x", "y", "y (2)") and table.scores[:, 0].tolist() == [1, 3, 4]
    assert table.notes == (
        "Rows that repeat another with the same model and scores, left out: 2.",
        "Models with two rows and other scores, numbered: y (2). Are the rows of one model in several settings, "
        "such as languages, then write one row with a column for each setting.",
    )


def test_a_mean_that_is_taken_in_is_no_outside_score() -> None:
    pairs = ((11, 85), (32, 33), (44, 96), (75, 20), (91, 92))
    rows = "".join(f"m{a},{a}.00,{b}.00,{(a + b) / 2:.2f}\n" for a, b in pairs)
    assert read("Model,A,B,C\n" + rows).tasks == ("A", "B")
    table = read("Model,A,B,C\n" + rows, keep=("C",))
    assert table.tasks == ("A", "B", "C") and "means or sums of other columns: C." in table.notes[0]
    table = read("Model,A,B,Overall\n" + "".join(f"m{a},{a},{b},{3 * a + b}\n" for a, b in pairs), keep=("Overall",))
    assert "by name or numbers they are means or sums of other columns: Overall." in table.notes[0]  # a weighted one


def test_models_of_one_name_have_their_size_in_it() -> None:
    table = read("Model,Size,A,B\nx,3B,1,2\nx,7B,3,4\nx,-,5,6\ny,3B,7,8\n")
    assert table.models == ("x 3B", "x 7B", "x", "y")
    assert table.notes[-1] == "Models with the same name have their size in it."


def test_errors_differences_and_a_note_on_one_model_are_no_tasks() -> None:
    table = read("Model,A,A_sd,B,B_delta,note\nx,1,.1,2,-1,\ny,3,.2,TBD,1,slow\nz,4,.2,5,n.a.,\n")
    assert table.tasks == ("A", "B") and np.isnan(table.scores[1, 1])
    assert table.notes == (
        "Columns left out as no tasks (error: A_sd; difference: B_delta; text: note); --keep COLUMN takes one in.",
    )


def test_standard_errors_behind_a_sign() -> None:
    table = read("Model,A,B\nx,69.12 ± 1.83,5\ny,70.1%±1.1%,?\nz,4 +/- 0,-\n")
    assert table.errors is not None and "standard error" in table.notes[0]
    np.testing.assert_array_equal(table.scores, [[69.12, 5], [70.1, np.nan], [4, np.nan]])
    np.testing.assert_array_equal(table.errors, [[1.83, np.nan], [1.1, np.nan], [0, np.nan]])
    with pytest.raises(AnalysisError, match=r"row 2, column 'A': a standard error is not below 0"):
        read("Model,A\nx,1 ± -2\n")


@pytest.mark.parametrize("labels", [True, False])
@pytest.mark.parametrize("triangle", [True, False])
def test_a_matrix_of_correlations_is_refused(labels: bool, triangle: bool) -> None:
    r = [["1", ".5", "-.2"], [".5", "1", ".3"], ["-.2", ".3", "1"]]
    rows = [["" if triangle and j > i else cell for j, cell in enumerate(row)] for i, row in enumerate(r)]
    rows = [[name, *row] if labels else row for name, row in zip("ABC", rows, strict=True)]
    with pytest.raises(AnalysisError, match=r"t is a matrix of correlations, not of scores .*fit_correlations"):
        table_from_rows([["task", *"ABC"] if labels else [*"ABC"], *rows], "t")
    rows[0][-1], rows[-1][-1] = "0.9", "0.9"  # without a diagonal of ones these are scores
    assert table_from_rows([["model", *"ABC"][-len(rows[0]) :], *rows], "t").models


@settings(max_examples=60)
@given(
    scores=st.lists(st.lists(st.integers(0, 1000), min_size=4, max_size=4), min_size=6, max_size=12),
    decimals=st.integers(0, 2),
    place=st.integers(0, 4),
    is_sum=st.booleans(),
)
def test_means_are_found_by_their_numbers(scores: list[list[int]], decimals: int, place: int, is_sum: bool) -> None:
    """A rounded mean or sum of the other columns is found wherever it stands; with one wrong digit more it is not."""
    tasks = np.array(scores) / 10
    mean = np.round(tasks.sum(axis=1) if is_sum else tasks.mean(axis=1), decimals)
    if np.std(mean) < 15:
        return
    table = np.insert(tasks, place, mean, axis=1)
    rounded = [1] * 5
    rounded[place] = decimals
    assert place in mean_columns(table, rounded)
    table[:3, place] += 20
    assert place not in mean_columns(table, rounded)


def test_a_mean_of_neighbours_and_equal_columns() -> None:
    rng = np.random.default_rng(0)
    a, b, c, d = rng.uniform(0, 100, (4, 20)).round(1)
    first, second = ((a + b) / 2).round(2), ((c + d) / 2).round(2)
    table = np.column_stack([((first + second) / 2).round(2), first, a, b, second, c, d])
    assert mean_columns(table, [2, 2, 1, 1, 2, 1, 1]) == [0, 1, 4]
    assert mean_columns(np.column_stack([a, a, a]), [1, 1, 1]) == []  # copies, of which the map tells


@pytest.mark.parametrize(
    ("head", "cells", "kind"),
    [
        ("Overall Rank", [1], "rank"),
        ("Parameters (B)", [7], "size"),
        ("LM", ["7B", "<1.5B", "-"], "size"),
        ("when", ["2024-05-01", "2023/11/02"], "date"),
        ("Cost", [1], "price"),
        ("Global Average", [1], "average"),
        ("Org", ["x", "y", "nan"], "text"),
        ("Verified", [True, False], "text"),
        ("Soon", ["", "-", None], "no score"),
        ("Color", [1], None),
        ("release_mmddyy", [50124, 112323], "date"),
        ("releaseDate", [240501], "date"),
        ("Updated at", [1714521600], "date"),
        ("release (yyyymm)", [202405], "date"),
        ("submission year", [2024], "date"),
        ("when", [20240501, 20231123], "date"),
        ("score", [20240501, 20231399], None),
        ("Dates and times", [1], None),
        ("Date Understanding", [71.2], None),
        ("Creation", [50], None),
        ("Update", [50], "date"),
        ("Mean reversion", [1], None),
        ("Elo", [1], None),
        ("A", ["12,5", "9,5"], None),
    ],
)
def test_kinds_of_columns(head: str, cells: list[object], kind: str | None) -> None:
    assert kind_of(head, cells) == kind


def test_markup_is_taken_off() -> None:
    for cell, text in (
        ("\\textbf{69.1}", "69.1"),
        ("a<b and c", "a<b and c"),
        ("x &amp; y", "x & y"),
        ("[" * 900, "[" * 900),
        (3, 3),
    ):
        assert plain(cell) == text


def test_openvlm_json(tmp_path: Path) -> None:
    file = tmp_path / "OpenVLM.json"
    meta = {"Method": ["A", "https://x"], "Parameters": "7.6B"}
    results = {
        "A": {
            "META": meta,
            "MMStar": {"Overall": 50.5, "math": 4},
            "OCRBench": {"Final Score": 700},
            "COCO": {"CIDEr": 1},
        },
        "B": {"META": meta, "MMStar": {"Overall": None}, "OCRBench": {"Final Score": 600}},
    }
    file.write_text(json.dumps({"time": "240101", "results": results}))
    table = read_scores([file])
    assert (table.models, table.tasks) == (("A", "B"), ("MMStar", "OCRBench"))
    np.testing.assert_array_equal(table.scores, [[50.5, 700], [np.nan, 600]])
    file.write_text(json.dumps({"results": {"A": {"META": meta}, "B": 3}}))
    with pytest.raises(AnalysisError, match="'B': a model has an object with META and its benchmarks"):
        read_scores([file])
