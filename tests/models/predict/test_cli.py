"""``vcrgen baseline``: what it prints, and that every mistake is one sentence and exit code 2."""

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vcrgen.cli.outputs import default_out
from vcrgen.models.ocr import OcrModel

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def baseline(run: Run, monkeypatch: pytest.MonkeyPatch, fake_model: Any) -> Run:
    """Runs ``vcrgen baseline`` with a model that needs no OCR."""
    monkeypatch.setattr("vcrgen.models.ocr.OcrModel", fake_model)
    return lambda *words: run("baseline", *words)


def test_the_last_line_says_how_to_score(baseline: Run, dataset: Path) -> None:
    code, out, err = baseline("ocr", dataset, "--out", "preds.jsonl", "--view", "both", "--workers", 2)
    assert code == 0, err
    assert out == f"preds.jsonl: 24 outputs of fake-1; next: vcrgen score preds.jsonl --data {dataset} --split all\n"
    assert Path("preds.jsonl").read_bytes().count(b"\n") == 24


@pytest.mark.parametrize("options", [["--limit", 2], ["--limit", 2, "--mode", "hard"], ["--split", "test"]])
def test_the_command_finds_no_output_missing(baseline: Run, run: Run, dataset: Path, options: list[Any]) -> None:
    """It scores what was read, and does not count the rest as wrong."""
    code, out, err = baseline("ocr", dataset, "--out", "x.jsonl", *options)
    assert code == 0, err
    code, _, err = run(*shlex.split(out.partition("next: vcrgen ")[2]), "--strict")
    assert code == 0, err
    code, _, err = run("score", "x.jsonl", "--data", dataset, "--split", "all", "--strict")
    assert code == 2 and "without an output" in err


def test_many_pictures_come_with_an_estimate(baseline: Run, dataset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, _, err = baseline("ocr", dataset, "--out", "few.jsonl")
    assert code == 0 and "Reading" not in err
    monkeypatch.setattr("vcrgen.cli.baseline.MANY", 5)
    code, _, err = baseline("ocr", dataset, "--out", "many.jsonl", "--workers", 3)
    assert code == 0 and "Reading 12 pictures, 3 at a time: about 1 min, if all are like the first 3." in err
    assert Path("few.jsonl").read_bytes() == Path("many.jsonl").read_bytes()


def test_a_hidden_set(baseline: Run, hidden: Callable[..., Path]) -> None:
    public = hidden()
    (public / "stacked_image" / ("0" * 32 + ".png")).unlink()
    code, out, _ = baseline("ocr", public)
    target = public.with_name("public-ocr.jsonl")
    assert code == 0 and target.is_file()
    aside, last = out.splitlines()
    assert aside.startswith("Rejected: no_image 1; the first: 0000")
    assert (
        last == f"{target}: 2 outputs of fake-1; next: vcrgen leaderboard submit BOARD {target} --set SET --model MODEL"
    )
    key = public.with_name("key")
    key.mkdir()
    (key / "key.json").write_text("{}")
    assert baseline("ocr", public, "--out", "again.jsonl")[1].endswith(f"--data {key}\n")


def test_a_dataset_in_a_store(baseline: Run, dataset: Path, store: Any) -> None:
    bucket = store.bucket()
    for file in dataset.rglob("*"):
        if file.is_file():
            store.put(bucket, f"vcr/{file.relative_to(dataset).as_posix()}", file.read_bytes())
    code, out, err = baseline("ocr", f"s3://{bucket}/vcr", "--split", "test")
    assert code == 0, err
    command = f"vcrgen score vcr-ocr.jsonl --data s3://{bucket}/vcr --split test"
    assert out == f"vcr-ocr.jsonl: 4 outputs of fake-1; next: {command}\n"


def test_outputs_stand_beside_the_dataset(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    assert default_out(Path("data/my-vcr"), "ocr") == Path("data/my-vcr-ocr.jsonl")
    assert default_out(Path(), "ocr") == tmp_path / "sub-ocr.jsonl"
    assert default_out(Path(".."), "ocr") == tmp_path.with_name(f"{tmp_path.name}-ocr.jsonl")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere"], "nowhere does not exist"),
        (["DATASET", "--view", "strip"], "OCR reads pictures: the view is one of stacked, tei, both, not 'strip'"),
        (["DATASET", "--mode", "medium"], "nothing of mode 'medium'"),
        (["DATASET", "--split", "dev"], "nothing of split 'dev'"),
        (["DATASET", "--out", "full"], "full is there already"),
        (["DATASET", "--out", "/proc/preds.jsonl"], "cannot be written"),
    ],
)
def test_mistakes(baseline: Run, dataset: Path, words: list[str], message: str) -> None:
    Path("full").write_text("mine")
    code, out, err = baseline("ocr", *(str(dataset) if word == "DATASET" else word for word in words))
    assert code == 2, out + err
    assert message in err and err.startswith("Error: ") and err.count("\n") == 1
    assert [path.name for path in Path().iterdir()] == ["full"]


def test_the_extra_is_not_installed(baseline: Run, dataset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vcrgen.models.ocr.OcrModel", OcrModel)
    monkeypatch.setitem(sys.modules, "rapidocr_onnxruntime", None)
    code, _, err = baseline("ocr", dataset)
    assert code == 2 and 'pip install "rapidocr-onnxruntime>=' in " ".join(err.split()) and "Traceback" not in err
