"""A judge for what the rules do not read: its requests, its replies, ledger, protocol, agreement."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.bloom.conftest import made_set, png, row
from vcrgen.core.errors import ConfigError, ScoreError, VcrgenError
from vcrgen.scorer import score
from vcrgen.scorer.mcq.judge import COMPARED
from vcrgen.scorer.options import ScoreOptions
from vcrgen.scorer.results import require_one_signature
from vcrgen.scorer.run import open_session

ITEMS = 24
MUMBLED = "It is the one with the sail, next to the pier."


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pictures = [{"bytes": png(f"#{20 * number:02x}4080"), "path": None} for number in range(ITEMS // 4)]
    rows = [row(number, image=pictures[number // 4]) for number in range(ITEMS)]
    return made_set(tmp_path_factory.mktemp("judge") / "set", rows)


@pytest.fixture
def outputs(data: Path, tmp_path: Path) -> Path:
    """Every third output is one that the rules do not read; the others are right."""
    file = tmp_path / "preds.jsonl"
    said = [
        f"{MUMBLED} ({number + 100})"
        if number % 3 == 0
        else f"Answer: {'ABCD'[number % 4]}. It fits view {number + 100}."
        for number in range(ITEMS)
    ]
    said[1] = ""
    lines = [{"question_id": row(n)["question_id"], "lang": "en", "output": text} for n, text in enumerate(said)]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def prompt_of(call: Any) -> str:
    content = call.body["messages"][-1]["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def output_in(call: Any) -> str:
    found = re.search(r"-----\n(.*)\n-----", prompt_of(call), re.DOTALL)
    assert found is not None
    return found[1]


def judge(server: Any) -> dict[str, Any]:
    return {"judge": server.url, "judge_model": "J"}


def test_it_reads_what_the_rules_do_not(data: Path, outputs: Path, serve: Any, faults: Any) -> None:
    def reply(call: Any) -> Any:
        said = output_in(call)
        number = re.search(r"\((\d+)\)", said)
        return faults.Answer(text=f"{'ABCD'[int(number[1]) % 4]}." if number else said.removeprefix("Answer: ")[0])

    server = serve(reply)
    alone, judged = score(outputs, data=data), score(outputs, data=data, **judge(server))
    assert alone.cells[0].outcomes["right"] == 15 and judged.cells[0].outcomes["right"] == 23
    assert judged.cells[0].outcomes["empty"] == 1, "nothing is asked of an empty output"
    facts = judged.signature.facts
    assert (facts["protocol"], facts["judge"]) == ("bloom-v5-judge-1", "J")
    assert judged.notes[-1].startswith("Judge J: an option in 8 of 8 different outputs that the rules do not read.")
    assert "it agrees on 15 (100.00 %, 95 % interval 79.61..100.00)" in judged.notes[-1]
    with pytest.raises(ScoreError, match="protocol is bloom-v5 and bloom-v5-judge-1"):
        require_one_signature([alone, judged])
    asked = len(server.calls)
    assert asked == 8 + 15 and asked <= 8 + COMPARED
    again = score(outputs, data=data, **judge(server))
    assert len(server.calls) == asked, "all replies are in the ledger"
    assert again.as_json() == judged.as_json()


def test_the_judge_does_not_see_the_key_and_sees_the_options_as_shown(
    data: Path, tmp_path: Path, serve: Any, faults: Any
) -> None:
    item = row(2)
    file = tmp_path / "preds.jsonl"
    line = {"question_id": item["question_id"], "lang": "en", "output": MUMBLED}
    file.write_text("\n".join(json.dumps(line | {"rotation": rotation}) for rotation in range(4)))
    server = serve(lambda call: faults.Answer(text="B"))
    session = open_session(data, ScoreOptions(lang="en", **judge(server)))
    found = next(iter(session.find_examples(file, {item["question_id"]})))
    assert found.result.choice == 1, "B of the order in which nothing is turned"
    prompts = {prompt_of(call) for call in server.calls}
    options = item["options_en"]
    for rotation in range(4):
        shown = "\n".join(f"{'ABCD'[label]}. {options[(label + rotation) % 4]}" for label in range(4))
        assert sum(shown in prompt for prompt in prompts) == 1
    assert all(item["question_en"] in prompt and MUMBLED in prompt for prompt in prompts)


@pytest.mark.parametrize("reply", ["N", "I think A or B", "", "E", "The answer is A", "<think>A</think>"])
def test_a_reply_of_another_form_names_nothing(data: Path, outputs: Path, serve: Any, faults: Any, reply: str) -> None:
    server = serve(lambda call: faults.Answer(text=reply))
    found = score(outputs, data=data, **judge(server))
    assert found.cells[0].outcomes["right"] == 15
    assert "an option in 0 of 8" in found.notes[-1] and "agrees on 0 (0.00 %" in found.notes[-1]


def test_without_a_reply_there_are_no_scores_and_what_came_is_kept(
    data: Path, outputs: Path, serve: Any, faults: Any
) -> None:
    broken = serve(lambda call: faults.Answer(status=400) if call.number % 5 == 3 else faults.Answer(text="A"))
    with pytest.raises(VcrgenError, match="the judge J"):
        score(outputs, data=data, **judge(broken))
    kept = list(outputs.parent.glob("preds.judge-*.ledger"))
    assert len(kept) == 1 and kept[0].stat().st_size


def test_options_that_do_not_fit(data: Path) -> None:
    for wrong in ({"judge": "http://h/v1"}, {"judge_model": "J"}, {"judge_key_env": "KEY"}):
        with pytest.raises(ConfigError, match="--judge ADDRESS and --judge-model NAME"):
            ScoreOptions(**wrong)
    with pytest.raises(ConfigError, match="where bloom-v5 or bloom-open reads nothing"):
        ScoreOptions(judge="http://h/v1", judge_model="J", protocol="bloom-code")
    with pytest.raises(ConfigError, match="without"):
        ScoreOptions(judge="http://h/v1", judge_model="a|b")
