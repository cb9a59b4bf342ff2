"""``vcrgen predict``: what it prints and where it writes, and that every mistake is one sentence and exit code 2."""

import json
import os
import re
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.forked import Python
from tests.servers import with_file
from vcrgen.core.errors import ConfigError
from vcrgen.models.base import Sampling
from vcrgen.models.predict.prompts import make_prompt
from vcrgen.models.presets import preset_names

Run = Callable[..., tuple[int, str, str]]
SECRET = "sk-0123456789"
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def predict(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Runs ``vcrgen predict DATASET`` on a server."""
    beside = tmp_path_factory.mktemp("server")
    return lambda folder, server, *words: run(
        "predict", folder, "--endpoint", server.url, "--model", "qwen", *with_file(words, beside)
    )


def test_what_is_printed(predict: Run, run: Run, dataset: Path, serve: Any) -> None:
    code, out, err = predict(dataset, serve(), "--out", "preds.jsonl", "--limit", 2, {"price": "2.5,10"})
    assert code == 0, err
    assert out == (
        "4 replies: 4 answered; 400 tokens read, 40 written, cost 0.0014.\n"
        f"preds.jsonl: 4 outputs of qwen; next: vcrgen score preds.jsonl --data {dataset} --split all --subset first2\n"
    )
    assert run("score", "preds.jsonl", "--data", dataset, "--split", "all", "--subset", "first2", "--strict")[0] == 0


def test_what_failed(predict: Run, dataset: Path, serve: Any, faults: Any) -> None:
    bad = {2}
    server = serve(
        lambda call: (
            faults.Answer(status=400, body=b'{"error": "\\u001b[2J[red]no\\u0007"}')
            if call.number in bad
            else faults.Answer()
        )
    )
    words = ["--out", "preds.jsonl", "--concurrency", 1]
    code, out, err = predict(dataset, server, *words)
    assert code == 3 and out == "" and not Path("preds.jsonl").exists()
    assert "Going on" not in err
    first, second = err.splitlines()[-2:]
    assert first.startswith("1 of 12 pictures has no reply: http_400 1; the first: ")
    assert first.endswith(", VI+TEI: the server answers 400: [2J[red]no")
    assert second == (
        "What was answered is kept: the same command asks for the rest only but for what the server refuses "
        "(--retry-refused asks for that, too), and with --allow-failed the outputs are written without it."
    )
    code, out, err = predict(dataset, server, *words, "--allow-failed")
    assert code == 0 and "1 of 12 pictures has no reply" in out and "11 outputs of qwen" in out
    code, out, err = predict(dataset, server, *words, "--retry-refused")
    assert code == 0 and out.startswith("12 replies: 12 answered;") and len(server.calls) == 13
    assert err.startswith(
        "Going on with an earlier run: it has 11 replies.\n"
    )  # of pictures before and after the failed one


def test_a_server_that_stays_busy_ends_the_run_with_the_users_patience(
    predict: Run, dataset: Path, serve: Any, faults: Any
) -> None:
    """What it waits for stands on the standard error; the replies are kept, and written where that is allowed."""
    busy = faults.Answer(status=429, body=b'{"error": {"message": "rate limit reached"}}', headers={"Retry-After": "0"})
    server = serve(lambda call: busy if call.number >= 4 else faults.Answer())
    words = ("--out", "p.jsonl", "--concurrency", "1", "--patience", "1s")
    code, out, err = predict(dataset, server, *words)
    said, note, missing, kept = err.splitlines()
    assert (code, out) == (3, "") and not Path("p.jsonl").exists()
    assert said == "the server is busy (429: rate limit reached), 8 of 12 open, next try in 1 s, 1 of 40 tries"
    assert "gave no reply for 1 s, as long as --patience allows; the last time: the server answers 429" in note
    assert missing.startswith("8 of 12 pictures have no reply: not_sent 8;") and kept.startswith("What was answered is")
    code, out, err = predict(dataset, server, *words, "--allow-failed")
    assert code == 0 and "4 outputs of qwen" in out and len(Path("p.jsonl").read_text("utf-8").splitlines()) == 4
    server.plan = lambda call: faults.Answer()
    assert predict(dataset, server, *words)[0] == 0 and len(Path("p.jsonl").read_text("utf-8").splitlines()) == 12


def test_where_outputs_go_if_nobody_says(predict: Run, run: Run, hidden: Callable[..., Path], serve: Any) -> None:
    public = hidden()
    server = serve()
    code, out, err = run("predict", public, "--endpoint", server.url, "--model", "org/Model:7b")
    target = public.with_name("public-org-Model-7b.jsonl")
    assert code == 0 and target.is_file(), err
    assert out.splitlines()[-1].endswith(f"next: vcrgen leaderboard submit BOARD {target} --set SET --model MODEL")


def test_the_key_is_sent_and_never_shown(
    predict: Run, dataset: Path, serve: Any, faults: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", SECRET)
    server = serve(lambda call: faults.Answer(status=401, body=f"no {SECRET}".encode()))
    code, out, err = predict(dataset, server, "--key-env", "MY_KEY", "--out", "p.jsonl")
    said = "gave no reply to 10 requests in a row; the last time: the server answers 401: no [key] (the server takes"
    assert code == 2 and said in err and "check --key-env). Mend that first; then run the same command" in err
    assert SECRET not in out + err and [path.name for path in Path().iterdir()] == []
    assert {call.headers["authorization"] for call in server.calls} == {f"Bearer {SECRET}"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--view", "strip"], "view: Input should be 'stacked', 'tei', 'both', 'image' or 'text-only'"),
        (["--mode", "medium"], "nothing of mode 'medium'"),
        (["--split", "dev"], "nothing of split 'dev'"),
        (
            ["--preset", "mine"],
            "preset: unknown preset 'mine'; known: vcr-repo-gpt, vcr-repo-claude, vlmevalkit-gpt-high",
        ),
        ([{"profile": "mine"}], "Unknown profile 'mine'; known: openai, azure"),
        (["--param", "temperature"], "--param 'temperature' is not of the form KEY=JSON"),
        (["--param", "effort=low"], "the value of --param effort is not JSON; a text needs quotes: 'effort=\"x\"'"),
        (["--param", "a=" + "[" * 100_000], "the value of --param a is not JSON"),
        (["--param", "stream=true"], "--param cannot set 'stream', which vcrgen sets"),
        (["--param", 'max_tokens="many"'], "--param max_tokens has to be a whole number or null"),
        (["--param", "temperature=true"], "--param temperature has to be a number or null"),
        ([{"price": "cheap"}], "price 'cheap' is not of the form IN,OUT"),
        ([{"patience": "long"}], "patience 'long' is no time; give one such as 90s, 30m or 2h"),
        (["--max-cost", "1"], "--max-cost needs a price in --server, as price: 2.5,10"),
        (["--concurrency", "0"], "concurrency: Input should be greater than or equal to 1"),
        (["--key-env", SECRET], "--key-env takes the name of an environment variable"),
        (["--out", "full"], "full is there already"),
        (["--out", "/proc/p.jsonl"], "cannot be written"),
        (["--endpoint", "localhost:8000"], "--endpoint has to be an address as http://127.0.0.1:8000/v1"),
        ([{"profile": "anthropic"}, "--param", "seed=1"], "Servers of the kind anthropic take seed and ignore it"),
        (["--model", ""], "give --endpoint and --model"),
    ],
)
def test_mistakes(predict: Run, dataset: Path, serve: Any, words: list[str], message: str) -> None:
    Path("full").write_text("mine")
    code, out, err = predict(dataset, server := serve(), "--out", "p.jsonl", *words)
    assert code == 2, out + err
    assert message in err and err.startswith("Error: ") and err.count("\n") == 1 and SECRET not in err
    assert [path.name for path in Path().iterdir()] == ["full"] and server.calls == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rmp: 500", "Unknown key 'rmp'; the nearest known key is 'rpm'."),
        ("limit: 5", "Unknown key 'limit'"),
        ("rpm: many", "rpm: Input should be a valid number"),
        ("timeout: 0", "timeout: Input should be greater than 0"),
        (f"key_env: {SECRET}", "key_env looks like a key to a server, which stands in no file"),
        (f"price: {SECRET}", "price looks like a key to a server"),
        (f"key: {SECRET}", "key looks like a key to a server"),
        ("key_env: a-b", "key_env looks like a key to a server"),
        ("rpm: [", "is not valid YAML at line 1"),
        ("- rpm", "must hold `key: value` lines"),
    ],
)
def test_a_file_of_a_server_that_is_wrong(
    predict: Run, dataset: Path, serve: Any, text: str, message: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.mktemp("file") / "server.yaml"
    file.write_text(text, "utf-8")
    code, _, err = predict(dataset, server := serve(), "--out", "p.jsonl", "--server", file)
    assert code == 2 and str(file) in err and message in err and err.count("\n") == 1, err
    assert SECRET not in err and not server.calls and list(Path().iterdir()) == []


def test_what_is_typed_counts_in_place_of_the_files(run: Run, dataset: Path, serve: Any) -> None:
    """And a run is the same whichever way its options come."""
    server, words = serve(), ["predict", dataset, "--out", "p.jsonl", "--limit", 2]
    values = {"endpoint": server.url, "model": "other", "concurrency": 1000, "profile": "openai"}
    assert run(*words, *with_file([values]), "--model", "qwen", "--concurrency", 1)[0] == 0
    assert {call.body["model"] for call in server.calls} == {"qwen"} and server.most == 1
    assert all("max_completion_tokens" in call.body for call in server.calls)
    ran = json.loads(Path("p.run.json").read_text("utf-8"))["run"]
    assert (ran["model"], ran["profile"]) == ("qwen", "openai") and "concurrency" not in ran
    Path("all.yaml").write_text(f"endpoint: {server.url}\nmodel: qwen\nprofile: openai\nprice: 1,1\n", "utf-8")
    code, out, err = run(*words, "--server", "all.yaml")
    assert code == 0 and "cost 0.00044" in out and len(server.calls) == 4, err


def test_what_has_to_be_given(run: Run, dataset: Path) -> None:
    code, _, err = run("predict", dataset)
    assert code == 2 and "give --endpoint and --model" in err
    assert (
        run("predict", "nowhere", "--endpoint", "http://127.0.0.1:1/v1", "--model", "m")[2].count("does not exist") == 1
    )


def test_the_extra_is_not_installed(predict: Run, dataset: Path, serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx2", None)
    code, _, err = predict(dataset, serve())
    assert code == 2 and 'pip install "httpx2>=' in err and err.count("\n") == 1


@pytest.mark.process
@pytest.mark.skipif(os.name == "nt", reason="sends a signal")
def test_interrupted(dataset: Path, serve: Any, faults: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends at once, with a sentence, and the same command asks for the rest."""
    server = serve(lambda call: faults.Answer(fault="hang") if 4 <= call.number < 12 else faults.Answer())
    monkeypatch.chdir(tmp_path)
    words = ["vcrgen", "predict", dataset, "--endpoint", server.url, "--model", "qwen"]
    words += ["--out", "p.jsonl", "--concurrency", "4", *map(str, with_file([{"timeout": 600}], tmp_path))]
    process = Python(*words)
    deadline = time.monotonic() + 180
    while len(server.calls) < 8 and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    stopped = process.result()  # what hangs has ten minutes
    assert stopped.returncode == 130
    *progress, last = stopped.stderr.splitlines()  # a machine that is slow has time to tell of the progress
    assert last == "Interrupted. What was finished is kept; run the same command again to go on."
    assert all(re.match(r"\d/12 pictures, ", line) for line in progress), stopped
    server.plan = lambda call: faults.Answer()
    done = Python(*words).result()
    assert done.returncode == 0 and "12 replies: 12 answered" in done.stdout
    assert len(server.calls) == 8 + 8


def test_presets_are_the_published_ones() -> None:
    facts = {name: make_prompt(name, {}).facts for name in (None, *preset_names(mcq=False))}
    assert facts == {
        None: {"temperature": 0.0, "max_tokens": 256, "text_first": False, "detail": "high"},
        "vcr-repo-gpt": {"max_tokens": 256, "text_first": True, "detail": ""},
        "vcr-repo-claude": {"max_tokens": 256, "text_first": False, "detail": ""},
        "vlmevalkit-gpt-high": {
            "temperature": 0.0,
            "max_tokens": 2048,
            "text_first": False,
            "detail": "high",
            "image_form": "vlmevalkit",
        },
        "vlmevalkit-gpt-low": {
            "temperature": 0.0,
            "max_tokens": 2048,
            "text_first": False,
            "detail": "low",
            "image_form": "vlmevalkit-512",
        },
        "lmms-eval-chat": {
            "temperature": 0.0,
            "top_p": 0.0,
            "max_tokens": 120,
            "text_first": False,
            "detail": "",
            "image_form": "png",
        },
    }


def test_parameters_take_the_place_of_a_presets() -> None:
    prompt = make_prompt(
        "vlmevalkit-gpt-high", {"temperature": None, "top_p": 1, "seed": 3, "stop": ["\n"], "top_k": None}
    )
    assert prompt.sampling == Sampling(max_tokens=2048, top_p=1, seed=3) and prompt.parameters == {"stop": ["\n"]}
    with pytest.raises(ConfigError, match="--param top_p"):
        make_prompt(None, json.loads('{"top_p": 1e999}'))


def test_a_system_prompt(predict: Run, dataset: Path, serve: Any) -> None:
    """It is sent, stands in the run's record with the prompt, and another one is another run."""
    server = serve()
    words = ["--out", "p.jsonl", "--limit", 1]
    assert predict(dataset, server, *words, "--system", "Be brief.")[0] == 0
    system, asked = server.calls[0].body["messages"]
    assert system == {"role": "system", "content": "Be brief."}
    report = json.loads(Path("p.run.json").read_text("utf-8"))
    assert report["prompt"] == {"system": "Be brief.", "text": asked["content"][1]["text"], "images": 1}
    code, _, err = predict(dataset, server, *words)
    assert code == 2 and "system Be brief. there, none here" in err


def test_only_what_is_set_is_sent(predict: Run, dataset: Path, serve: Any) -> None:
    server = serve()
    words = ["--preset", "vcr-repo-gpt", "--param", "top_k=1", "--param", "max_tokens=null", "--limit", 1]
    assert predict(dataset, server, "--out", "p.jsonl", *words)[0] == 0
    body = server.calls[0].body
    assert {name: value for name, value in body.items() if name != "messages"} == {"model": "qwen", "top_k": 1}
    first, second = body["messages"][0]["content"]
    assert first["type"] == "text" and list(second["image_url"]) == ["url"]
