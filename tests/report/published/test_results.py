"""Rows quoted from publications: the shipped tables are right, and a strange one is a sentence that says where."""

import csv
import io
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vcrgen.core.errors import LeaderboardError
from vcrgen.data.views import IMAGE_VIEWS, View
from vcrgen.report.published import results
from vcrgen.report.published.fields import Access, show_size
from vcrgen.report.published.results import COLUMNS, MODES, ReportedResult, read_reported, shipped_tables

ROOT = Path(__file__).resolve().parents[3]
PAPERS = ROOT.parent / "shared" / "data" / "papers"
BENCHMARKS = ROOT / "vcrgen" / "report" / "published" / "benchmarks"
COUNTS = {
    "bloom": 16,  # eight models in two languages
    "vcr-hidden": 254,  # 64 lines of Table 6 and 63 of Table 7, with two views each
    "vcr-humans": 8,
    "vcr-readme": 44,
    "vcr-wiki": 272,
    "vcr-wiki-first100": 270,
    "vcr-wiki-first500": 258,
}
HEAD = "source,language,mode,view,model,exact"
ROW = "A paper,en,easy,stacked,A model,91.55"


@pytest.fixture(scope="module")
def shipped() -> dict[str, list[ReportedResult]]:
    return {file.stem: read_reported(file) for file in shipped_tables()}


def find(
    rows: list[ReportedResult], *, language: str, mode: str, view: str, model: str, size: float | None = None
) -> ReportedResult:
    wanted = (language, mode, view, model, size)
    (row,) = [row for row in rows if (row.language, row.mode, row.view, row.model, row.size) == wanted]
    return row


def test_the_shipped_tables_are_read(shipped: dict[str, list[ReportedResult]]) -> None:
    assert {name: len(rows) for name, rows in shipped.items()} == COUNTS
    assert list(shipped) == sorted(shipped)


def test_every_row_has_a_source_that_can_be_looked_up(shipped: dict[str, list[ReportedResult]]) -> None:
    papers = ("https://arxiv.org/abs/2406.06462", "https://github.com/tianyu-z/VCR", "https://arxiv.org/abs/2606.05531")
    for name, rows in shipped.items():
        for row in rows:
            assert row.url.startswith(papers), name
            assert row.source and row.data and row.score(row.task.main_metrics[0])[0] is not None, (name, row.model)
            assert row.items or row.model == "InternVL-V2-Pro" or name == "bloom"


def test_no_row_is_in_two_tables(shipped: dict[str, list[ReportedResult]]) -> None:
    keys = Counter(
        (row.source, row.data, row.language, row.mode, row.view, row.model, row.size)
        for rows in shipped.values()
        for row in rows
    )
    assert max(keys.values()) == 1


def test_known_rows(shipped: dict[str, list[ReportedResult]]) -> None:
    wiki = shipped["vcr-wiki"]
    assert find(wiki, language="en", mode="easy", view="stacked", model="GPT-4o") == ReportedResult(
        source="arXiv 2406.06462, Table 2",
        url="https://arxiv.org/abs/2406.06462",
        data="VCR-WIKI test, first 500",
        items=500,
        language="en",
        mode="easy",
        view=View.STACKED,
        model="GPT-4o",
        access=Access.CLOSED,
        released=date(2024, 5, 13),
        exact=0.9155,
        exact_sd=0.0029,
        jaccard=0.9644,
        jaccard_sd=0.0011,
    )
    open_row = find(wiki, language="zh", mode="hard", view="tei", model="Qwen2-VL", size=72)
    assert (open_row.data, open_row.items, open_row.exact) == ("VCR-WIKI test", 5000, 0.2735)
    earlier = find(wiki, language="en", mode="easy", view="stacked", model="CogVLM2-FT", size=19)
    assert (earlier.source, earlier.exact) == ("VCR repository, paper.pdf of August 2024, Table 2", 0.9327)
    assert earlier.note == "fine-tuned for VCR by the authors" and earlier.released is None
    hidden = find(shipped["vcr-hidden"], language="zh", mode="mixed", view="tei", model="o1")
    assert (hidden.data, hidden.items, hidden.exact, hidden.jaccard) == ("VCR-HIDDEN", 100, 0, 0)
    first = find(shipped["vcr-wiki-first100"], language="en", mode="hard", view="tei", model="GPT-4o")
    assert (first.items, first.exact) == (100, 0.8469)


def test_people(shipped: dict[str, list[ReportedResult]]) -> None:
    rows = shipped["vcr-humans"]
    assert {(row.model, row.access, row.size, row.view, row.jaccard) for row in rows} == {
        ("Humans", Access.UNKNOWN, None, View.STACKED, None)
    }
    hard = {row.data: (row.exact, row.exact_sd) for row in rows if (row.language, row.mode) == ("en", "hard")}
    assert hard == {
        "VCR-WIKI test, first 100 (all)": (0.9112, 0.0118),
        "VCR-WIKI test, first 100 (filtered)": (0.9763, 0.0213),
    }


@pytest.mark.parametrize(
    ("table", "language", "mode", "view", "exact", "printed"),
    [
        ("vcr-wiki", "en", "hard", "stacked", 0.1845, "exact match 20.58, Jaccard 44.59"),
        ("vcr-wiki", "zh", "easy", "tei", 0.2029, "exact match 21.09, Jaccard 44.48"),
        ("vcr-wiki-first100", "en", "hard", "stacked", 0.1716, "exact match 22.34, Jaccard 46.64"),
        ("vcr-wiki-first100", "zh", "easy", "stacked", 0.2234, "exact match 17.16, Jaccard 40.71"),
        ("vcr-wiki-first500", "en", "hard", "tei", 0.2248, "exact match 19.36, Jaccard 43.65"),
        ("vcr-wiki-first500", "zh", "easy", "stacked", 0.2076, "exact match 19.50, Jaccard 42.21"),
    ],
)
def test_swapped_rows_are_put_right_and_marked(
    table: str,
    language: str,
    mode: str,
    view: str,
    exact: float,
    printed: str,
    shipped: dict[str, list[ReportedResult]],
) -> None:
    row = find(shipped[table], language=language, mode=mode, view=view, model="InternVL-V2", size=76)
    assert row.exact == exact
    assert row.corrected.startswith(f"printed: {printed}; the paper swaps")


def test_the_row_with_the_wrong_blanks_is_put_right_and_marked(shipped: dict[str, list[ReportedResult]]) -> None:
    setting = {"language": "en", "mode": "easy", "view": "stacked", "model": "DeepSeek-VL2", "size": 28}
    row = find(shipped["vcr-wiki"], **setting)
    same = find(shipped["vcr-wiki-first500"], **setting)
    assert (row.source, row.items, row.data) == ("arXiv 2406.06462, Table 2", 500, same.data)
    assert (row.exact, row.jaccard) == (same.exact, same.jaccard) == (0.4137, 0.5129)
    assert row.corrected.startswith("printed: exact match 4.07, Jaccard 5.05;") and not same.corrected


def test_only_errors_of_the_publication_are_called_corrected(shipped: dict[str, list[ReportedResult]]) -> None:
    found = Counter((name, row.model) for name, rows in shipped.items() for row in rows if row.corrected)
    assert found == {
        ("vcr-wiki", "InternVL-V2"): 4,
        ("vcr-wiki", "DeepSeek-VL2"): 2,
        ("vcr-wiki-first100", "InternVL-V2"): 4,
        ("vcr-wiki-first500", "InternVL-V2"): 4,
    }


def test_a_note_stands_at_the_view_it_is_about(shipped: dict[str, list[ReportedResult]]) -> None:
    setting = {"language": "zh", "mode": "easy", "model": "Qwen2-VL", "size": 72}
    stacked, tei = (find(shipped["vcr-wiki-first500"], **setting, view=view) for view in ("stacked", "tei"))
    assert stacked.jaccard is None and tei.jaccard == 0.8735
    assert stacked.note == (
        "read from a garbled text; Jaccard not legible (81.69 by the printed difference); SD of exact match not legible"
    )
    assert tei.note == "read from a garbled text; SD of exact match not legible"
    for rows in shipped.values():
        assert not [row.note for row in rows if "repo PDF" in row.note or "_" in row.note]


def test_the_readme_adds_only_what_the_tables_lack(shipped: dict[str, list[ReportedResult]]) -> None:
    settings = [(row.language, row.mode, row.model, row.size) for row in shipped["vcr-readme"]]
    assert not set(settings) & {
        (row.language, row.mode, row.model, row.size) for row in shipped["vcr-wiki"] if row.view is View.STACKED
    }
    assert ("en", "easy", "Qwen2-VL", 72) not in settings  # its Jaccard cells in the README are wrong
    assert {row.model for row in shipped["vcr-readme"] if row.items == 500} == {
        "GPT-4o-mini",
        "Gemini 2 Flash Exp",
        "Gemini 2 Flash Thinking Exp",
    }


def copied(name: str) -> list[dict[str, str]]:
    """Return the rows of a table that was copied from a paper."""
    if not PAPERS.is_dir():
        pytest.skip(f"needs the copied tables in {PAPERS}")
    return lines_of(PAPERS / f"{name}.csv")


def lines_of(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def percentage(share: float | None) -> str:
    return "" if share is None else f"{share * 100:.2f}"


@pytest.mark.parametrize(
    ("table", "copy"),
    [
        ("vcr-wiki", "vcr_table2_wiki"),
        ("vcr-hidden", "vcr_table1_hidden"),
        ("vcr-hidden", "vcr_table6_hidden_en"),
        ("vcr-hidden", "vcr_table7_hidden_zh"),
        ("vcr-wiki-first100", "vcr_table8_first100"),
        ("vcr-wiki-first500", "vcr_table9_first500"),
    ],
)
def test_rows_of_the_vcr_paper_are_as_printed_or_say_what_is(
    table: str, copy: str, shipped: dict[str, list[ReportedResult]]
) -> None:
    languages, modes = {"English": "en", "Chinese": "zh"}, {"hidden": "mixed"}
    for line in copied(copy):
        size = float(line["size"].rstrip("B")) if line["size"] != "-" else None
        for view, suffix in (("stacked", "vi_tei"), ("tei", "tei")):
            row = find(
                shipped[table],
                language=languages[line["language"]],
                mode=modes.get(line["mode"], line["mode"].lower()),
                view=view,
                model=line["model"],
                size=size,
            )
            printed = [line[f"{metric}_{suffix}"] for metric in ("em", "j")]
            if row.corrected:
                assert row.corrected.startswith(f"printed: exact match {printed[0]}, Jaccard {printed[1]};")
            else:
                assert [percentage(row.exact), percentage(row.jaccard)] == [
                    cell and f"{float(cell):.2f}" for cell in printed
                ]


def test_people_are_those_of_table_3(shipped: dict[str, list[ReportedResult]]) -> None:
    printed = [(float(line["em_mean"]), float(line["em_sd"])) for line in copied("vcr_table3_human")]
    rows = [(row.exact, row.exact_sd) for row in shipped["vcr-humans"]]
    assert rows == [(pytest.approx(mean / 100), pytest.approx(sd / 100)) for mean, sd in printed]


@pytest.mark.parametrize(
    ("table", "copy"),
    [
        ("bloom-leaves-rae", "bloom_leaf_scores_rae"),
        ("bloom-leaves-lbs", "bloom_leaf_scores_lbs"),
        ("bloom-overall", "bloom_table1_overall"),
        ("bloom-levels", "bloom_table2_levels"),
        ("bloom-mmmu", "bloom_mmmu_coverage"),
        ("bloom-spanish", "bloom_ablation_spanish"),
    ],
)
def test_tables_of_bloombench_are_as_copied(table: str, copy: str) -> None:
    printed = copied(copy)
    assert [
        {column: line[column] for column in printed[0]} for line in lines_of(BENCHMARKS / f"{table}.csv")
    ] == printed


def test_rows_of_boards_are_the_micros_of_table_1(shipped: dict[str, list[ReportedResult]]) -> None:
    languages = {"English": "en", "Arabic": "ar"}
    rows = {(row.model, row.language): row for row in shipped["bloom"]}
    for line in copied("bloom_table1_overall"):
        row = rows[line["model"], languages[line["language"]]]
        assert getattr(row, line["method"].lower()) == float(line["micro"])


def test_models_of_gold_are_those_of_table_9() -> None:
    printed = copied("gold_table9_models")
    tasks = [name for name in printed[0] if name not in ("access", "model", "size", "overall", "note")]
    scores = [line[task] for line in printed for task in tasks]
    assert [line["score"] for line in lines_of(BENCHMARKS / "gold-models.csv")] == scores


@pytest.mark.parametrize(
    ("table", "copy"),
    [("gold-correlations", "gold_reconstructed_corr"), ("vcr-map", "vcr_fig6_correlation")],
)
def test_correlations_are_as_copied(table: str, copy: str) -> None:
    printed = [[cell for column, cell in line.items() if column != "benchmark"] for line in copied(copy)]
    assert [list(line.values()) for line in lines_of(BENCHMARKS / f"{table}.csv")] == printed


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (f"{HEAD}\n", " has no rows below the names of its columns."),
        ("", " is empty; its first row names the columns source,"),
        (f"{HEAD},colour\n{ROW},red\n", ", line 1: the column 'colour' is not known; the columns are source,"),
        ("source,language,mode,view,exact\n", " has no column 'model' in its first row;"),
        (f"{HEAD}\n{ROW},1\n", ", line 2: 7 cells under 6 column names."),
        (f"{HEAD}\n{ROW}\n\n{ROW}\n", ", line 4, column model: A model is in line 2 already, with the same source"),
        (f"{HEAD}\n,en,easy,stacked,A model,1\n", ", line 2, column source: it is empty; name the publication"),
        (f"{HEAD}\nA\x07,en,easy,tei,M,1\n", "column source: it holds the invisible character U+0007; take it out."),
        (f"{HEAD}\nA\u202ex,en,easy,tei,M,1\n", "column source: it holds the invisible character U+202E"),
        (f"{HEAD}\n{'x' * 301},en,easy,tei,M,1\n", "column source: it is longer than 300 characters."),
        (f"{HEAD}\nA,en,easy,tei,{'x' * 81},1\n", "column model: the name of the model is longer than 80 characters."),
        (f"{HEAD}\nA,en,easy,tei, ,1\n", ", line 2, column model: the name of the model is missing."),
        (f"{HEAD}\nA,English,easy,tei,M,1\n", "column language: it is a language code such as en or zh"),
        (f"{HEAD}\nA,en,Easy,tei,M,1\n", "column mode: it is one of easy, hard, mixed, not 'Easy'."),
        (f"{HEAD}\nA,en,easy,vi,M,1\n", "column view: it is one of stacked, tei, strip, image, not 'vi'."),
        (f"{HEAD}\nA,en,easy,tei,M,\n", ", line 2, column exact: a row has Exact match, Jaccard or both."),
        (f"{HEAD}\nA,en,easy,image,M,1\n", "column mode: it is one of en, not 'easy'."),
        (f"{HEAD}\nA,en,en,image,M,1\n", "column exact: the view image has no such metric."),
        (f"{HEAD},rae\nA,en,easy,tei,M,1,1\n", "column rae: the view tei has no such metric."),
        (f"{HEAD},lbs\nA,en,en,image,M,,\n", ", line 2, column rae: a row has RAE, LBS or both."),
        *(
            (f"{HEAD}\nA,en,easy,tei,M,{cell}\n", f": it is a percentage from 0 to 100 such as 91.55, not {cell!r}.")
            for cell in ("nan", "inf", "-1", "100.01", "1e1", "0x1", "٣", "91.55%", " 5", "=1+1", ".5", "5.")
        ),
        *(
            (f"{HEAD},{column}\n{ROW},{cell}\n", f", line 2, column {column}: {message}")
            for column, cell, message in [
                ("exact_sd", "NaN", "it is a percentage"),
                ("jaccard", "-0.0", "it is a percentage"),
                ("jaccard_sd", "1000", "it is a percentage"),
                ("items", "0", "it is a number of images such as 500, not '0'."),
                ("items", "5e3", "it is a number of images"),
                ("items", "9999999999", "it is a number of images"),
                ("url", "javascript:alert(1)", "the link has to be an http or https address"),
                ("url", "https://user@example.org", "the link has to be an http or https address"),
                ("access", "free", "it is one of open, closed, unknown, not 'free'."),
                ("size", "large", "the size is written like 7B, 1.3B or 350M, not 'large'."),
                ("released", "2024-02-30", "the date of release is written like 2026-01-31, not '2024-02-30'."),
                ("released", "2024-W05-6", "the date of release is written"),
                ("released", "05/13/2024", "the date of release is written"),
                ("data", "\x1b[31m", "it holds the invisible character U+001B"),
                ("note", "x" * 301, "it is longer than 300 characters."),
                ("corrected", "\ud7ff\ue000", "it holds the invisible character U+D7FF"),
            ]
        ),
        (f"{HEAD}\n{ROW}\n".encode() + b"\xff\n", "not UTF-8"),
        (b"x" * (results.MAX_BYTES + 1), " is larger than 4 MiB, so it is no table of reported results."),
    ],
)
def test_what_is_no_table_is_one_sentence_that_says_where(content: str | bytes, message: str, tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(LeaderboardError) as caught:
        read_reported(file)
    text = str(caught.value)
    assert text.startswith(str(file)) and message in text
    assert "\n" not in text and text.endswith(".")


@pytest.mark.parametrize("name", ["none.csv", ""])
def test_what_is_no_file(name: str, tmp_path: Path) -> None:
    with pytest.raises(LeaderboardError, match=r" is not a file; name a CSV of reported results\.$"):
        read_reported(tmp_path / name)


def test_the_number_of_rows_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "MAX_ROWS", 1000)
    file = tmp_path / "rows.csv"
    rows = [f"P,en,easy,tei,m{number},1" for number in range(results.MAX_ROWS + 1)]
    file.write_text("\n".join([HEAD, *rows[:-1]]))
    assert len(read_reported(file)) == results.MAX_ROWS
    file.write_text("\n".join([HEAD, *rows]))
    with pytest.raises(LeaderboardError, match=r"line 1002: a table of reported results has at most 1,000 rows\.$"):
        read_reported(file)


def test_a_cell_as_large_as_the_file_costs_no_time(tmp_path: Path) -> None:
    # Unicode's normal form sorts runs of accents; sorting one of this length would take minutes.
    file = tmp_path / "rows.csv"
    file.write_text(f"{HEAD}\n{'̖̀' * 900_000},en,easy,tei,M,1\n", "utf-8")
    with pytest.raises(LeaderboardError, match=r"line 2(, column source: it is longer|: this is not CSV)"):
        read_reported(file)


def test_other_orders_marks_and_line_ends_are_read(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_bytes("\ufeffmodel,jaccard,view,mode,language,source\r\n A  model ,50,strip,mixed,zh,P\r\n\r\n".encode())
    assert read_reported(file) == [
        ReportedResult(source="P", language="zh", mode="mixed", view=View.STRIP, model="A model", jaccard=0.5)
    ]


WORDS = st.from_regex(r"[A-Za-z0-9é中,;\"'=-]{1,12}( [A-Za-z0-9é中,;\"'=-]{1,12}){0,3}", fullmatch=True)
SHARES = st.none() | st.integers(0, 10_000).map(lambda number: number / 10_000)
ROWS = st.builds(
    ReportedResult,
    source=WORDS,
    url=st.sampled_from(["", "https://example.org/a?b=1"]),
    data=st.just("") | WORDS,
    items=st.none() | st.integers(1, 10**9 - 1),
    language=st.sampled_from(["en", "zh", "yue"]),
    mode=st.sampled_from([str(mode) for mode in MODES]),
    view=st.sampled_from(IMAGE_VIEWS),
    model=WORDS,
    access=st.sampled_from(Access),
    size=st.sampled_from([None, 0.35, 1.3, 7.0, 456.0, 1000.0]),
    released=st.none() | st.dates(),
    exact=st.integers(0, 10_000).map(lambda number: number / 10_000),
    exact_sd=SHARES,
    jaccard=SHARES,
    jaccard_sd=SHARES,
    corrected=st.just("") | WORDS,
    note=st.just("") | WORDS,
)


def cell(column: str, value: Any) -> str:
    if value is None:
        return ""
    if column == "size":
        return show_size(value)
    return f"{value * 100:.2f}" if isinstance(value, float) else str(value)


@given(st.lists(ROWS, min_size=1, max_size=5, unique_by=lambda row: (row.source, row.model)))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50, deadline=None)
def test_what_is_written_is_read(tmp_path: Path, rows: list[ReportedResult]) -> None:
    out = io.StringIO()
    table = csv.writer(out)
    table.writerow(COLUMNS)
    table.writerows([cell(column, getattr(row, column)) for column in COLUMNS] for row in rows)
    file = tmp_path / "rows.csv"
    file.write_bytes(out.getvalue().encode())
    assert read_reported(file) == rows


def test_rows_of_question_sets_are_those_of_table_1(shipped: dict[str, list[ReportedResult]]) -> None:
    rows = {(row.model, row.language): row for row in shipped["bloom"]}
    gemma = rows["Gemma3-27B", "ar"]
    assert (gemma.rae, gemma.lbs, gemma.size, gemma.access, gemma.mode) == (0.859, 0.44, 27, Access.OPEN, "ar")
    assert rows["GPT-4o mini", "en"].score("lbs") == (None, None) and rows["GPT-4o mini", "en"].rae == 0.824
    assert all(row.task.name == "bloom" and ("template" in row.note) == (row.lbs is not None) for row in rows.values())


def test_metrics_are_those_of_the_tasks_that_have_rows(shipped: dict[str, list[ReportedResult]]) -> None:
    both = {"exact": "Exact match", "jaccard": "Jaccard", "rae": "RAE", "lbs": "LBS"}
    assert results.reported_metrics([*shipped["bloom"], *shipped["vcr-wiki"]]) == both
    assert list(results.reported_metrics(shipped["bloom"])) == ["rae", "lbs"]
    assert results.reported_metrics([]) == {}
