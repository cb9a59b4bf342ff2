"""What could be done about the rule that rejects most."""

import re
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.builder.conftest import jpeg
from vcrgen.builder.advice import ADVICE, advice
from vcrgen.builder.options import BuildConfig
from vcrgen.core.records import RejectReason

Run = Callable[..., tuple[int, str, str]]
TITLE = "Small Green Boat Lies Quietly On The Warm Sand While Gray Birds Walk Slowly"


@pytest.mark.parametrize("reason", RejectReason)
def test_every_reason_has_one_whose_options_exist(reason: RejectReason) -> None:
    options = re.findall("--([a-z-]+)", ADVICE[reason])
    fields = set(BuildConfig.model_fields) | {"column"}
    assert {option.replace("-", "_") for option in options} <= fields
    assert advice({reason: 3}, "zh") == f"Of 3 rejects 3 are {reason}: {ADVICE[reason]}."
    assert advice({reason: 1}, "zh") == f"Of 1 reject 1 is {reason}: {ADVICE[reason]}."


def test_the_most_frequent_reason_counts() -> None:
    assert advice({"tiny_image": 1, "no_image": 1200, "duplicate": 5}, "en").startswith(
        "Of 1,206 rejects 1,200 are no_image: add the files"
    )
    assert advice({}, "en") == ""


@pytest.mark.parametrize(("lang", "has_capitals"), [("de", True), ("ru", True), ("zh", False), ("ar", False)])
def test_title_case_is_for_scripts_with_capitals(lang: str, has_capitals: bool) -> None:
    text = advice({"no_maskable_ngram": 2}, lang)
    assert text.endswith("not masked" + has_capitals * ", and In Title Case Every Word May Be a Name" + ".")


def write(file: Path, captions: list[str]) -> Path:
    images = [jpeg(f"rgb({index}, 90, 90)") for index in range(len(captions))]
    pq.write_table(pa.table({"image": images, "caption": captions}), file)
    return file


def test_the_summary_says_why_title_case_is_rejected(tmp_path: Path, run: Run) -> None:
    source = write(tmp_path / "titles.parquet", [TITLE.lower(), TITLE, f"{TITLE} Here"])
    code, out, err = run("build", source, "--out", tmp_path / "out", "--mode", "easy")
    text = " ".join((out + err).split())
    assert code == 0 and "Of 2 rejects 2 are no_maskable_ngram: try a smaller --ngram-size, " in text
    assert "In Title Case Every Word May Be a Name." in text


def test_a_source_of_title_case_alone(tmp_path: Path, run: Run) -> None:
    source = write(tmp_path / "titles.parquet", [TITLE, f"{TITLE} Here"])
    code, _, err = run("build", source, "--out", tmp_path / "out", "--mode", "easy")
    assert code == 2 and "In Title Case Every Word May Be a Name." in " ".join(err.split())
