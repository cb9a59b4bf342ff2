"""One line a run, and the same outputs under every protocol: counts against brute force, a reason for each rule."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.bloom.conftest import made_set
from tests.scorer.mcq.test_session import items, key_of, lines
from vcrgen.errors import ScoreError
from vcrgen.scorer import Options, Session, match_span
from vcrgen.scorer.all_protocols import protocol_lines
from vcrgen.scorer.citation import citation

OTHERS = ("paper", "vlmevalkit", "lmms-eval")
LONG = "word " * 60


def differing(line: str) -> int:
    found = re.search(r": (\d+) of \d+ (?:spans|items) differ from", line)
    assert found, line
    return int(found[1])


def all_lines(tmp_path: Path, outputs: list[tuple[str, str | None]], **options: Any) -> list[str]:
    """The lines of outputs to questions of one span each."""
    key, file = tmp_path / "key.jsonl", tmp_path / "run.jsonl"
    rows = [{"question_id": f"q{n}", "crossed_text": [answer]} for n, (answer, _) in enumerate(outputs)]
    key.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    said = [{"question_id": f"q{n}", "output": output} for n, (_, output) in enumerate(outputs)]
    file.write_text("".join(f"{json.dumps(row)}\n" for row in said), "utf-8")
    return list(protocol_lines(key, [file], Options(**options)))


def test_the_line_has_every_figure_of_the_result(key: Path, perfect: Path) -> None:
    result = Session(key, Options()).score(perfect)
    (cell,) = result.cells
    exact = cell.metrics["exact"]
    assert citation(result) == (
        f"perfect: Exact match, % [95 % interval]: - VI+TEI 100.00 [{100 * exact.low:.2f}, 100.00]; "
        f"n = 4 spans in 3 images; {result.signature}"
    )


def test_cells_of_other_sizes_have_their_own_n(tmp_path: Path) -> None:
    """Item 5 lacks a language, so n differs between the two."""
    data = made_set(tmp_path / "set", items())
    file = tmp_path / "run.jsonl"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines(items(), key_of)), "utf-8")
    first, *_ = protocol_lines(data, [file], Options())
    assert "(n = 48 items in 12 pictures), " in first and "(n = 47 items in 12 pictures); " in first


@pytest.mark.parametrize(
    ("answer", "output", "protocol", "reason"),
    [
        ("red dog", LONG + "red dog", "paper", "exact under paper-v2 only (length that is read)"),
        ("red dog", "x <think> red dog </think> y", "vlmevalkit", "exact under vlmevalkit-v2 only (thinking blocks)"),
        (
            "red dog",
            "red dog Assistant: a blue cat",
            "vlmevalkit",
            "exact under vcrgen-v1 only (text up to the last Assistant:)",
        ),
        ("so sorry", "so sorry", "lmms-eval", "exact under vcrgen-v1 only (words of refusal)"),
        ("red dog", "red dog", "vlmevalkit", None),
        ("one two", "one\n\n  two", "vlmevalkit", "exact under vcrgen-v1 only (tokens)"),
        (
            "red dog",
            f"<think> {LONG}red dog </think>",
            "vlmevalkit",
            "exact under vlmevalkit-v2 only (several rules together)",
        ),
    ],
)
def test_each_rule_is_a_reason(tmp_path: Path, answer: str, output: str, protocol: str, reason: str | None) -> None:
    found = all_lines(tmp_path, [(answer, output), ("a cat", "a cat"), ("a cow", "a pig")])
    (line,) = [line for line in found if line.startswith(f"  {protocol}")]
    assert differing(line) == (reason is not None)
    assert line.endswith(f": 1 {reason}." if reason else "from vcrgen-v1.")


def test_the_text_of_a_failed_call_is_a_reason(tmp_path: Path) -> None:
    key, file = tmp_path / "key.jsonl", tmp_path / "MODEL_VCR_EN_EASY_ALL.csv"
    key.write_text(json.dumps({"question_id": "q0", "crossed_text": ["obtain answer"]}), "utf-8")
    file.write_text("index,prediction\nq0,Failed to obtain answer via API.\n", "utf-8")
    found = list(protocol_lines(key, [file], Options()))
    (line,) = [line for line in found if line.startswith("  vlmevalkit")]
    assert line.endswith(": 1 exact under vlmevalkit-v2 only (text of a failed call).")


PIECES = ("red dog", "so sorry", "<think>", "</think>", "Assistant: ", LONG, "\n\n ", "a cat", "red", "dog")


@settings(max_examples=15, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(("red dog", "so sorry", "a cat")),
            st.none() | st.lists(st.sampled_from(PIECES), max_size=4).map(" ".join),
        ),
        min_size=1,
        max_size=12,
    )
)
def test_differences_are_those_of_single_matches(
    tmp_path_factory: pytest.TempPathFactory, outputs: list[tuple[str, str | None]]
) -> None:
    """Every output is matched by itself, under both protocols; reasons add up to the differences."""
    found = all_lines(tmp_path_factory.mktemp("all"), outputs)
    for protocol in OTHERS:
        (line,) = [line for line in found if line.startswith(f"  {protocol}")]
        wanted = sum(
            match_span(answer, output).exact != match_span(answer, output, protocol=protocol).exact
            for answer, output in outputs
        )
        assert differing(line) == wanted
        assert sum(map(int, re.findall(r"[:;] (\d+) exact under", line))) == wanted


def test_of_items_the_outcomes_are_the_reason(tmp_path: Path) -> None:
    data = made_set(tmp_path / "set", items())
    said = {0: "A", 1: "2", 2: "The answer is (C).", 3: "no idea"}
    rows = [row for row in lines(items(), lambda number: said[number % 4]) if row["lang"] == "en"]
    file = tmp_path / "run.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    found = list(protocol_lines(data, [file], Options()))
    assert len(found) == 3 and "protocol:bloom-v4" in found[0] and "protocol:bloom-code" in found[1]
    assert found[2] == (
        "  bloom-code: 24 of 48 items differ from bloom-v4: 24 right under bloom-v4, invalid under bloom-code."
    )


def test_a_protocol_that_cannot_be_used_is_said(tmp_path: Path) -> None:
    pytest.importorskip("jieba")
    found = all_lines(tmp_path, [("位于上海市", "位于上海市")], lang="zh")
    try:
        import zh_core_web_sm  # noqa: F401
    except ImportError:
        assert found[3].startswith("vlmevalkit: not scored. Protocol vlmevalkit-v2 cuts zh with zh_core_web_sm")


def test_options_that_name_a_protocol_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ScoreError, match="leave --protocol and --judge out"):
        all_lines(tmp_path, [("a", "a")], protocol="paper")
