"""Batches at servers that follow the documentation of OpenAI and Anthropic, and live runs by the same ledger."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.models import native_servers
from tests.models.batch_servers import AnthropicBatches, OpenAIBatches
from vcrgen.models import batch as batches

Run = Callable[..., tuple[int, str, str]]
SECRET = "sk-0123456789"
KINDS = {"openai": OpenAIBatches, "anthropic": AnthropicBatches}


@pytest.fixture(params=list(KINDS))
def kind(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def ask(run: Run, dataset: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs ``vcrgen predict DATASET`` on a server of a kind."""
    monkeypatch.setenv("MY_KEY", SECRET)
    monkeypatch.setattr(batches, "_PAUSE", 0.01)

    def predict(server: Any, *words: object) -> tuple[int, str, str]:
        common = ["--model", "m", "--profile", kind, "--key-env", "MY_KEY", "--out", "p.jsonl"]
        return run("predict", dataset, "--endpoint", server.url, *common, *words)

    return predict


def live(kind: str, faults: Any) -> Callable[[Any], Any]:
    """The plan of a server that answers at once."""
    if kind == "anthropic":
        return lambda call: native_servers.messages(call, faults.Answer)
    return lambda call: faults.Answer()


def test_a_batch(ask: Run, serve: Any, faults: Any, kind: str) -> None:
    server = serve(state := KINDS[kind](faults.Answer))
    code, out, err = ask(server, "--batch", "submit")
    assert code == 0 and out.endswith(": 12 requests submitted.\n"), out + err
    assert "Nothing is left to submit" in ask(server, "--batch", "submit")[1] and len(state.batches) == 1
    assert "in_progress" in ask(server, "--batch", "status")[1]
    code, _, err = ask(server, "--batch", "fetch")
    assert code == 3 and "has not ended" in err and not Path("p.jsonl").exists()
    state.ended = True
    code, out, err = ask(server, "--batch", "fetch", "--price", "10,100")
    assert code == 0 and "Fetched 12 replies; 0 refused." in out and "12 outputs of m" in out, out + err
    assert "cost 0.012." in out  # half of 12 * (100 * 10 + 10 * 100) / 1e6
    assert "No batch is open" in ask(server, "--batch", "status")[1]
    (name,) = state.batches
    lines = [json.loads(line) for line in Path("p.jsonl").read_text("utf-8").splitlines()]
    assert len(lines) == 12 and all(line["output"].startswith("reply ") for line in lines)
    assert json.loads(Path("p.run.json").read_text("utf-8"))["served"]["batch"] == {name: 12}
    assert SECRET not in "".join(path.read_text("utf-8") for path in Path().glob("p.*"))


def test_expiry_and_refusals(ask: Run, serve: Any, faults: Any, kind: str) -> None:
    """A batch that expires in part: what is left goes into the next one, and a refused request does not."""
    server = serve(state := KINDS[kind](faults.Answer, expired=5))
    ask(server, "--batch", "submit")
    (lines,) = state.batches.values()
    state._refused = lines[7]["custom_id"]
    state.ended = True
    code, out, err = ask(server, "--batch", "fetch")
    assert (
        code == 3
        and "Fetched 6 replies; 1 refused." in out
        and "5 requests have no reply and are in no open batch" in out
    ), out + err
    calls = len(server.calls)
    code, out, err = ask(server, "--batch", "fetch")
    assert code == 3 and "5 requests have no reply" in out and len(server.calls) == calls, "fetching sent a request"
    state._expired = 0
    code, out, _ = ask(server, "--batch", "submit")
    assert code == 0 and "5 requests submitted." in out
    code, out, err = ask(server, "--batch", "fetch")
    assert code == 3 and "Fetched 5 replies" in out and "1 of 12 pictures has no reply: http_400 1" in err
    assert "not this one" in err
    code, out, _ = ask(server, "--batch", "fetch", "--allow-failed")
    assert code == 0 and "11 outputs of m" in out


def test_fetching_sends_nothing(ask: Run, serve: Any, faults: Any, kind: str) -> None:
    """Neither before a batch is submitted, nor what a later selection adds."""
    server = serve(live(kind, faults))
    code, out, _ = ask(server, "--batch", "fetch")
    assert code == 3 and "12 requests have no reply" in out and not server.calls
    ask(server, "--limit", 2)
    code, out, _ = ask(server, "--batch", "fetch")
    assert code == 3 and "8 requests have no reply" in out and len(server.calls) == 4
    assert ask(server, "--limit", 2, "--batch", "fetch")[0] == 0 and len(server.calls) == 4


def test_a_batch_and_a_live_run_complete_each_other(ask: Run, serve: Any, faults: Any, kind: str) -> None:
    server = serve(live(kind, faults))
    assert ask(server, "--limit", 2)[0] == 0 and len(server.calls) == 4
    at_batches = serve(state := KINDS[kind](faults.Answer, expired=3))
    code, out, _ = ask(at_batches, "--batch", "submit")
    assert code == 0 and "8 requests submitted." in out
    state.ended = True
    assert "Fetched 5 replies" in ask(at_batches, "--batch", "fetch")[1]
    code, out, err = ask(server)
    assert code == 0 and "12 outputs of m" in out and len(server.calls) == 4 + 3, out + err


def test_a_live_run_may_be_first(ask: Run, serve: Any, faults: Any, kind: str) -> None:
    """Its replies count; those of the batch that come later change nothing."""
    at_batches = serve(state := KINDS[kind](faults.Answer))
    ask(at_batches, "--batch", "submit")
    server = serve(live(kind, faults))
    code, _, err = ask(server)
    (name,) = state.batches
    assert code == 0 and len(server.calls) == 12 and f"Batches are not fetched: {name}; what they hold is sent" in err
    before = Path("p.jsonl").read_bytes()
    state.ended = True
    assert ask(at_batches, "--batch", "fetch")[0] == 0 and Path("p.jsonl").read_bytes() == before


def test_several_batches(ask: Run, serve: Any, faults: Any, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as the server's limits ask for."""
    form = batches._FORMS[kind]
    monkeypatch.setitem(batches._FORMS, kind, type(form)(form.opening, form.between, form.closing, 5, form.max_bytes))
    server = serve(state := KINDS[kind](faults.Answer))
    assert ask(server, "--batch", "submit")[0] == 0
    assert [len(lines) for lines in state.batches.values()] == [5, 5, 2]
    state.ended = True
    code, out, err = ask(server, "--batch", "fetch")
    assert code == 0 and "Fetched 12 replies" in out, err


def test_rubbish_among_results(ask: Run, serve: Any, faults: Any, kind: str) -> None:
    """Lines that are none, requests of others and second lines of one are left out."""
    state = KINDS[kind](faults.Answer)

    def plan(call: Any) -> Any:
        answer = state(call)
        if answer.body and answer.body.count(b"custom_id") > 1 and b"custom_id" in answer.body[:60]:
            lines = answer.body.splitlines(keepends=True)
            other = lines[0].replace(json.loads(lines[0])["custom_id"].encode(), b"x" * 64)
            rubbish = [b"\n", b"[1]\n", b"{\n", b'{"custom_id": 3}\n', other, lines[1], b"\xff\n"]
            return faults.Answer(body=b"".join([*rubbish, *lines[1:]]))
        return answer

    server = serve(plan)
    ask(server, "--batch", "submit")
    state.ended = True
    code, out, _ = ask(server, "--batch", "fetch")
    assert code == 3 and "Fetched 11 replies; 0 refused." in out and "1 request has no reply" in out


def test_what_goes_wrong(ask: Run, serve: Any, faults: Any, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refused key is a sentence; reading is tried again, and sending is not, as it might be paid twice."""
    refusing = serve(lambda call: faults.Answer(status=401, body=f'{{"error": {{"message": "no {SECRET}"}}}}'.encode()))
    code, out, err = ask(refusing, "--batch", "submit")
    assert code == 2 and "the server answers 401: no [key]" in err and len(refusing.calls) == 1
    broken = serve(lambda call: faults.Answer(status=503, body=b"{}"))
    assert ask(broken, "--batch", "submit")[0] == 2 and len(broken.calls) == 1
    server = serve(state := KINDS[kind](faults.Answer))
    ask(server, "--batch", "submit")
    state.ended = True
    flaky = {0, 2}
    server.plan = lambda call: faults.Answer(status=503) if len(server.calls) - start in flaky else state(call)
    start = len(server.calls) + 1
    code, out, err = ask(server, "--batch", "fetch")
    assert code == 0 and "Fetched 12 replies" in out, err
    evil = serve(lambda call: faults.Answer(body=b'{"id": "../../etc"}'))
    assert "gives no id" in ask(evil, "--batch", "submit", "--out", "q.jsonl")[2]


def test_kinds_without_batches(run: Run, dataset: Path, serve: Any) -> None:
    for words in (["--profile", "gemini"], ["--profile", "azure"]):
        code, _, err = run(
            "predict", dataset, "--endpoint", "https://host/v1", "--model", "m", "--batch", "submit", *words
        )
        assert code == 2 and "take no batches" in err
