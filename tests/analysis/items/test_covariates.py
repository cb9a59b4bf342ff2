"""Covariates of masked spans, from the text alone and from a dataset."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from vcrgen import build
from vcrgen.analysis.items.covariates import span_covariates
from vcrgen.analysis.items.example import named
from vcrgen.analysis.items.item_table import ItemTable, MaskedSpan
from vcrgen.analysis.items.read_items import read_items
from vcrgen.dataset.reader import open_dataset
from vcrgen.errors import AnalysisError
from vcrgen.signature import Signature
from vcrgen.tasks.pixel_bits import PixelBits
from vcrgen.tasks.vcr import VCR


def spans_of(data: Path, mode: str | None = None) -> list[MaskedSpan]:
    rows = open_dataset(data, VCR).select(mode=mode).rows()
    return [MaskedSpan(row["question_id"], n, text) for _, row in rows for n, text in enumerate(row["crossed_text"])]


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("covariates") / "set"
    build(out=out, limit=8)
    return out


def table_of(texts: list[MaskedSpan], mode: str | None = "hard") -> ItemTable:
    scores = np.random.default_rng(0).integers(0, 2, (6, len(texts))).astype(float)
    ids = sorted({text.question_id for text in texts})
    groups = np.array([ids.index(text.question_id) for text in texts])
    return replace(named(scores, groups, source="evidence"), spans=tuple(texts), mode=mode)


def values(table: ItemTable, data: Path | None = None) -> dict[str, list[float]]:
    return {covariate.name: covariate.values.tolist() for covariate in span_covariates(table, data)}


def test_traits_of_the_text() -> None:
    found = values(table_of([MaskedSpan("a", 0, "hat"), MaskedSpan("a", 1, "Égg 1?"), MaskedSpan("b", 0, "山水")]))
    assert found["Length"] == [0.3, 0.6, 0.2] and found["Number in the image"] == [0, 1, 0]
    assert found["Letters with ascenders"] == [20 / 3, 5.0, 0] and found["Letters with descenders"] == [0, 5.0, 0]


def test_traits_of_a_dataset(dataset: Path) -> None:
    rows = [row for _, row in open_dataset(dataset, VCR).select(mode="hard").rows()]
    found = values(table_of(spans_of(dataset, "hard")), dataset)
    spans = [(row, span) for row in rows for span in row["spans"]]
    assert found["Visible ink"] == [10 * span["visible_ink"] for _, span in spans]
    assert found["Rows above the cover"] == [span["rows_above"] for _, span in spans]
    assert found["Length of the caption"] == [len(row["caption"]) / 100 for row, _ in spans]
    assert found["Place in the caption"] == [10 * span["start"] / len(row["caption"]) for row, span in spans]
    breaks = [float(len({box["y0"] for box in span["boxes"]}) > 1) for _, span in spans]
    assert found["Line break inside"] == breaks and 0 < sum(breaks) < len(breaks)
    common = found["Frequency of its words"]
    words = [word for _, span in spans for word in span["tokens"]]
    first = spans[0][1]["tokens"]
    assert common[0] == pytest.approx(np.mean([np.log10(words.count(w) / len(words)) for w in first]))


def test_what_differs_between_modes_is_left_out_where_the_mode_is_not_known(dataset: Path) -> None:
    texts = spans_of(dataset, "easy")
    easy, unstated = values(table_of(texts, "easy"), dataset), values(table_of(texts, "-"), dataset)
    assert set(easy) - set(unstated) == {"Visible ink", "Rows above the cover", "Rows below the cover"}
    assert easy["Visible ink"] != values(table_of(texts, "hard"), dataset)["Visible ink"]


def test_another_dataset_is_refused_without_a_word_of_the_text(dataset: Path) -> None:
    row = next(row for _, row in open_dataset(dataset, VCR).rows())
    for text, message in (
        ("secret words here", "a masked span of .* is not the one"),
        (None, "lacks 1 of the 2 spans"),
    ):
        known = MaskedSpan(row["question_id"], 0, text or row["crossed_text"][0])
        with pytest.raises(AnalysisError, match=message) as caught:
            values(table_of([known, MaskedSpan("zz", 0, "secret words here")]), dataset)
        assert "secret" not in str(caught.value)


def test_other_data_than_a_dataset(twelve: list[Path]) -> None:
    with pytest.raises(AnalysisError, match="no evidence with answers"):
        span_covariates(named(np.zeros((3, 3)), source="x"))
    assert len(span_covariates(read_items(twelve))) == 4


def test_bits_are_those_of_the_dataset_or_of_the_baseline(dataset: Path, tmp_path: Path) -> None:
    spans = [MaskedSpan("a", 0, "one"), MaskedSpan("a", 1, "two"), MaskedSpan("b", 0, "three")]
    signature = Signature({"method": "template-1"})
    known = PixelBits(signature, {("a", "hard"): (0.5, 2.0), ("b", "hard"): (7.0,)})
    found = {c.name: c.values.tolist() for c in span_covariates(table_of(spans), None, known)}
    assert found["Bits that its pixels leave"] == [0.5, 2.0, 7.0]
    of_another_mode = span_covariates(table_of(spans, "easy"), None, known)
    assert "Bits that its pixels leave" not in {covariate.name for covariate in of_another_mode}
    build(out=tmp_path / "bars", limit=1, cover="bars", mode="bits=4")
    found = values(table_of(spans_of(tmp_path / "bars"), "bits-4"), tmp_path / "bars")
    rows = open_dataset(tmp_path / "bars", VCR).rows()
    assert found["Bits that its pixels leave"] == [bits for _, row in rows for bits in row["pixel_bits"]]
