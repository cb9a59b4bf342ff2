"""Memory does not grow with what is scored but for a few bytes a question."""

import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vcrgen.scorer import ScoreOptions, Session, answer_key, scorer
from vcrgen.scorer.evidence import EvidenceWriter
from vcrgen.stats import bootstrap

FEW, MANY = 500, 2500


@pytest.fixture
def files(tmp_path: Path) -> Callable[[int], tuple[Path, Path]]:
    """A key of so many questions, half of them with two spans, and outputs for nine of ten."""

    def write(count: int) -> tuple[Path, Path]:
        key, outputs = tmp_path / f"key-{count}.jsonl", tmp_path / f"outputs-{count}.jsonl"
        with key.open("w") as answers, outputs.open("w") as said:
            for number in range(count):
                numbers = " ".join(f"{number:013b}")  # few words: spaCy keeps each that it has seen
                spans = [f"word {numbers} of many", f"and {numbers} more of it"][: 1 + number % 2]
                answers.write(json.dumps({"question_id": f"question-{number}", "crossed_text": spans}) + "\n")
                if number % 10:
                    said.write(json.dumps({"question_id": f"question-{number}", "output": "; ".join(spans)}) + "\n")
        return key, outputs

    return write


def peak(work: Callable[[], object]) -> int:
    """The most bytes that Python and NumPy hold while it runs."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.sweep
def test_a_question_takes_a_few_bytes(
    files: Callable[[int], tuple[Path, Path]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It took 2,400: an id, a record of its spans and their tokens, and the matrices of the statistics."""
    for module, name, value in (
        (answer_key, "MAX_MEMORY", 0),
        (scorer, "MAX_PREPARED", 64),
        (bootstrap, "PART", 64),
        (bootstrap, "_BLOCK", 1 << 12),
        (bootstrap, "_MOST_DRAWN", 1 << 12),
        (bootstrap, "RESAMPLES", 20),
    ):
        monkeypatch.setattr(module, name, value)

    def score(count: int) -> Any:
        key, outputs = files(count)
        return lambda: Session(key, ScoreOptions(lang="en")).score(outputs)

    score(FEW)()  # what is loaded once
    few, many = peak(score(FEW)), peak(score(MANY))
    assert (many - few) / (MANY - FEW) < 250


def test_missing_outputs_are_evidence_only_where_somebody_looks(files: Callable[[int], tuple[Path, Path]]) -> None:
    class Rows(EvidenceWriter):
        missing = 0

        def add(
            self, run: Any, model: Any, question_id: Any, variant: Any, view: Any, units: Any, signature: str
        ) -> None:
            row, _ = next(iter(units))
            self.missing += "missing" in row

    key, outputs = files(40)
    session, rows = Session(key, ScoreOptions(lang="en")), Rows(lambda rows: None)
    assert session.score(outputs, rows).cell().counts["missing"] == rows.missing == 4
    rows.wanted, rows.missing = False, 0
    assert session.score(outputs, rows).cell().counts["missing"] == 4 and rows.missing == 0
