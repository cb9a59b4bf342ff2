"""Several processes give the scores and the evidence that one gives."""

import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from vcrgen import reading
from vcrgen.errors import PredictionError
from vcrgen.scorer import Options, Session
from vcrgen.scorer.evidence import write_evidence
from vcrgen.scorer.predictions import receive

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


@pytest.mark.process
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
    _, outputs = files
    expected = list(receive(outputs))
    for size, most in ((1 << 16, COUNT), (60, 2)):
        monkeypatch.setattr(reading, "_BLOCK", size)
        blocks = [list(receive(outputs).read(block)) for block in receive(outputs).blocks()]
        assert [one for block in blocks for one in block] == expected
        assert max(map(len, blocks)) <= most


def test_a_table_is_handed_on_a_few_rows_at_a_time(write_lines: Callable[..., Path], tmp_path: Path) -> None:
    table = tmp_path / "MODEL_VCR_EN_HARD.csv"
    table.write_text("index,prediction,answer\n" + "".join(f"{n},{'a' * 200},[]\n" for n in range(300)), "utf-8")
    file = receive(table)
    blocks = [list(file.read(block)) for block in file.blocks()]
    assert [one for block in blocks for one in block] == list(file)
    assert [*map(len, blocks)] == [128, 128, 44]


@pytest.fixture
def short_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each line is a block of its own."""
    monkeypatch.setattr(reading, "_BLOCK", 1)


@pytest.mark.process
@pytest.mark.usefixtures("short_blocks")
def test_what_depends_on_other_blocks(files: tuple[Path, Path], write_lines: Callable[..., Path]) -> None:
    key, _ = files
    lines: list[dict[str, object]] = [{"question_id": f"q{n % 9}", "output": f"{n}", "model": "a"} for n in range(12)]
    lines[4] |= {"question_id": "nobody's"}
    lines[7] |= {"output": "\ufffd", "view": "tei"}
    outputs = write_lines("some.jsonl", lines)
    one, two = (Session(key, Options(lang="en", workers=workers)).score(outputs) for workers in (1, 2))
    assert one.as_json() == two.as_json()
    assert one.problems["duplicate"] == (3, ("line 10: 'q0'", "line 11: 'q1'", "line 12: 'q2'"))
    assert one.problems["unknown"][0] == one.problems["replaced"][0] == 1


@pytest.mark.process
@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"question_id": "q8", "output": "x", "model": "b"}, "line 6: holds outputs of 'a' and 'b'"),
        ({"question_id": "q8", "output": {}}, "line 6: the output is an object"),
        ({"question_id": "q8"}, "line 6: no `output`"),
    ],
)
@pytest.mark.usefixtures("short_blocks")
def test_the_same_message(
    wrong: dict[str, object], said: str, files: tuple[Path, Path], write_lines: Callable[..., Path]
) -> None:
    right = [{"question_id": f"q{n}", "output": "x", "model": "a"} for n in range(5)]
    outputs = write_lines("mixed.jsonl", [*right, wrong, {"question_id": "q9", "output": "y", "model": "c"}])
    for workers in (1, 2):
        with pytest.raises(PredictionError, match=said):
            Session(files[0], Options(lang="en", workers=workers)).score(outputs)


@pytest.mark.process
def test_a_process_that_is_not_forked_reads_the_answers_for_itself(files: tuple[Path, Path]) -> None:
    key, outputs = files
    session = Session(key, Options(lang="en"))
    other = pickle.loads(pickle.dumps(session))
    assert other.score(outputs).as_json() == session.score(outputs).as_json()
