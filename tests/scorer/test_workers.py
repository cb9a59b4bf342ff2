"""Several processes give the scores and the evidence that one gives."""

from collections.abc import Callable
from pathlib import Path

import pytest

from vcrgen.scorer import Options, Session, run
from vcrgen.scorer.evidence import write_evidence

COUNT = 700


@pytest.fixture
def files(write_lines: Callable[..., Path]) -> tuple[Path, Path]:
    """A key, and outputs of all kinds: right, wrong, empty, null, refused, failed, and some missing."""
    said = ("the quick brown fox jumps", "no idea", "", None, "I cannot read that", "Failed to obtain answer via API.")
    key = (
        {"question_id": f"q{n}", "crossed_text": [f"the quick {['brown', 'red'][n % 2]} fox jumps"]}
        for n in range(COUNT)
    )
    outputs = ({"question_id": f"q{n}", "output": said[n % len(said)]} for n in range(COUNT) if n % 10)
    return write_lines("key.jsonl", key), write_lines("outputs.jsonl", outputs)


def test_the_same_scores_and_evidence(files: tuple[Path, Path], tmp_path: Path) -> None:
    key, outputs = files
    found = []
    for workers in (1, 2):
        with write_evidence(tmp_path / f"{workers}.jsonl") as evidence:
            result = Session(key, Options(lang="en", workers=workers)).score(outputs, evidence)
        found.append((result.as_json(), (tmp_path / f"{workers}.jsonl").read_bytes()))
    assert found[0] == found[1]
    assert found[0][1].count(b"\n") == COUNT


def test_long_outputs_are_scored_a_few_at_a_time(files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    key, outputs = files
    expected = Session(key, Options(lang="en")).score(outputs).as_json()
    monkeypatch.setattr(run, "CHUNK_CHARACTERS", 60)
    sizes = []
    together = run._together
    monkeypatch.setattr(run, "_together", lambda rest: sizes.append(chunk := list(together(rest))) or chunk)
    assert Session(key, Options(lang="en")).score(outputs).as_json() == expected
    assert max(map(len, sizes)) <= 15 < len(sizes)
