"""Datasets of the same pairs at several levels of ink."""

from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.making import rows_of
from vcrgen.builder.options import BuildConfig
from vcrgen.builder.run import build
from vcrgen.core.errors import ConfigError, FontError
from vcrgen.core.records import Mode, is_mode
from vcrgen.data.reader import open_dataset
from vcrgen.data.tasks.vcr import VCR, vcr_statistics

Run = Callable[..., tuple[int, str, str]]
LEVELS = ("ink-0.10", "ink-0.20", "ink-0.30", "ink-0.70")


@pytest.mark.parametrize(
    "name", ["", "both", "ink-0.2", "ink-0.00", "ink-1.00", "ink-0.96", "ink-0.200", "Easy", 3, None]
)
def test_names_that_are_none(name: object) -> None:
    assert not is_mode(name)
    if isinstance(name, str):
        with pytest.raises(ValueError, match="is no mode"):
            Mode(name)


def test_two_ways_to_write_the_same_levels_are_the_same_build() -> None:
    assert BuildConfig(mode="ink=0.5,.1").content_hash() == BuildConfig(mode="ink=0.10,0.50").content_hash()


@pytest.mark.parametrize(
    ("mode", "message"),
    [
        ("ink=0", "'0' is no share of ink to leave; give shares from 0.05 to 0.95"),
        ("ink=1", "'1' is no share"),
        ("ink=0.1,1.0", "'1.0' is no share"),
        ("ink=0.125", "'0.125' is no share"),
        ("ink=", "'' is no share"),
        ("ink=nan", "'nan' is no share"),
        ("ink=0.1,0.10", "names a share twice"),
        ("medium", "'medium' is not easy, hard, both, shares of ink by commas"),
    ],
)
def test_levels_that_make_no_sense(mode: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        BuildConfig(mode=mode)


@pytest.mark.parametrize(
    ("mode", "message"),
    [
        ("ink=0.05,0.06", r"the levels 0.05 and 0.06 hide the same rows \(3-7\)"),
        ("ink=0.15,0.5", r"no whole rows leave about 0.15 of the ink \(0.08 comes nearest\)"),
    ],
)
def test_levels_that_small_type_does_not_have(mode: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(FontError, match=message):
        build("samples", out=tmp_path / "out", limit=1, font_size=8, mode=mode)
    assert not (tmp_path / "out").exists()


def test_levels_have_the_same_pairs_and_spans_and_more_ink(ladder: Path) -> None:
    tables = [rows_of(ladder / mode) for mode in LEVELS]
    spans = [[(span["start"], span["end"]) for row in rows for span in row["spans"]] for rows in tables]
    assert all(each == spans[0] for each in spans)
    ink = [[span["visible_ink"] for row in rows for span in row["spans"]] for rows in tables]
    assert all(list(of_span) == sorted(set(of_span)) for of_span in zip(*ink, strict=True))
    assert {row["mode"] for rows in tables for row in rows} == set(LEVELS)
    statistics = vcr_statistics(open_dataset(ladder, VCR))
    for mode in LEVELS:
        measured = statistics[mode, "test"].visible_ink
        assert measured is not None and measured.mean == pytest.approx(float(mode[4:]), abs=0.06)
    assert "ink-0.10, ink-0.20, ink-0.30 and ink-0.70" in (ladder / "README.md").read_text("utf-8")


def test_what_is_hidden_in_easy_and_hard_is_not_changed_by_levels(tmp_path: Path, dataset: Path) -> None:
    """The same seed covers the same spans, whatever the modes."""
    build("samples", out=tmp_path / "x", limit=6, splits="test=2,train=...", mode="ink=0.5")
    ours, theirs = (
        pq.read_table(next((folder / mode).glob("test*")), columns=["question_id", "crossed_text"]).to_pylist()
        for folder, mode in ((tmp_path / "x", "ink-0.50"), (dataset, "easy"))
    )
    assert ours == theirs
