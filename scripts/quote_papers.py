"""Turn the tables that were copied from papers into what a leaderboard may quote, and into examples to analyse.

    python scripts/quote_papers.py ../shared/data/papers

Writes vcrgen/reported_results/tables/vcr-*.csv: one row per model, setting and view of the VCR paper. Misprints of the
paper are corrected and marked, and two tables of the same run are compared. Also writes
vcrgen/reported_results/benchmarks/*.csv: the models of the GOLD paper, and correlations. scripts/quote_bloom.py writes
the tables of BloomBench.
"""

from __future__ import annotations

import argparse
import csv
import io
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from vcrgen.errors import LeaderboardError, VcrgenError
from vcrgen.files import write_text
from vcrgen.reported_results.results import COLUMNS, read_reported
from vcrgen.tasks.task import MCQ_TASK

TARGET = Path(__file__).resolve().parents[1] / "vcrgen" / "reported_results" / "tables"
PAPER = ("arXiv 2406.06462", "https://arxiv.org/abs/2406.06462")
PDF = ("VCR repository, paper.pdf of August 2024", "https://github.com/tianyu-z/VCR/blob/main/assets/paper.pdf")
README = ("VCR repository, README.md", "https://github.com/tianyu-z/VCR")
LANGUAGES = {"English": "en", "Chinese": "zh"}
MODES = {"Easy": "easy", "Hard": "hard", "hidden": "mixed"}
VIEWS = {"stacked": "vi_tei", "tei": "tei"}
DATA = {5000: "VCR-WIKI test", 500: "VCR-WIKI test, first 500", 100: "VCR-WIKI test, first 100"}
TEST_SETS = {"full": 5000, "first500": 500, "first100": 100}
BENCHMARKS = TARGET.parent / "benchmarks"
# The tasks of GOLD's Table IX; those of MMMU have 30 questions.
GOLD_TASKS = {
    "color": "Color",
    "count": "Count",
    "ocr": "OCR",
    "artwork": "Artwork",
    "landmark": "Landmark",
    "bmk": "Basic Medical Science",
    "biology": "Biology",
    "cs": "Computer Science",
    "economics": "Economics",
    "electronics": "Electronics",
    "math": "Math",
    "human": "Human",
}
MMMU_TASKS = ("bmk", "biology", "cs", "economics", "electronics", "math")
BLANKS_500 = {"English": 805, "Chinese": 1002}

# Other names of the same models in the README, which has the dates.
NAMES = {
    "GPT-4o Mini": "GPT-4o-mini",
    "InternLM-XComposer2-VL-4K": "InternLM-XComposer2-VL-4KHD",
    "InternVL1.5": "InternVL-V1.5",
    "InternVL2": "InternVL-V2",
}
SIZES = {"25.5B": "26B"}

BOTH = ("stacked", "tei")
WORKED_OUT = "worked out from the printed difference and found in the PDF of August 2024, too"
NOT_IN_TEXT = "exact match worked out from the printed difference, its SD not legible"
GARBLED, OVERLAP = "read from a garbled text", "read from overlapping lines"
# What the notes on the copy mean for the reader of a row. Not there: what is said of the printed differences, which
# are not quoted, and of errors, which `Row.wrong` says.
NOTES = {
    "read from several repeats": (BOTH, GARBLED),
    "read from repeated garbled lines": (BOTH, GARBLED),
    "rows overlap in the text": (BOTH, OVERLAP),
    "two rows overlap in the text": (BOTH, OVERLAP),
    "size as in Table 6": (BOTH, "size as in Table 6"),
    "size misread as 34B in this row": (BOTH, "the size reads 34B here"),
    "12B in the other tables": (BOTH, "12B in the other tables"),
    "em_vi_tei missing in the text": (("stacked",), "exact match not legible"),
    "em_tei misread as 0.0 in the text": (("tei",), "exact match not legible"),
    "j_vi_tei missing in the text": (("stacked",), "Jaccard not legible"),
    "j_vi_tei not legible (j_tei + j_delta = 81.69)": (
        ("stacked",),
        "Jaccard not legible (81.69 by the printed difference)",
    ),
    "14.87 = em_tei + em_delta (0.01), README and repo PDF agree": (("stacked",), WORKED_OUT),
    "1.06 = em_tei + em_delta, repo PDF agrees": (("stacked",), WORKED_OUT),
    "1.41 from j_tei + j_delta (0.01) and repo PDF": (("stacked",), WORKED_OUT),
    "66.85 from j_tei + j_delta (0.01) and repo PDF": (("stacked",), WORKED_OUT),
    "2.67 from em_vi_tei - em_delta (0.01) and repo PDF": (("tei",), WORKED_OUT),
    "em_vi_tei from em_tei + em_delta, sd not legible": (("stacked",), NOT_IN_TEXT),
    "em_tei from em_vi_tei - em_delta, sd not legible": (("tei",), NOT_IN_TEXT),
    "sd of em_vi_tei read as 3.10 here, 3.40 in Table 1": (
        ("stacked",),
        "SD of exact match from Table 1; it reads 3.10 here",
    ),
    "sd of em_tei reads 2.78, not plausible for 12.50 of 200 (2.34), left out": (
        ("tei",),
        "SD of exact match left out; it reads 2.78, and 2.34 is plausible",
    ),
}
SILENT = {
    "",
    "same as repo PDF",
    "first row of a repeated garbled line",
    "0 from the two zeros",
    "0.2 from the difference, repo PDF agrees",
    "-13.75 is from Table 1",
    "English Hard and Chinese Easy rows of this model are swapped in the paper (see README)",
    "333 and 426 correct blanks of the first-500 run over the full-set blank count (see README)",
}
DIFFERENCE = re.compile(r"(one )?(em|j)_delta .*")
SD = re.compile(r"sd of ([a-z_, ]+) (from repo PDF|not legible)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of a copied table: a model in one language and mode, with both views.

    Attributes:
        cells: What is right, by the names of the copy.
        source: Publication and table.
        url: Its address.
        data: What was measured on.
        items: Images of it.
        printed: What is printed where that is wrong.
        wrong: Why it is wrong.
    """

    cells: Mapping[str, str]
    source: str
    url: str
    data: str
    items: int
    printed: Mapping[str, str] = field(default_factory=dict)
    wrong: str = ""

    @property
    def key(self) -> tuple[str, ...]:
        """Return what tells it from the other rows of a table."""
        return tuple(self.cells[name] for name in ("language", "mode", "model", "size"))

    def corrected(self, suffix: str) -> str:
        """Return what the quoted row says of the error; ``suffix`` is the copy's word for the view."""
        if not self.wrong:
            return ""
        exact, jaccard = self.printed[f"em_{suffix}"], self.printed[f"j_{suffix}"]
        return f"printed: exact match {exact}, Jaccard {jaccard}; {self.wrong}"


def quote(folder: Path, target: Path) -> list[Path]:
    """Write all tables.

    Args:
        folder: Where the copies are.
        target: Where the tables go.

    Raises:
        LeaderboardError: A copy is missing or is not as it was, or two of them disagree.
    """
    readme = read(folder, "vcr_readme_leaderboard.csv")
    dates = {(line["model"], line["size"]): line["release_date"] for line in readme}
    last = put_right(paper(folder, "vcr_table9_first500.csv", 9, 500), 9)
    wiki = put_right(paper(folder, "vcr_table2_wiki.csv", 2, 5000), 2, first_500=last)
    small = put_right(paper(folder, "vcr_table8_first100.csv", 8, 100), 8)
    wiki, small, last = (
        [*rows, *missing(folder, rows, number)] for rows, number in ((wiki, "2"), (small, "4"), (last, "5"))
    )
    hidden = [
        *paper(folder, "vcr_table6_hidden_en.csv", 6, 100, "VCR-HIDDEN"),
        *paper(folder, "vcr_table7_hidden_zh.csv", 7, 100, "VCR-HIDDEN"),
    ]
    compare_table_1(folder, hidden)
    tables = {
        "vcr-wiki": list(by_view(wiki, dates)),
        "vcr-wiki-first500": list(by_view(last, dates)),
        "vcr-wiki-first100": list(by_view(small, dates)),
        "vcr-hidden": list(by_view(hidden, dates)),
        "vcr-humans": list(humans(read(folder, "vcr_table3_human.csv"))),
        "vcr-readme": list(only_in_readme(readme, wiki)),
    }
    return [write(lines, target / f"{name}.csv") for name, lines in tables.items()]


class Line(dict[str, str]):
    """A line of a copied table; a column that it does not have is a LeaderboardError that names the file."""

    file: Path

    def __missing__(self, column: str) -> str:
        raise LeaderboardError(f"{self.file} has no column {column!r}; take the table as it was copied.")


def read(folder: Path, name: str) -> list[Line]:
    """The lines of a copied table."""
    try:
        with (folder / name).open(encoding="utf-8", newline="") as handle:
            lines = [Line(cells) for cells in csv.DictReader(handle)]
    except OSError as error:
        raise LeaderboardError(f"{folder / name} cannot be read ({error.strerror}).") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise LeaderboardError(f"{folder / name} is no CSV in UTF-8 ({error}).") from None
    if not lines:
        raise LeaderboardError(f"{folder / name} has no lines; take the table as it was copied.")
    for number, line in enumerate(lines, 1):
        line.file = folder / name
        if None in line or None in line.values():
            raise LeaderboardError(f"{folder / name}, row {number} has not as many cells as there are columns.")
    return lines


def paper(folder: Path, name: str, table: int, items: int, data: str = "") -> list[Row]:
    """A table of the paper; closed models never saw more than the first 500 items of VCR-WIKI."""
    source, url = PAPER
    rows = []
    for cells in read(folder, name):
        count = min(items, 500) if cells["access"] == "closed" else items
        rows.append(Row(cells=cells, source=f"{source}, Table {table}", url=url, data=data or DATA[count], items=count))
    return rows


def missing(folder: Path, rows: Sequence[Row], table: str) -> Iterator[Row]:
    """The rows of an earlier version of a table that the paper's does not have or that are not legible there."""
    there = {row.key for row in rows}
    source, url = PDF
    for cells in read(folder, "vcr_repo_pdf_2024_08.csv"):
        items = TEST_SETS[cells["test_set"]]
        row = Row(cells=cells, source=f"{source}, Table {table}", url=url, data=DATA[items], items=items)
        if cells["pdf_table"] == table and row.key not in there:
            yield row


def put_right(rows: Iterable[Row], table: int, first_500: Iterable[Row] = ()) -> list[Row]:
    """Put right what the paper prints wrongly.

    Args:
        rows: Those of a table.
        table: Its number.
        first_500: The rows of Table 9, for Table 2.
    """
    by_key = {row.key: row for row in rows}
    hard, easy = (("English", "Hard", "InternVL-V2", "76B"), ("Chinese", "Easy", "InternVL-V2", "76B"))
    wrong = (
        "the paper swaps English Hard and Chinese Easy of this model, "
        "as blank counts, SDs and the repository's README show"
    )
    found = by_key[hard], by_key[easy]
    for here, there in (found, found[::-1]):
        place = {name: here.cells[name] for name in ("language", "mode")}
        by_key[here.key] = replace(here, cells={**there.cells, **place}, printed=here.cells, wrong=wrong)
    if table == 2:
        key = ("English", "Easy", "DeepSeek-VL2", "28B")
        same = next(row for row in first_500 if row.key == key)
        by_key[key] = replace(
            by_key[key],
            cells=same.cells,
            data=same.data,
            items=same.items,
            printed=by_key[key].cells,
            wrong="these are the correct blanks of the first 500 items over the blanks of all 5,000; "
            "the row here is that of Table 9",
        )
    return list(by_key.values())


def compare_table_1(folder: Path, hidden: Iterable[Row]) -> None:
    """Table 1 is a part of Tables 6 and 7, so it is not quoted."""
    rows = {row.key: row.cells for row in hidden}
    for cells in read(folder, "vcr_table1_hidden.csv"):
        key = tuple(cells[name] for name in ("language", "mode", "model", "size"))
        if {**cells, "note": ""} != {**rows.get(key, {}), "note": ""}:
            raise LeaderboardError(f"Table 1 differs from Tables 6 and 7: {' '.join(key)}.")


def by_view(rows: Iterable[Row], dates: Mapping[tuple[str, str], str]) -> Iterator[dict[str, str]]:
    """Each row as two lines, one for each view."""
    for row in rows:
        cells = row.cells
        model, size = cells["model"], cells["size"]
        for view, suffix in VIEWS.items():
            yield {
                "source": row.source,
                "url": row.url,
                "data": row.data,
                "items": str(row.items),
                "language": LANGUAGES[cells["language"]],
                "mode": MODES[cells["mode"]],
                "view": view,
                "model": model,
                "access": cells["access"],
                "size": size.strip("-"),
                "released": dates.get((NAMES.get(model, model), SIZES.get(size, size)), ""),
                "exact": cells[f"em_{suffix}"],
                "exact_sd": cells[f"em_{suffix}_sd"],
                "jaccard": cells[f"j_{suffix}"],
                "jaccard_sd": cells[f"j_{suffix}_sd"],
                "corrected": row.corrected(suffix),
                "note": "; ".join(notes(cells, view)),
            }


def notes(cells: Mapping[str, str], view: str) -> Iterator[str]:
    """Return the notes about one view of a row."""
    if cells["model"].endswith("-FT"):
        yield "fine-tuned for VCR by the authors"
    for part in cells.get("note", "").split("; "):
        if found := SD.fullmatch(part):
            metrics = {"em": "exact match", "j": "Jaccard"}
            named = [name.partition("_") for name in found[1].split(", ")]
            if mine := [metrics[metric] for metric, _, suffix in named if suffix == VIEWS[view]]:
                origin = found[2].replace("repo PDF", "the PDF of August 2024")
                yield f"SD of {' and '.join(mine)} {origin}"
        elif part in NOTES:
            views, text = NOTES[part]
            if view in views:
                yield text
        elif part not in SILENT and not DIFFERENCE.fullmatch(part):
            raise LeaderboardError(f"The note {part!r} of {cells['model']} is new; say in NOTES what becomes of it.")


def humans(lines: Iterable[Mapping[str, str]]) -> Iterator[dict[str, str]]:
    """The people who solved the first 100 items; both counts of the table are over all blanks."""
    source, url = PAPER
    for line in lines:
        yield {
            "source": f"{source}, Table 3",
            "url": url,
            "data": f"{DATA[100]} ({line['split']})",
            "items": "100",
            "language": LANGUAGES[line["language"]],
            "mode": MODES[line["mode"]],
            "view": "stacked",
            "model": "Humans",
            "exact": line["em_mean"],
            "exact_sd": line["em_sd"],
            "note": f"mean and SD over people, {line['n_puzzles']} blanks"
            + ("; without what the authors filtered out" if line["split"] == "filtered" else ""),
        }


def only_in_readme(lines: Iterable[Mapping[str, str]], wiki: Iterable[Row]) -> Iterator[dict[str, str]]:
    """Return the rows of the repository's list that the paper's tables lack; compare those that both have."""
    there = {}
    for row in wiki:
        language, mode, model, size = row.key
        there[language, mode, NAMES.get(model, model), SIZES.get(size, size)] = row.cells
    source, url = README
    for line in lines:
        model, size = line["model"], line["size"]
        for language, code in LANGUAGES.items():
            for mode in ("Easy", "Hard"):
                exact, jaccard = (line[f"{code}_{mode.lower()}_{metric}"] for metric in ("em", "j"))
                if cells := there.get((language, mode, model, size)):
                    # The list repeats the exact match of the other view as the Jaccard index of this model.
                    if (model, size) == ("Qwen2-VL", "72B") and jaccard == cells["em_tei"]:
                        jaccard = cells["j_vi_tei"]
                    # As numbers: one prints 0.0 and the other 0.00.
                    if (float(exact), float(jaccard)) != (float(cells["em_vi_tei"]), float(cells["j_vi_tei"])):
                        raise LeaderboardError(f"README and Table 2 differ: {language} {mode} {model} {size}.")
                elif exact:
                    items, note = readme_items(line)
                    yield {
                        "source": source,
                        "url": url,
                        "data": DATA[items or 5000],
                        "items": str(items or ""),
                        "language": code,
                        "mode": MODES[mode],
                        "view": "stacked",
                        "model": model,
                        "access": "closed" if size == "-" else "open",
                        "size": size.strip("-"),
                        "released": line["release_date"],
                        "exact": exact,
                        "jaccard": jaccard,
                        "note": note,
                    }


def readme_items(line: Mapping[str, str]) -> tuple[int | None, str]:
    """Return the number of items that a row of the list was measured on, which the list does not say."""
    if line["size"] != "-":
        return 5000, ""
    scores = [
        (float(line[f"{code}_{mode}_em"]), BLANKS_500[language])
        for language, code in LANGUAGES.items()
        for mode in ("easy", "hard")
    ]
    # Half a hundredth for rounding, and a little for binary fractions.
    if all(abs(round(score * blanks / 100) * 100 / blanks - score) < 0.0051 for score, blanks in scores):
        return 500, "number of items worked out from the scores"
    return None, "number of items not known; the scores do not fit the first 500"


def write(lines: Iterable[Mapping[str, str]], file: Path) -> Path:
    """Write a table, and read it as a board will."""
    rows = list(lines)
    columns = [name for name in COLUMNS if name not in MCQ_TASK.main_metrics or any(name in row for row in rows)]
    out = io.StringIO()
    table = csv.DictWriter(out, columns, restval="", lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    write_text(file, out.getvalue())
    print(f"{file}: {len(read_reported(file))} rows")
    return file


def quote_benchmarks(folder: Path, target: Path) -> None:
    """Write the tables that analyses take as examples."""
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(("model", "task", "score", "items"))
    for line in read(folder, "gold_table9_models.csv"):
        model = line["model"] if line["size"] == "-" else f"{line['model']} {line['size']}"
        for name, task in GOLD_TASKS.items():
            if name in line:
                table.writerow((model, task, line[name], "30" if name in MMMU_TASKS else ""))
    write_text(target / "gold-models.csv", out.getvalue())
    for copied, written in (("gold_reconstructed_corr", "gold-correlations"), ("vcr_fig6_correlation", "vcr-map")):
        text = (folder / f"{copied}.csv").read_text("utf-8")
        head, _, rest = text.partition("\n")
        names = [GOLD_TASKS.get(name, name) for name in head.split(",") if name != "benchmark"]
        values = [line.split(",")[-len(names) :] for line in rest.splitlines()]
        write_text(target / f"{written}.csv", "".join(",".join(line) + "\n" for line in (names, *values)))


def carry_out(
    arguments: Sequence[str] | None,
    description: str | None,
    quote: Callable[[Path, Path], object],
    quote_benchmarks: Callable[[Path, Path], object],
) -> int:
    """Read the folder from the command line and write the tables; 2 if that is not possible."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where the copied tables are")
    folder = parser.parse_args(arguments).folder
    try:
        quote(folder, TARGET)
        quote_benchmarks(folder, BENCHMARKS)
    except VcrgenError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2
    except (KeyError, ValueError) as error:
        print(f"Error: a table in {folder} has a name or a number that cannot be used: {error}.", file=sys.stderr)
        return 2
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the tables of the VCR and GOLD papers; 2 if that is not possible."""
    return carry_out(arguments, __doc__, quote, quote_benchmarks)


if __name__ == "__main__":
    sys.exit(main())
