"""Tables of items from evidence and from long tables; what is wrong with a file is one sentence."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.bloom.conftest import made_set, row
from vcrgen.analysis.items.classical import preferred_options
from vcrgen.analysis.items.items_report import table_warnings
from vcrgen.analysis.items.read_items import EvidenceChoice, read_items
from vcrgen.dataset.key import HIDDEN_MODE
from vcrgen.errors import AnalysisError, VcrgenError
from vcrgen.scorer import score

Evidence = Callable[..., list[Path]]
LONG = "model,item,score,image\nb,i2,1,x\na,i1,0.5,x\nb,i1,0,x\na,i3,,y\nb,i3,1,y\na,i2,1,x\n"


def rows_of(file: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(file).to_pylist()
    return rows


def write(file: Path, rows: list[dict[str, Any]]) -> Path:
    if file.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), file)
    else:
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return file


def test_evidence_of_several_models(twelve: list[Path]) -> None:
    table = read_items(twelve)
    rows = [row for file in twelve for row in rows_of(file)]
    assert table.models == tuple(f"m{n:02d}" for n in range(12))
    assert len(table.items) == len(rows) / 12 and len(table.group_names) == 40
    for each in rows[::7]:
        at = table.items.index(f"{each['question_id']} [{each['span'] + 1}]")
        assert table.scores[table.models.index(each["model"]), at] == each["exact"]
        assert table.group_names[table.groups[at]] == each["question_id"]
        assert (table.spans[at].question_id, table.spans[at].number) == (each["question_id"], each["span"])
    assert "river" not in repr(table) and (table.metric, table.hidden, table.mode) == ("exact", False, "-")
    assert read_items(twelve, EvidenceChoice(metric="character")).scores.mean() > table.scores.mean()


def test_the_order_of_files_and_rows_does_not_matter(twelve: list[Path], tmp_path: Path) -> None:
    rows = [row for file in reversed(twelve) for row in reversed(rows_of(file))]
    for name in ("one.parquet", "one.jsonl"):
        one, many = read_items([write(tmp_path / name, rows)]), read_items(twelve)
        assert (one.models, one.items, one.group_names) == (many.models, many.items, many.group_names)
        assert np.array_equal(one.scores, many.scores) and np.array_equal(one.groups, many.groups)


def test_an_output_that_is_not_there_is_a_missing_cell(evidence: Evidence, tmp_path: Path) -> None:
    files = evidence(tmp_path, 2)
    rows = rows_of(files[0])
    for number, outcome in enumerate(("missing", "null", "failed", "empty", "refused", "beyond_limit", "short")):
        rows[number] |= {"outcome": outcome, "exact": 0.0}
    table = read_items([write(tmp_path / "changed.parquet", rows), files[1]])
    assert np.isnan(table.scores[0, :3]).all() and not np.isnan(table.scores[0, 3:]).any()
    assert table.missing_outcomes == {"missing": 1, "null": 1, "failed": 1}


def test_models_and_items_without_a_score_are_left_out_and_counted(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("model,item,score\na,i,1\na,j,\nb,i,\nb,j,\nc,i,0\nc,k,1\n", "utf-8")
    table = read_items([file])
    assert (table.models, table.items, table.empty_counts) == (("a", "c"), ("i", "k"), (1, 1))
    assert np.array_equal(table.scores, [[1, np.nan], [0, 1]], equal_nan=True)
    assert table.group_names == ("i", "k")
    assert "1 model and 1 item have no score at all and are left out." in table_warnings(table)


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.jsonl", "t.parquet", "t.xlsx"])
def test_long_tables_of_every_form(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    heads, *lines = [line.split(",") for line in LONG.splitlines()]
    rows = [dict(zip(heads, line, strict=True)) for line in lines]
    typed = [row | {"score": float(row["score"]) if row["score"] else None} for row in rows]
    if name.endswith("csv"):
        file.write_text("\ufeff" + LONG, "utf-8")
    elif name.endswith("tsv"):
        file.write_text(LONG.replace(",", "\t"), "utf-8")
    elif name.endswith("xlsx"):
        openpyxl = pytest.importorskip("openpyxl")
        book = openpyxl.Workbook()
        for row in (heads, *([row[head] for head in heads] for row in typed)):
            book.active.append(row)
        book.save(file)
    else:
        write(file, typed)
    table = read_items([file])
    assert (table.models, table.items, table.group_names) == (("a", "b"), ("i1", "i2", "i3"), ("x", "y"))
    assert np.array_equal(table.scores, [[0.5, 1, np.nan], [0, 1, 1]], equal_nan=True)
    assert table.groups.tolist() == [0, 0, 1] and table.is_grouped and not table.spans


def test_items_without_images_are_groups_of_their_own(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("item,model,score,note\n10,a,1,x\n9,a,0,\n10,b,0,\n9,b,1,y\n", "utf-8")
    table = read_items([file])
    assert table.items == ("10", "9") == table.group_names and not table.is_grouped


def test_scores_of_other_signatures_are_not_mixed(evidence: Evidence, twelve: list[Path], tmp_path: Path) -> None:
    other = evidence(tmp_path, 1, protocol="vlmevalkit", seed=3)
    with pytest.raises(
        AnalysisError, match=r"were not scored in the same way: protocol is vcrgen-v1 and vlmevalkit-v2, "
    ):
        read_items([twelve[1], *other])
    rows = [row | {"signature": "no signature"} for row in rows_of(twelve[0])]
    with pytest.raises(AnalysisError, match="differ, and one of them is none"):
        read_items([twelve[1], write(tmp_path / "bad.parquet", rows)])


def test_one_mode_and_view_is_chosen(twelve: list[Path], tmp_path: Path) -> None:
    rows = rows_of(twelve[0])
    both = rows + [row | {"view": "tei", "exact": 1.0} for row in rows]
    file = write(tmp_path / "both.parquet", both)
    with pytest.raises(AnalysisError, match="choose one of --mode - --view stacked; --mode - --view tei"):
        read_items([file])
    with pytest.raises(AnalysisError, match="Give the evidence of 5 models or more; here are 1"):
        read_items([file])  # all that is missing, at once
    assert read_items([file], EvidenceChoice(view="tei")).scores.min() == 1
    assert read_items([file], EvidenceChoice(view="stacked", mode="-")).scores.min() == 0
    with pytest.raises(AnalysisError, match="choose one of"):
        read_items([file], EvidenceChoice(view="strip"))


def test_items_of_a_hidden_set_are_refused_unless_private(twelve: list[Path], tmp_path: Path) -> None:
    file = write(tmp_path / "hidden.parquet", [row | {"mode": HIDDEN_MODE} for row in rows_of(twelve[0])])
    with pytest.raises(AnalysisError, match=r"single items of a hidden test set.*with --private") as caught:
        read_items([file])
    assert "river" not in str(caught.value)
    assert read_items([file], private=True).hidden


def _answer(item: int, model: int) -> str:
    """Model 0 knows the key of all but item 7, whose key is wrong; the higher the number, the less is known."""
    key = "ABCD"[item % 4]
    if item == 7:
        return "A" if model < 6 else "D"
    return key if item >= 3 * model else "ABCD"[(item + 1 + model % 3) % 4]


def test_evidence_of_an_mcq_benchmark_has_the_chosen_options(tmp_path: Path) -> None:
    data = made_set(tmp_path / "set", [row(number) for number in range(40)])
    files = []
    for model in range(12):
        outputs = [
            {"question_id": f"item-{item:03d}", "lang": "en", "model": f"m{model:02d}", "output": _answer(item, model)}
            for item in range(40)
        ]
        file = tmp_path / f"m{model}.jsonl"
        file.write_text("".join(json.dumps(each) + "\n" for each in outputs), "utf-8")
        files.append(tmp_path / f"spans_{model}.parquet")
        score(file, data=data, lang="en", spans=files[-1])
    table = read_items(files)
    assert (table.metric, table.mode, table.view, table.is_grouped) == ("rae", "en", "image", False)
    assert table.items[7] == "item-007" and table.choices is not None
    chosen = [[table.options[code] for code in line] for line in table.choices.tolist()]
    assert chosen == [[_answer(item, model) for item in range(40)] for model in range(12)]
    found = preferred_options(table)
    assert found and [(table.items[of.item], table.options[of.option], table.options[of.key]) for of in found] == [
        ("item-007", "A", "D")
    ]
    with pytest.raises(AnalysisError, match="has no metric 'jaccard'; its metrics are rae"):
        read_items(files, EvidenceChoice(metric="jaccard"))


def test_two_scores_of_a_model_on_an_item_are_refused(twelve: list[Path], tmp_path: Path) -> None:
    with pytest.raises(AnalysisError, match=r"'m03' has two scores on 'q00 \[1\]'"):
        read_items([twelve[3], twelve[3]])
    rows = rows_of(twelve[0])
    with pytest.raises(AnalysisError, match=r"'m00' has two scores on"):
        read_items([write(tmp_path / "x.parquet", [*rows, rows[5]])])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no column 'model'|holds no rows"),
        ("model,item\na,b\n", "has no column 'score'"),
        ("model,question_id,outcome,path,choice,rae\nm,q,right,a/b/c,A,1\n", "without the column 'run'"),
        ("model,item,score\n", "holds no rows"),
        ("model,item,score,score\na,b,1,1\n", "two columns 'score'"),
        ("model,item,score\na,b\n", "line 2: 2 cells under 3 column names"),
        ("model,item,score\na,b,x\n", "line 2: 'score' is 'x', which is no number"),
        ("model,item,score\na,b,97\n", "not from 0 to 1; divide percentages by 100"),
        ("model,item,score\na,b,inf\n", "not from 0 to 1"),
        ("model,item,score\na,b,-0.1\n", "not from 0 to 1"),
        ("model,item,score\n,b,1\n", "row whose 'model' is empty"),
        ("model,item,score\na,  ,1\n", "row whose 'item' is empty"),
        ("model,item,score\na\u202eb,i,1\n", "holds a character that cannot be seen"),
        ('model,item,score\n"a\nb",i,1\n', "holds a character that cannot be seen"),
        (f"model,item,score\n{'a' * 5001},i,1\n", "longer than 5000 characters"),
        ("model,item,score,image\na,i,1,x\nb,i,1,y\n", "puts an item under two images"),
        ("model,item,score,image,span\na,i,1,x,0\na,j,1,x,0\n", "two items of an image have the same number `span`"),
        ("model,item,score,image,span\na,i,1,x,0\nb,i,1,x,1\n", "gives an item two numbers `span`"),
        ("model,item,score,image,span\na,i,1,x,-1\n", "`span` that is no whole number from 0 on"),
        ("model,item,score,image,span\na,i,1,x,\n", "`span` that is no whole number from 0 on"),
        ("model,item,score\na,i,\na,j,nan\n", "holds no score"),
        (",".join(map(str, range(2000))) + "\n" + "1," * 1999 + "1\n", "more than 1000 columns"),
    ],
)
def test_tables_that_are_none(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "t.csv"
    file.write_text(text, "utf-8")
    with pytest.raises(AnalysisError, match=message):
        read_items([file])


def test_files_that_are_none(tmp_path: Path, twelve: list[Path]) -> None:
    for name, content in (
        ("a.parquet", b"PAR1 nothing"),
        ("b.csv", b"\xff\xfe\x00"),
        ("c.jsonl", b"[1]\n"),
        ("d.xlsx", b"x"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(VcrgenError, match=name.partition(".")[0]):
            read_items([tmp_path / name])
    for file in (tmp_path / "none.csv", tmp_path, tmp_path / "a\0b.csv"):
        with pytest.raises(AnalysisError, match=r"cannot be read|of no known form"):
            read_items([file])
    with pytest.raises(AnalysisError, match="of no known form"):
        read_items([write(tmp_path / "t.txt", [{}])])
    with pytest.raises(AnalysisError, match="Name a file of evidence"):
        read_items([])
    with pytest.raises(AnalysisError, match="Unknown metric 'exakt'; known: exact, jaccard"):
        read_items(twelve, EvidenceChoice(metric="exakt"))
    old = [{k: v for k, v in row.items() if k != "signature"} for row in rows_of(twelve[0])]
    with pytest.raises(AnalysisError, match="without the column 'signature'; score the outputs again"):
        read_items([write(tmp_path / "old.parquet", old)])
    (tmp_path / "t.csv").write_text(LONG, "utf-8")
    with pytest.raises(AnalysisError, match="is a long table, and other files are not"):
        read_items([twelve[0], tmp_path / "t.csv"])


def test_parquet_of_other_types_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "t.parquet"
    for column, kind in (("model", [b"a"]), ("score", ["1"]), ("item", [[1]]), ("score", [{"x": 1}])):
        columns: dict[str, Any] = {"model": ["a"], "item": ["i"], "score": [1.0]} | {column: kind}
        pq.write_table(pa.table(columns), file)
        with pytest.raises(AnalysisError, match=f"the column '{column}' holds"):
            read_items([file])
    pq.write_table(
        pa.table({"model": pa.array(["a", "b"]).dictionary_encode(), "item": [7, 7], "score": [True, False]}), file
    )
    assert read_items([file]).scores.tolist() == [[1.0], [0.0]]
