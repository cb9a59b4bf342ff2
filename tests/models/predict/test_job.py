"""Runs of a model behind an address: what is asked, what is kept, and what another run adds."""

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from tests.forked import Python
from vcrgen.core.errors import EndpointError, OutputError
from vcrgen.core.ledger import ledger_line
from vcrgen.core.progress import ProgressListener
from vcrgen.data.pictures import PictureSelection, open_pictures
from vcrgen.data.reader import open_dataset
from vcrgen.data.tasks.vcr import VCR
from vcrgen.data.views import VIEWS
from vcrgen.models import endpoint
from vcrgen.models.address import Key, parse_address
from vcrgen.models.connection import Limits
from vcrgen.models.endpoint import EndpointModel
from vcrgen.models.predict.job import JobResult, predict
from vcrgen.models.predict.prompts import make_prompt
from vcrgen.scorer import ScoreOptions, Session

SECRET = "sk-0123456789"
TEI = VIEWS["tei"]
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def _no_long_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "_FIRST_PAUSE", 0.01)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    (tmp_path / "outputs").mkdir()
    return tmp_path / "outputs" / "preds.jsonl"


def run(
    folder: Path,
    out: Path,
    server: Any,
    *,
    choice: PictureSelection | None = None,
    preset: str | None = None,
    parameters: dict[str, Any] | None = None,
    key: str | None = None,
    name: str = "m",
    concurrency: int = 4,
    **options: Any,
) -> JobResult:
    limits = Limits(concurrency=concurrency, timeout=20)
    model = EndpointModel(parse_address(server.url, name), name, key=Key(key) if key else None, limits=limits)
    prompt = make_prompt(preset, parameters or {})
    return predict(
        open_dataset(folder, VCR), choice or PictureSelection(), out=out, model=model, prompt=prompt, **options
    )


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def places(file: Path) -> list[tuple[str, str, str]]:
    return [(line["question_id"], line["view"], line["mode"]) for line in lines(file)]


def report_of(out: Path) -> Any:
    return json.loads(out.with_name("preds.run.json").read_text("utf-8"))


def test_outputs_fit_the_scorer_and_are_in_the_datasets_order(dataset: Path, out: Path, serve: Any) -> None:
    choice = PictureSelection(views=VIEWS["both"])
    result = run(dataset, out, server := serve(), choice=choice)
    assert result.finished and not result.missing and len(server.calls) == 24
    pictures = list(open_pictures(open_dataset(dataset, VCR), choice).stream())
    assert places(out) == [(picture.question_id, picture.view.value, picture.mode) for picture in pictures]
    assert list(lines(out)[0]) == ["question_id", "view", "mode", "model", "output"]
    validation = Session(dataset, ScoreOptions(split="all")).validate(out)
    assert validation.fit and validation.models == ("m",)
    assert sorted(path.name for path in out.parent.iterdir()) == ["preds.jsonl", "preds.ledger", "preds.run.json"]
    sent = server.calls[0].body
    assert [part["type"] for part in sent["messages"][0]["content"]] == ["image_url", "text"]
    assert (sent["temperature"], sent["max_tokens"]) == (0.0, 256)
    assert sent["messages"][0]["content"][0]["image_url"]["detail"] == "high"
    assert sent["messages"][0]["content"][1]["text"] == pictures[0].question


def test_the_same_bytes_whatever_order_replies_come_in(dataset: Path, out: Path, serve: Any, faults: Any) -> None:
    files = []
    for concurrency in (1, 3, 16):
        server = serve(lambda call: faults.Answer(delay=int(call.digest[:2], 16) / 4000))
        files.append(out.with_name(f"{concurrency}.jsonl"))
        run(dataset, files[-1], server, choice=PictureSelection(views=VIEWS["both"]), concurrency=concurrency)
    assert len({file.read_bytes() for file in files}) == 1


def test_the_rest_costs_the_rest(dataset: Path, out: Path, serve: Any) -> None:
    server = serve()
    run(dataset, out, server, choice=PictureSelection(limit=2))
    assert (len(server.calls), len(lines(out))) == (4, 4)
    run(dataset, out, server)
    assert (len(server.calls), len(lines(out))) == (12, 12)
    run(dataset, out, server, choice=PictureSelection(limit=1))  # nothing is asked, and nothing is lost
    assert (len(server.calls), len(lines(out))) == (12, 12)
    whole = out.with_name("whole.jsonl")
    run(dataset, whole, server)
    assert whole.read_bytes() == out.read_bytes() and len(server.calls) == 24


def test_another_view_or_mode_adds(dataset: Path, out: Path, serve: Any) -> None:
    server = serve()
    run(dataset, out, server, choice=PictureSelection(mode="hard"))
    run(dataset, out, server, choice=PictureSelection(mode="hard", views=TEI, limit=3))
    assert len(server.calls) == len(lines(out)) == 6 + 3
    run(dataset, out, server, choice=PictureSelection(mode="easy", split="test"))
    assert len(server.calls) == len(lines(out)) == 6 + 3 + 2
    wanted = [
        (picture.question_id, picture.view.value, picture.mode)
        for picture in open_pictures(open_dataset(dataset, VCR), PictureSelection(views=VIEWS["both"])).stream()
    ]
    assert places(out) == [place for place in wanted if place in places(out)]  # the dataset's order
    run(dataset, out, server, choice=PictureSelection(views=VIEWS["both"]))
    assert len(server.calls) == len(lines(out)) == 24 and places(out) == wanted
    assert len(report_of(out)["choices"]) == 4 and report_of(out)["outcomes"]["answered"] == 24


def test_how_much_there_is_to_do_is_told_before_the_first_reply(dataset: Path, out: Path, serve: Any) -> None:
    class Told(ProgressListener):
        def __init__(self) -> None:
            self.seen: list[Any] = []

        def begin(self, total: int, done: int) -> None:
            self.seen.append((total, done, len(server.calls)))

        def advance(self, done: int, kept: int, drops: Any, /) -> None:
            self.seen.append((done, kept))

    server, told = serve(), Told()
    run(dataset, out, server, choice=PictureSelection(limit=2))
    run(dataset, out, server, listener=told)
    assert told.seen == [(12, 2, 4), *[(1, 1)] * 10]  # two of the first mode; the others come later
    again = Told()
    run(dataset, out, server, listener=again)
    assert again.seen == [(12, 12, 12)]


def test_a_run_that_was_interrupted_is_no_choice(dataset: Path, out: Path, serve: Any, faults: Any) -> None:
    server = serve(lambda call: faults.Answer(status=403) if call.number >= 3 else faults.Answer())
    assert not run(dataset, out, server, choice=PictureSelection(views=TEI), concurrency=1).finished
    result = run(dataset, out, serve(), choice=PictureSelection(limit=1))
    assert result.finished and len(lines(out)) == 2 and {line["view"] for line in lines(out)} == {"stacked"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"parameters": {"temperature": 1}},
            r"is of another run \(temperature 0.0 there, 1 here\); choose another --out",
        ),
        ({"parameters": {"temperature": None}}, r"\(temperature 0.0 there, none here\)"),
        ({"parameters": {"top_k": 1}}, r"\(--param top_k none there, 1 here\)"),
        (
            {"preset": "vlmevalkit-gpt-low"},
            r"\(max_tokens 256 there, 2048 here; detail high there, low here; image_form none there, vlmevalkit-512",
        ),
        ({"name": "other"}, r"\(model m there, other here\)"),
    ],
)
def test_another_parameter_is_another_run(
    dataset: Path, out: Path, serve: Any, change: dict[str, Any], message: str
) -> None:
    server = serve()
    run(dataset, out, server, choice=PictureSelection(limit=1))
    before = {path: path.read_bytes() for path in out.parent.iterdir()}
    with pytest.raises(OutputError, match=message):
        run(dataset, out, server, **change)
    assert {path: path.read_bytes() for path in out.parent.iterdir()} == before and len(server.calls) == 2


def test_another_dataset_is_another_run(dataset: Path, hidden: Callable[..., Path], out: Path, serve: Any) -> None:
    run(dataset, out, server := serve(), choice=PictureSelection(limit=1))
    with pytest.raises(OutputError, match=r"is of another run \(dataset"):
        run(hidden(), out, server)


def test_what_failed_is_asked_again_and_nothing_else(dataset: Path, out: Path, serve: Any, faults: Any) -> None:
    bad = {1, 4}
    server = serve(lambda call: faults.Answer(status=403, body=b"no") if call.number in bad else faults.Answer())
    result = run(dataset, out, server, concurrency=1)
    assert not result.finished and result.missing == {"http_403": 2} and not out.exists() and not result.refused
    assert "VI+TEI: the server answers 403: no (the key may not use this model" in result.example
    assert report_of(out)["finished"] is False and report_of(out)["outcomes"] == {
        "answered": 10,
        "empty": 0,
        "truncated": 0,
        "filtered": 0,
        "failed": 2,
    }
    failed = {server.calls[number].digest for number in bad}
    bad.clear()
    assert run(dataset, out, server).finished and len(lines(out)) == 12
    assert {call.digest for call in server.calls[12:]} == failed and len(server.calls) == 14


def test_what_failed_may_be_left_out(dataset: Path, out: Path, serve: Any, faults: Any) -> None:
    server = serve(lambda call: faults.Answer(status=403) if call.number == 2 else faults.Answer())
    result = run(dataset, out, server, concurrency=1, allow_failed=True)
    assert result.finished and result.missing == {"http_403": 1} and len(lines(out)) == 11
    assert run(dataset, out, server).finished and len(lines(out)) == 12 and len(server.calls) == 13


@pytest.mark.parametrize("status", [400, 413, 422])
def test_refusals_are_remembered(tmp_path: Path, out: Path, serve: Any, faults: Any, status: int) -> None:
    """More of them in a row than end a run, and the very first ones: they are of pictures, as others got replies."""
    public, refused = write_many(tmp_path / "public", 24), set[str]()

    def plan(call: Any) -> Any:
        if len(refused) < 12 and call.number not in (1, 2):
            refused.add(call.digest)
        return faults.Answer(status=status, body=b"too wild") if call.digest in refused else faults.Answer()

    server = serve(plan)
    result = run(public, out, server, concurrency=1)
    assert result.missing == {f"http_{status}": 12} and result.refused == 12 and len(server.calls) == 24
    for _ in range(2):
        result = run(public, out, server, allow_failed=True)
        assert result.finished and len(lines(out)) == 12 and len(server.calls) == 24
        assert result.missing == {f"http_{status}": 12} and result.example.endswith(f"answers {status}: too wild")
    assert run(public, out, server, allow_failed=True, retry_refused=True).finished
    assert {call.digest for call in server.calls[24:]} == refused and len(server.calls) == 36
    server.plan = lambda call: faults.Answer()
    assert run(public, out, server, retry_refused=True).finished and len(lines(out)) == 24
    assert run(public, out, server).finished and len(server.calls) == 48


def test_a_server_that_refuses_everything_ends_the_run(dataset: Path, out: Path, serve: Any, faults: Any) -> None:
    """It may be for what all requests share, which can be mended at the server: nothing is remembered."""
    server = serve(lambda call: faults.Answer(status=400, body=b"no vision"))
    with pytest.raises(EndpointError, match=r"no reply to 10 requests in a row; the last time: .*no vision"):
        run(dataset, out, server, allow_failed=True)
    assert list(out.parent.iterdir()) == []
    assert not run(dataset, out, server, choice=PictureSelection(limit=1)).finished
    server.plan = lambda call: faults.Answer()
    assert run(dataset, out, server, choice=PictureSelection(limit=1)).finished


def test_outputs_are_written_whatever_ends_the_run(tmp_path: Path, out: Path, serve: Any, faults: Any) -> None:
    public = write_many(tmp_path / "public", 30)
    server = serve(lambda call: faults.Answer(status=401) if call.number > 3 else faults.Answer())
    told: list[str] = []
    listener = ProgressListener()
    listener.warn = told.append  # type: ignore[method-assign, assignment]
    result = run(public, out, server, concurrency=1, allow_failed=True, listener=listener)
    assert result.finished and len(lines(out)) == 4 and result.missing == {"not_sent": 26}
    assert len(told) == 1 and "no reply to 10 requests in a row" in told[0]


def test_outcomes_and_thinking(tmp_path: Path, out: Path, serve: Any, faults: Any) -> None:
    answers = [
        faults.Answer(text="<think>hm</think>yes"),
        faults.Answer(text=""),
        faults.Answer(text="ye", finish_reason="length"),
        faults.Answer(text="", message={"content": None, "reasoning_content": "hm"}, finish_reason="length"),
        faults.Answer(status=400, body=b'{"error": {"code": "content_filter"}}'),
        faults.Answer(text="\ud83d", message={"reasoning": None}),
    ]
    public, server = write_many(tmp_path / "public", 3), serve(lambda call: answers[call.number])
    result = run(public, out, server, choice=PictureSelection(views=VIEWS["both"]), concurrency=1)
    assert result.tally.outcomes == {"answered": 2, "empty": 1, "truncated": 2, "filtered": 1}
    shown = [{name: line[name] for name in ("output", "outcome", "thinking") if name in line} for line in lines(out)]
    assert shown == [
        {"output": "yes", "thinking": "hm"},
        {"output": ""},
        {"output": "ye", "outcome": "truncated"},
        {"output": "", "outcome": "truncated", "thinking": "hm"},
        {"output": "", "outcome": "filtered"},
        {"output": "\ufffd"},
    ]
    assert report_of(out)["with_thinking"] == 2 and not any("mode" in line for line in lines(out))


def test_the_report(dataset: Path, out: Path, serve: Any, faults: Any) -> None:
    more = {"model": "m-0401", "system_fingerprint": "fp_7", "provider": "P"}
    server = serve(lambda call: faults.Answer(status=500) if call.number == 0 else faults.Answer(more=more))
    run(dataset, out, server, key=SECRET, price=(2.5, 10), parameters={"top_k": 1})
    report = report_of(out)
    assert report["served"] == {
        "host": {f"127.0.0.1:{server.port}": 12},
        "model": {"m-0401": 12},
        "provider": {"P": 12},
        "system_fingerprint": {"fp_7": 12},
    }
    assert report["run"]["--param top_k"] == 1 and report["run"]["model"] == "m"
    assert report["retries"] == {"http_500": 1} and report["tokens"] == {"input": 1200, "output": 120}
    assert report["cost"] == pytest.approx((1200 * 2.5 + 120 * 10) / 1e6)
    assert report["run"]["dataset"] == open_dataset(dataset, VCR).identity and report["versions"]["httpx2"]


def test_the_cost_is_never_passed_by_more_than_what_is_under_way(
    dataset: Path, out: Path, serve: Any, faults: Any
) -> None:
    server = serve(lambda call: faults.Answer(delay=0.02))
    price = (1e6, 1e6)  # a reply costs 110
    options: dict[str, Any] = {"choice": PictureSelection(views=VIEWS["both"]), "price": price, "concurrency": 3}
    result = run(dataset, out, server, max_cost=550, **options)
    assert not result.finished and not out.exists() and result.missing.keys() == {"not_sent"}
    assert 5 <= len(server.calls) <= 5 + 3 - 1 and result.spent.cost == len(server.calls) * 110
    asked = len(server.calls)
    assert not run(dataset, out, server, max_cost=550, **options).finished
    assert len(server.calls) == asked  # what an earlier run spent counts
    assert run(dataset, out, server, max_cost=1e9, **options).finished and len(server.calls) == 24


def test_tokens_and_cost_so_far_are_told(dataset: Path, out: Path, serve: Any) -> None:
    class Told(ProgressListener):
        def __init__(self) -> None:
            self.notes: list[str] = []

        def note(self, text: str, /) -> None:
            self.notes.append(text)

    server = serve()
    run(dataset, out, server, choice=PictureSelection(limit=1), concurrency=1, listener=(told := Told()))
    assert told.notes == ["", "100 tokens read, 10 written", "200 tokens read, 20 written"]
    choice = PictureSelection(limit=2)
    run(dataset, out, server, choice=choice, price=(10, 100), concurrency=1, listener=(told := Told()))
    costs = [f"{tokens} tokens read, {tokens // 10} written, cost {tokens * 2e-5:.4g}" for tokens in (200, 300, 400)]
    assert told.notes == costs


def test_a_server_that_counts_no_tokens_cannot_be_paid(dataset: Path, out: Path, serve: Any, faults: Any) -> None:
    server = serve(lambda call: faults.Answer(more={"usage": None}))
    with pytest.raises(EndpointError, match="--max-cost cannot be kept"):
        run(dataset, out, server, price=(1, 1), max_cost=1)
    assert run(dataset, out, server, price=(1, 1)).finished


def test_unusable_replies_cost(dataset: Path, out: Path, serve: Any, faults: Any) -> None:
    """Those before a good one, and those of a request that got none; a later run counts them, too."""
    bad = {1: 1, 2: 6}  # requests by their number, and how often they get a reply that is no use

    def plan(call: Any) -> Any:
        number = len({each.digest for each in server.calls}) - 1
        useless = call.tries < bad.get(number, 0)
        return faults.Answer(body=json.dumps({"usage": {"prompt_tokens": 7}}).encode()) if useless else faults.Answer()

    server = serve(plan)
    price = (1e6, 0.0)
    result = run(dataset, out, server, concurrency=1, price=price, max_cost=1e9)
    assert result.missing == {"wrong_form": 1} and result.spent.cost == 11 * 100 + 7 * 7
    bad.clear()
    result = run(dataset, out, server, concurrency=1, price=price, max_cost=1e9)
    assert result.finished and result.spent.cost == 12 * 100 + 7 * 7
    assert report_of(out)["tokens_of_unusable_replies"] == {"input": 7}  # of the replies in the file


def test_equal_pictures_are_asked_about_once(hidden: Callable[..., Path], out: Path, serve: Any) -> None:
    public = hidden()
    (first, *others) = sorted((public / "stacked_image").iterdir())
    for other in others:
        other.write_bytes(first.read_bytes())
    server = serve()
    assert run(public, out, server).tally.replies == 3 and len(server.calls) == 1
    assert len({line["output"] for line in lines(out)}) == 1


def test_pictures_that_are_none(hidden: Callable[..., Path], out: Path, serve: Any) -> None:
    public = hidden()
    first, second, _ = sorted((public / "stacked_image").iterdir())
    first.unlink()
    second.write_bytes(b"GIF89a")
    result = run(public, out, serve())
    assert not result.finished and result.missing == {"no_image": 1, "undecodable_image": 1}


@pytest.mark.parametrize("what", ["no server", "refused"])
def test_a_run_that_comes_to_nothing_leaves_nothing(
    dataset: Path, out: Path, serve: Any, faults: Any, what: str
) -> None:
    server = serve(lambda call: faults.Answer(status=401))
    if what == "no server":
        server.__exit__()
    with pytest.raises(EndpointError):
        run(dataset, out, server)
    assert list(out.parent.iterdir()) == []


def test_files_of_others_are_left_alone(dataset: Path, out: Path, serve: Any) -> None:
    out.write_text("mine")
    with pytest.raises(OutputError, match="is there already"):
        run(dataset, out, server := serve())
    out.unlink()
    ledger = out.with_name("preds.ledger")
    for content in (b"mine", ledger_line("other", 1), b"\0" * 100):
        ledger.write_bytes(content)
        with pytest.raises(OutputError, match="is not the ledger of a run"):
            run(dataset, out, server)
        assert ledger.read_bytes() == content
    ledger.unlink()
    for name in ("preds.ledger", ""):
        with pytest.raises(OutputError, match="no name for a file of outputs"):
            run(dataset, out.parent / name, server)
    assert server.calls == []


@pytest.mark.parametrize("value", ['{"text": 1, "x": 2}', '{"text": 1, "model": "m"}', "3"])
def test_a_ledger_that_somebody_changed(dataset: Path, out: Path, serve: Any, value: str) -> None:
    run(dataset, out, serve(), choice=PictureSelection(limit=1))
    with out.with_name("preds.ledger").open("ab") as ledger:
        ledger.write(ledger_line("0", json.loads(value)))
    with pytest.raises(OutputError, match=r"preds\.ledger is damaged"):
        run(dataset, out, serve())


def test_a_damaged_line_costs_one_reply(dataset: Path, out: Path, serve: Any) -> None:
    """Of a finished ledger, wherever it is: the reply alone is asked for again, and outputs are the same bytes."""
    run(dataset, out, server := serve())
    ledger, whole = out.with_name("preds.ledger"), out.read_bytes()
    lines = ledger.read_bytes().splitlines(keepends=True)
    assert len(lines) == 1 + 12 + 1
    for number in (4, 14):  # a reply, and the line that tells what the outputs hold
        told: list[str] = []
        listener = ProgressListener()
        listener.warn = told.append  # type: ignore[method-assign, assignment]
        calls = len(server.calls)
        ledger.write_bytes(b"".join([*lines[: number - 1], lines[number - 1].replace(b"e", b"i", 1), *lines[number:]]))
        assert run(dataset, out, server, listener=listener).finished and out.read_bytes() == whole
        assert len(server.calls) - calls == (number == 4)
        assert len(told) == 1 and f"1 line is damaged and left out (line {number})" in told[0]
        assert sorted(ledger.read_bytes().splitlines(keepends=True)) == sorted(lines) or number == 4


def test_one_run_at_a_time(dataset: Path, out: Path, serve: Any) -> None:
    with FileLock(out.with_name(".preds.ledger.lock")), pytest.raises(OutputError, match="Another run is writing to"):
        run(dataset, out, serve())


def test_a_key_is_in_no_file(dataset: Path, out: Path, serve: Any, faults: Any) -> None:
    answers = [
        faults.Answer(text=f"key {SECRET}", more={"system_fingerprint": SECRET}, message={"reasoning": SECRET}),
        faults.Answer(status=400, body=json.dumps({"error": {"message": f"wrong {SECRET}"}}).encode()),
        faults.Answer(status=500, body=SECRET.encode()),
        faults.Answer(body=json.dumps({"error": SECRET}).encode()),
    ]
    server = serve(lambda call: answers[call.number % 4])
    result = run(dataset, out, server, key=SECRET, allow_failed=True, concurrency=2)
    assert result.finished and len(list(out.parent.iterdir())) == 3
    told = result.example + "".join(path.read_text("utf-8") for path in out.parent.iterdir())
    assert "[key]" in told and SECRET not in told
    assert all(call.headers["authorization"] == f"Bearer {SECRET}" for call in server.calls)


JOB = """
import resource, sys
from pathlib import Path
from vcrgen.data.pictures import PictureSelection
from vcrgen.data.reader import open_dataset
from vcrgen.data.views import VIEWS
from vcrgen.core.errors import VcrgenError
from vcrgen.models import endpoint
from vcrgen.models.address import parse_address
from vcrgen.models.connection import Limits
from vcrgen.models.endpoint import EndpointModel
from vcrgen.models.predict.job import predict
from vcrgen.models.predict.prompts import make_prompt
from vcrgen.data.tasks.vcr import VCR
folder, out, url, concurrency, most, timeout = sys.argv[1:]
if int(most):
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(most), int(most)))
endpoint._FIRST_PAUSE = 0.05
model = EndpointModel(parse_address(url, "m"), "m", limits=Limits(concurrency=int(concurrency), timeout=int(timeout)))
try:
    result = predict(
        open_dataset(folder, VCR), PictureSelection(views=VIEWS["both"]), out=Path(out),
        model=model, prompt=make_prompt(None, {}),
    )
except VcrgenError as error:
    sys.exit(str(error))
sys.exit(0 if result.finished else 3)
"""


def job(folder: Path, out: Path, url: str, *, concurrency: int = 8, most: int = 0, timeout: int = 600) -> Python:
    return Python("-c", JOB, folder, out, url, concurrency, most, timeout)


def write_many(folder: Path, count: int) -> Path:
    """The public part of a hidden set with small pictures, each another one."""
    from PIL import Image

    from vcrgen.hidden.public import IMAGE_FOLDERS, image_name, pair_question_row

    rows = []
    for number in range(count):
        question_id = f"{number:032x}"
        rows.append(dict(pair_question_row({"question_id": question_id}, {"language": "en", "canary": "canary"})))
        for place, view in enumerate(IMAGE_FOLDERS):
            file = folder / image_name(view, question_id)
            file.parent.mkdir(parents=True, exist_ok=True)
            Image.new("RGB", (8, 8), (number % 256, number // 256, place)).save(file)
    (folder / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return folder


def kept_texts(ledger: Path) -> set[str]:
    """The answers that are on disk: of whole lines only."""
    whole = ledger.read_bytes().rpartition(b"\n")[0].splitlines() if ledger.exists() else []
    return {value["text"] for value in (json.loads(line)["value"] for line in whole) if "text" in value}


@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
@pytest.mark.parametrize(
    ("questions", "kills"),
    [
        pytest.param(40, 2, marks=pytest.mark.process),
        pytest.param(500, 20, marks=[pytest.mark.process, pytest.mark.slow]),
    ],
)
def test_faults_and_kills_change_nothing(
    tmp_path: Path, out: Path, serve: Any, faults: Any, questions: int, kills: int
) -> None:
    """5 % 429, 5 % 500, 3 % resets, 1 % hangs, and kills at any moment: the same bytes, and nothing is paid twice."""
    public = write_many(tmp_path / "public", questions)
    calm = out.with_name("calm.jsonl")
    assert job(public, calm, serve().url).result().returncode == 0
    assert len(lines(calm)) == 2 * questions

    def plan(call: Any) -> Any:
        chance = (int(call.digest[:8], 16) + 37 * call.tries) % 100
        if call.tries >= 2 or chance >= 14:
            return faults.Answer(delay=0.02)
        if chance < 5:
            return faults.Answer(status=429, body=b"{}", headers={"Retry-After": "0.05"})
        return faults.Answer(status=500) if chance < 10 else faults.Answer(fault="reset" if chance < 13 else "hang")

    server = serve(plan)
    for number in range(kills):
        known, before = kept_texts(out.with_name("preds.ledger")), len(server.calls)
        target = 2 * questions * (number + 1) // (kills + 1)
        # Eight are under way, and no more is answered than the kill waits for.
        server.plan = held = faults.Held(plan, lambda _, most=target + 8: len({c.digest for c in server.calls}) > most)
        process = job(public, out, server.url, timeout=5)
        deadline = time.monotonic() + 120
        while process.poll() is None and time.monotonic() < deadline:
            if len(kept_texts(out.with_name("preds.ledger"))) >= target:
                break
            time.sleep(0.01)
        assert process.poll() is None, process.result()
        process.send_signal(signal.SIGKILL)
        process.result()
        held.let_go.set()
        asked = {f"reply {call.digest[:24]}" for call in server.calls[before:]}
        assert not asked & known
    assert job(public, out, server.url, timeout=5).result().returncode == 0
    assert out.read_bytes() == calm.read_bytes()
    assert report_of(out)["outcomes"]["answered"] == 2 * questions


@pytest.mark.process
@pytest.mark.skipif(os.name == "nt", reason="needs limits of processes")
def test_a_full_disk(tmp_path: Path, out: Path, serve: Any) -> None:
    public = write_many(tmp_path / "public", 40)
    server = serve()
    done = job(public, out, server.url, most=10_000).result()
    assert done.returncode == 1 and "preds.jsonl cannot be written: file too large" in done.stderr, done
    assert "Traceback" not in done.stderr and not out.exists()
    known = kept_texts(out.with_name("preds.ledger"))
    before = len(server.calls)
    assert job(public, out, server.url).result().returncode == 0
    assert len(lines(out)) == 80 and known
    assert not {f"reply {call.digest[:24]}" for call in server.calls[before:]} & known
