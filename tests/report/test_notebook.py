"""Results as Python and notebooks show them."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.notebooks import check_shown
from vcrgen.analysis.examples import get_example
from vcrgen.analysis.factors import fit_factors
from vcrgen.analysis.profile.example import example_profiles
from vcrgen.analysis.redundancy import make_map
from vcrgen.builder.run import build
from vcrgen.core.errors import ConfigError
from vcrgen.report.notebook import LongRow, NotebookResult
from vcrgen.report.table import Percent, Table
from vcrgen.scorer.run import score


class Fruit(NotebookResult):
    """``to_pandas()`` has a row for each fruit. Its columns are ``name`` and ``share``."""

    headline = "of <b>\n2026"

    def __init__(self, count: int) -> None:
        self.count = count

    @property
    def summary_table(self) -> Table:
        rows = [(row["name"], Percent(row["share"])) for row in self.long_rows()]
        return Table(title="Fruit & more", heads=("Name", "Share"), labels=1, rows=rows)

    def long_rows(self) -> Iterator[LongRow]:
        return ({"name": f"<i>{number}</i>", "share": 1 / self.count} for number in range(self.count))


def test_a_result_is_one_line_and_a_table_whose_texts_are_escaped() -> None:
    fruit = Fruit(2)
    assert repr(fruit) == "<Fruit of <b> 2026>"
    page = fruit._repr_html_()
    assert "<caption>Fruit &amp; more</caption>" in page and "<bdi>&lt;i&gt;1&lt;/i&gt;</bdi>" in page
    assert "50.00" in page and "Next" not in page and "more row" not in page
    assert fruit.to_pandas().to_dict("list") == {"name": ["<i>0</i>", "<i>1</i>"], "share": [0.5, 0.5]}


def test_of_a_long_table_the_first_rows_are_shown() -> None:
    page = Fruit(23)._repr_html_()
    assert page.count("<bdi>&lt;i&gt;") == 20 and "3 more rows; to_pandas() has all figures." in page


def test_without_pandas_there_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(
        ConfigError, match=r"^to_pandas\(\) needs pandas, which is not installed: pip install pandas\.$"
    ):
        Fruit(1).to_pandas()


def built(dataset: Path, folder: Path) -> NotebookResult:
    return build("samples:3", out=folder / "built", mode="easy", progress=False)


def scored(dataset: Path, folder: Path) -> Any:
    from vcrgen.data.reader import open_dataset
    from vcrgen.data.tasks.vcr import VCR

    rows = [row for _, row in open_dataset(dataset, VCR).select(mode="easy").rows(("question_id", "crossed_text"))]
    outputs = [{"question_id": row["question_id"], "output": " ".join(row["crossed_text"])} for row in rows[:-1]]
    file = folder / "m.jsonl"
    file.write_text("\n".join(json.dumps(line | {"mode": "easy", "view": "stacked"}) for line in outputs))
    return score(file, data=dataset, split="all", progress=False)


def mapped(dataset: Path, folder: Path) -> NotebookResult:
    return make_map(get_example("vcr-map", "map").load(), draws=10)


def fitted(dataset: Path, folder: Path) -> NotebookResult:
    example = get_example("gold-made", "factors")
    assert example.spec
    return fit_factors(example.load(), example.spec(), draws=10)  # type: ignore[arg-type]


def profiled(dataset: Path, folder: Path) -> NotebookResult:
    return example_profiles()


@pytest.mark.parametrize("make", [built, scored, mapped, fitted, profiled])
def test_a_result_is_short_and_its_frame_has_the_documented_columns(
    dataset: Path, tmp_path: Path, make: Callable[[Path, Path], NotebookResult]
) -> None:
    check_shown(make(dataset, tmp_path))


def test_results_have_the_words_of_users(dataset: Path, tmp_path: Path) -> None:
    made: Any = built(dataset, tmp_path)
    assert (made.pairs, made.images) == (3, 3) and made.spans >= 3 and made.rejected == {}
    result = scored(dataset, tmp_path)
    (cell,) = result.scores
    frame = result.to_pandas()
    (share,) = frame[(frame.metric == "exact") & frame.group.isna()].score
    assert cell.images == 6 and share == cell.metrics["exact"].value < 1
    assert repr(result).startswith("<RunResult m, en: exact match easy VI+TEI ") and len(repr(cell)) < 200
    assert f"vcrgen view {dataset} {tmp_path}/m.jsonl --split all" in result._repr_html_()  # as it was scored
