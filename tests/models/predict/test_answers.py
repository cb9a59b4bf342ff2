"""``vcrgen predict --answer-logprobs``: log-probabilities of the right answers, a list for each covered place."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.servers import with_file
from vcrgen.data.pictures import PictureSelection, open_pictures
from vcrgen.data.reader import open_dataset
from vcrgen.data.tasks.vcr import VCR
from vcrgen.models.base import RequestProblem
from vcrgen.models.predict.prompts import make_prompt

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def predict(run: Run) -> Run:
    """Runs ``vcrgen predict DATASET --answer-logprobs`` on a server."""
    return lambda folder, server, *words: run(
        "predict", folder, "--endpoint", server.url, "--model", "m", "--answer-logprobs", "--out", "p.jsonl", *words
    )


def lines() -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path("p.jsonl").read_text("utf-8").splitlines()]


def test_a_list_for_each_place(predict: Run, run: Run, dataset: Path, serve: Any, faults: Any) -> None:
    code, out, err = predict(dataset, serve(faults.with_likelihoods))
    assert code == 0 and "12 outputs of m" in out, err
    pictures = list(open_pictures(open_dataset(dataset, VCR), PictureSelection(), answers=True).stream())
    assert any(len(picture.answers) > 1 for picture in pictures)
    for line, picture in zip(lines(), pictures, strict=True):
        assert list(line) == ["question_id", "view", "mode", "model", "output", "logprobs"]
        words = ["".join(token for token, _ in place) for place in line["logprobs"]]
        assert words == list(picture.answers)
        for place in line["logprobs"]:
            assert all(value == faults.logprob(token) for token, value in place)
    assert json.loads(Path("p.run.json").read_text("utf-8"))["run"]["answer_logprobs"] is True
    assert run("score", "p.jsonl", "--data", dataset, "--split", "all", "--strict")[0] == 0


def test_they_come_from_the_ledger(predict: Run, dataset: Path, serve: Any, faults: Any) -> None:
    server = serve(faults.with_likelihoods)
    assert predict(dataset, server, "--mode", "hard")[0] == 0
    hard, asked = Path("p.jsonl").read_bytes(), len(server.calls)
    assert predict(dataset, server, "--mode", "hard")[0] == 0
    assert Path("p.jsonl").read_bytes() == hard and len(server.calls) == asked
    assert predict(dataset, server, "--mode", "easy")[0] == 0
    assert [("logprobs" in line) for line in lines()] == [True] * 12 and hard in Path("p.jsonl").read_bytes()


def test_outputs_with_and_without_are_two_runs(predict: Run, run: Run, dataset: Path, serve: Any, faults: Any) -> None:
    server = serve(faults.with_likelihoods)
    assert predict(dataset, server, "--limit", 1)[0] == 0
    words = ["--endpoint", server.url, "--model", "m", "--out", "p.jsonl"]
    code, _, err = run("predict", dataset, *words)
    assert code == 2 and "p.jsonl is of another run (answer_logprobs True there, none here)" in err


def test_a_server_that_ignores_the_request_is_named(predict: Run, dataset: Path, serve: Any) -> None:
    code, out, err = predict(dataset, server := serve())
    assert (code, out, list(Path().iterdir())) == (2, "", [])
    assert err == (
        f"Error: 127.0.0.1:{server.port}: the server ignores the request for log-probabilities of given answers, so "
        "its log-probabilities are not believed; leave out --answer-logprobs, or ask vLLM or a model in this process "
        "(--transformers) for them.\n"
    )


@pytest.mark.parametrize("profile", ["openai", "azure", "openrouter", "sglang", "llamacpp", "ollama", "transformers"])
def test_kinds_of_servers_without_are_refused_by_name(predict: Run, dataset: Path, serve: Any, profile: str) -> None:
    server = serve()
    code, _, err = predict(dataset, server, *with_file([{"profile": profile}]))
    assert code == 2 and not server.calls
    assert err.startswith(
        f"Error: Servers of the kind {profile} give no log-probabilities of given answers; --answer-logprobs "
    )


def test_a_hidden_set_has_no_answers(predict: Run, hidden: Callable[..., Path], serve: Any, faults: Any) -> None:
    code, _, err = predict(hidden(), server := serve(faults.with_likelihoods))
    assert code == 2 and "is the public part of a hidden test set, which has no answers" in err and not server.calls
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize("answers", [[], [""], ["it", " "], ["two\nlines"], ["a\u2028b"], None])
def test_answers_that_are_no_lines(
    predict: Run, tampered: Callable[..., Path], serve: Any, faults: Any, answers: Any
) -> None:
    def change(mode: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{**rows[0], "crossed_text": answers}, *rows[1:]] if mode == "easy" else rows

    folder = tampered(change)
    server = serve(faults.with_likelihoods)
    code, _, err = predict(folder, server)
    assert code == 3, err
    assert "2 of 12 pictures have no reply: no_answer 2; the first: " in err
    assert "its right answers are not texts of one line each" in err
    assert predict(folder, server, "--allow-failed")[0] == 0 and len(lines()) == 10
    assert predict(folder, server, "--allow-failed", "--mode", "hard")[0] == 0 and len(lines()) == 10


def test_the_prompt_says_what_is_wanted(dataset: Path) -> None:
    picture = next(open_pictures(open_dataset(dataset, VCR), PictureSelection(), answers=True).stream())
    asked, plain = make_prompt(None, {}, answer_logprobs=True), make_prompt(None, {})
    assert (
        asked.request(picture).candidates == ("\n".join(picture.answers),) and plain.request(picture).candidates == ()
    )
    assert asked.facts == {**plain.facts, "answer_logprobs": True}
    without = next(open_pictures(open_dataset(dataset, VCR), PictureSelection()).stream())
    assert without.answers == ()
    with pytest.raises(RequestProblem):
        asked.request(without)
