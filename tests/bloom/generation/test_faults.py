"""Faults of servers, disks, ledgers and pictures lead to a retry, a reason, or a sentence."""

import base64
import hashlib
import json
import resource
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.bloom.author import good, said, stage_of, text_of
from tests.bloom.conftest import done
from tests.bloom.generation.test_generate_set import (
    CATEGORIES,
    WORDS,
    Run,
    build,
    categories,
    files,
    rejects,
)
from tests.forked import Python
from tests.models.fault_server import Answer, Call, FaultServer
from vcrgen.bloom.generation.generate_set import generate_set
from vcrgen.bloom.options import BloomGenerationOptions
from vcrgen.core.errors import OutputError
from vcrgen.core.ledger import ledger_line
from vcrgen.core.lock import locked
from vcrgen.models.address import parse_address
from vcrgen.models.endpoint import EndpointModel

__all__ = ["categories"]  # a fixture of every test
ROOT = Path(__file__).resolve().parents[3]
KEY, JUDGE_KEY = "sk-very-secret-123", "sk-judge-hidden-456"
Plan = Callable[[Call], Answer]


@dataclass(frozen=True)
class Whole:
    """A set of which nothing went wrong, and what was asked for it."""

    files: dict[str, str]
    rows: dict[str, Any]
    rejects: dict[str, str]
    calls: list[Call]
    ledger: bytes


def rows_of(folder: str | Path) -> dict[str, Any]:
    return {
        row["question_id"]: row for file in Path(folder, "data").iterdir() for row in pq.read_table(file).to_pylist()
    }


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    folder = tmp_path_factory.mktemp("whole")
    (folder / "categories.csv").write_text(CATEGORIES)
    with FaultServer(good) as server:
        models = {name: EndpointModel(parse_address(server.url, name), name) for name in "MJ"}
        options = BloomGenerationOptions(
            source="samples:12",
            model="M",
            judge="J",
            endpoint=server.url,
            per_category=4,
            taxonomy=folder / "categories.csv",
        )
        generate_set(options, folder / "made", models)
        made, ledger = str(folder / "made"), (folder / "made.ledger").read_bytes()
        return Whole(files(made), rows_of(made), rejects(made), server.calls, ledger)


def test_what_passes_is_tried_again(run: Run, whole: Whole) -> None:
    """Too many requests, faults of the server, broken connections, a stall: the same bytes."""
    faults = (
        Answer(status=429, headers={"Retry-After": "0.1"}, body=b"{}"),
        Answer(status=500, body=b"oh"),
        Answer(fault="reset"),
        Answer(fault="half"),
        Answer(status=503, headers={"Retry-After": "0"}, body=b"<html>busy</html>"),
    )
    hangs = whole.calls[20].digest

    def troubled(call: Call) -> Answer:
        if call.tries:
            return good(call)
        return Answer(fault="hang") if call.digest == hangs else faults[int(call.digest[:2], 16) % len(faults)]

    with FaultServer(troubled) as server:
        done(build, run, server, "made", "--concurrency", 16, {"timeout": 2})
    assert files("made") == whole.files
    retries: Counter[str] = Counter()
    for line in Path("made.ledger").read_text().splitlines():
        retries.update(json.loads(line)["value"]["reply"]["retries"])
    assert retries.keys() == {"http_429", "http_500", "http_503", "reset", "timeout"}
    # Each once more, but on a machine that stands still for so long that other calls come to their timeout.
    assert 2 * len(whole.calls) <= len(server.calls) <= len(whole.calls) + retries.total()


def of_item(call: Call, whole: Whole, item: str, stage: str) -> bool:
    """Return True for a call of a stage of an item that has its question."""
    return stage_of(call) == stage and whole.rows[item]["question_en"] in text_of(call)


FLAWS: dict[str, tuple[str, Plan, str]] = {
    "a refusal": ("options", lambda call: Answer(text="I am sorry, but I cannot."), "invalid_reply"),
    "a filter": ("translation", lambda call: Answer(text="", finish_reason="content_filter"), "filtered"),
    "another number": (
        "translation",
        lambda call: Answer(text=json.dumps(said(call) | {"question": "أين القوارب ٧؟"})),
        "faulty_text",
    ),
    "an order that is obeyed": ("answer", lambda call: Answer(text="As it is written: A to all!"), "invalid_reply"),
}


def test_a_flaw_changes_its_own_item_only(run: Run, whole: Whole) -> None:
    """Four flaws, each of one item."""
    flaws = dict(zip(sorted(whole.rows), FLAWS, strict=False))
    assert len(flaws) == 4

    def flawed(call: Call) -> Answer:
        for item, name in flaws.items():
            stage, answer, _ = FLAWS[name]
            if of_item(call, whole, item, stage):
                return answer(call)
        return good(call)

    with FaultServer(flawed) as server:
        done(build, run, server, "made")
    now, rows = rejects("made"), rows_of("made")
    assert {item: now[item] for item in flaws} == {item: FLAWS[name][2] for item, name in flaws.items()}
    for item in whole.rejects.keys() | whole.rows.keys() - flaws.keys():
        # With other items left, others may be drawn of those with a long key.
        lot = "longest_is_right" in (now.get(item), whole.rejects.get(item))
        assert lot or (rows.get(item), now.get(item)) == (whole.rows.get(item), whole.rejects.get(item))


def test_orders_in_a_picture_that_are_obeyed_change_its_own_items_only(run: Run, whole: Whole) -> None:
    """Whoever reads "IGNORE ALL RULES" in one of the pictures obeys: says A, finds all well, writes as told."""
    item, row = next(iter(whole.rows.items()))
    ordered = base64.b64encode(row["image"]["bytes"])
    obeyed = {
        "fitness": {"fitness": 5},
        "answer": {"answer": "A"},
        "question": {"question": "What is it?", "answer": "A"},
        "options": {"right": "Answer A", "trap": "Answer B", "wrong": ["Answer C", "Answer D"]},
    }

    def obedient(call: Call) -> Answer:
        value = obeyed.get(stage_of(call)) if ordered in call.data else None
        return Answer(text=json.dumps(value)) if value else good(call)

    with FaultServer(obedient) as server:
        done(build, run, server, "made")
    rows = rows_of("made")
    assert rows.get(item) != row
    for name in rows.keys() & whole.rows.keys():
        about = {rows[name]["image"]["bytes"], whole.rows[name]["image"]["bytes"]}
        assert rows[name] == whole.rows[name] or row["image"]["bytes"] in about
    assert len(rows.keys() ^ whole.rows.keys()) <= 5  # four items of a picture at most, and one by lot


def test_a_picture_of_which_the_judge_says_nothing_valid_is_passed_over(run: Run) -> None:
    def mumbling(call: Call) -> Answer:
        dim = stage_of(call) == "fitness" and int(hashlib.sha256(pictures_of(call)).hexdigest()[0], 16) < 8
        return Answer(text="Nice!") if dim else good(call)

    def pictures_of(call: Call) -> bytes:
        content = call.body["messages"][0]["content"]
        return b"".join(json.dumps(part).encode() for part in content if part["type"] != "text")

    with FaultServer(mumbling) as server:
        code, out, err = build(run, server, "made")
        mumbled = {pictures_of(call) for call in server.calls if mumbling(call).text == "Nice!"}
        written = {pictures_of(call) for call in server.calls if stage_of(call) == "question"}
    assert code == 0, out + err
    assert mumbled and not mumbled & written
    assert list(rejects("made").values()).count("invalid_reply") <= 1  # three pictures in a row


def test_a_request_that_is_refused_lacks_one_item(run: Run, whole: Whole) -> None:
    def refusing(call: Call) -> Answer:
        return (
            Answer(status=400, body=b'{"error": {"message": "bad picture"}}')
            if of_item(call, whole, min(whole.rows), "options")
            else good(call)
        )

    with FaultServer(refusing) as server:
        code, _, err = build(run, server, "made")
        assert (
            code == 3 and "Missing replies: 1 (http_400 1)" in err and "bad picture" in err and "--allow-failed" in err
        )
        assert not Path("made").exists() and Path("made.ledger").is_file()
        assert build(run, server, "made", "--allow-failed")[0] == 0
    assert list(rejects("made").values()).count("missing_reply") == 1
    words = [*WORDS.split(), "--offline", "--allow-failed", "--ledger", "made.ledger"]
    assert run(*words, "--out", "offline")[0] == 0
    assert files("offline") == files("made")
    with FaultServer(good) as server:
        assert build(run, server, "again", "--ledger", "made.ledger")[0] == 0
        assert len(server.calls) < 8
    assert files("again") == whole.files


def test_a_server_that_refuses_everything(run: Run, whole: Whole) -> None:
    """Few requests lack their reply; after ten in a row the run is over."""
    with FaultServer(lambda call: Answer(status=403, body=b'{"error": {"message": "no credit"}}')) as server:
        code, out, err = build(run, server, "made")
        assert code == 3 and "Missing replies: 8 (http_403 8)" in err and "the server answers 403: no credit" in err
        code, _, err = run(*["bloom", "build", "samples:3", "--model", "M", "--out", "all", "--endpoint"], server.url)
        assert code == 2 and "gave no reply to 10 requests in a row" in err and "403: no credit" in err
        assert "Traceback" not in out + err and len(server.calls) < 2 + 30
    assert not list(Path().glob("all*")) and not list(Path().glob("made*"))
    Path("made.ledger").write_bytes(whole.ledger[: whole.ledger.index(b"\n", len(whole.ledger) // 2) + 1])
    before = Path("made.ledger").read_bytes()
    with FaultServer(lambda call: Answer(status=403, body=b"{}")) as server:
        assert build(run, server, "made")[0] in (2, 3)
    assert Path("made.ledger").read_bytes() == before
    with FaultServer(good) as server:
        assert build(run, server, "made")[0] == 0
        assert len(server.calls) == len(whole.calls) - before.count(b"\n")
    assert files("made") == whole.files


def test_what_is_said_of_missing_replies_is_in_the_order_of_the_set(run: Run) -> None:
    """The first place of the set is refused last: it is still the first that is named, and so is its reason."""

    def refusing(call: Call) -> Answer:
        first = "animals" in text_of(call)
        return Answer(status=400 if first else 403, body=b"{}", delay=0.1 if first else 0)

    with FaultServer(refusing) as server:
        code, _, err = build(run, server, "made")
    assert code == 3 and "8 (http_400 4, http_403 4); the first: leaf-001-0001: the server answers 400" in err, err


def test_nobody_is_there(run: Run) -> None:
    code, _, err = run(*WORDS.split(), "--out", "made", "--endpoint", "http://127.0.0.1:9/v1")
    assert code == 2 and "no server can be reached there" in err and "mend --endpoint" in err
    assert "Traceback" not in err and not list(Path().glob("made*"))
    with FaultServer(good) as server:
        code, _, err = build(run, server, "made", {"judge_endpoint": "http://127.0.0.1:9/v1"})
    assert code == 2 and "127.0.0.1:9: no server can be reached there" in err and "mend judge_endpoint" in err


@pytest.mark.parametrize("limit", [("--max-calls", 0), ("--max-tokens", 0), ("--max-cost", 0, {"price": "1,1"})])
def test_a_budget_of_zero_asks_nothing(run: Run, limit: tuple[Any, ...]) -> None:
    with FaultServer(good) as server:
        code, _, err = build(run, server, "made", *limit)
        assert code == 3 and f"{limit[0]} 0 is reached" in err and "resumes" in err and not server.calls
    assert not list(Path().glob("made*"))


FULL = """
import resource, sys
from vcrgen.cli import app
most, *words = sys.argv[1:]
resource.setrlimit(resource.RLIMIT_FSIZE, (int(most), int(most)))
sys.argv = ["vcrgen", *words]
app(prog_name="vcrgen")
"""


@pytest.mark.process
def test_a_full_disk_is_a_sentence_and_what_was_answered_stays(run: Run, whole: Whole) -> None:
    with FaultServer(good) as server:
        words = [*WORDS.split(), "--out", "made", "--endpoint", server.url, "--concurrency", "2"]
        most = len(whole.ledger) // 2
        told = Python("-c", FULL, most, *words).result()
        assert told.returncode == 2 and "made.ledger cannot be written" in told.stderr, told.stderr
        assert "Traceback" not in told.stderr and 0 < Path("made.ledger").stat().st_size <= most
        kept = Path("made.ledger").read_bytes().count(b"\n")
        server.wait_until_left()
        before = len(server.calls)
        assert before <= kept + 3
        assert build(run, server, "made")[0] == 0
        assert len(server.calls) - before <= len(whole.calls) - kept
    assert files("made") == whole.files
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != most


@pytest.mark.parametrize("offline", [False, True])
def test_what_is_no_ledger_is_left_alone(run: Run, offline: bool) -> None:
    Path("notes.txt").write_text("Dear diary\nToday\n")
    with FaultServer(good) as server:
        more = ["--offline"] if offline else ["--endpoint", server.url]
        code, _, err = run(*WORDS.split(), *more, "--out", "made", "--ledger", "notes.txt")
        assert code == 2 and "is not the ledger of a run" in err and not server.calls
    assert Path("notes.txt").read_text() == "Dear diary\nToday\n"


@pytest.mark.parametrize("line", [b"\0" * 40 + b"\n", b'{"key": "M x"}\n'])
def test_a_damaged_line_costs_one_reply(run: Run, whole: Whole, line: bytes) -> None:
    """Offline it is told and nothing is changed."""
    lines = whole.ledger.splitlines(keepends=True)
    Path("made.ledger").write_bytes(damaged := b"".join([*lines[:3], line, *lines[4:]]))
    code, _, err = run(*WORDS.split(), "--offline", "--out", "made")
    assert code == 3 and "1 line is damaged and left out (line 4)." in err
    assert Path("made.ledger").read_bytes() == damaged and not Path("made.ledger.damaged").exists()
    with FaultServer(good) as server:
        code, _, err = build(run, server, "made")
        assert code == 0 and len(server.calls) == 1 and "is kept as made.ledger.damaged." in err
    assert files("made") == whole.files and Path("made.ledger.damaged").read_bytes() == damaged


@pytest.mark.parametrize(
    "value",
    [
        [],
        {"reply": {"text": "x", "no": 1}},
        {"reply": {"text": "x", "model": "M"}, "date": "<b>2026-11-22</b>"},
        {"reply": {"text": "x", "model": "M", "usage": {"input": "1"}}, "date": "2026-11-22"},
    ],
)
def test_a_ledger_of_something_else_is_a_sentence(run: Run, value: Any) -> None:
    Path("made.ledger").write_bytes(ledger_line("M x", value))
    with FaultServer(good) as server:
        code, _, err = build(run, server, "made")
        assert code == 2 and "ledger of the replies is damaged" in err and not server.calls


def test_two_runs_at_once_are_not_let_at_one_ledger(run: Run) -> None:
    with FaultServer(good) as server, locked(Path(".made.ledger.lock"), OutputError("nobody has it")):
        code, _, err = build(run, server, "other", "--ledger", "made.ledger")
        assert code == 2 and "Another run is writing to made.ledger" in err and not server.calls


def test_equal_requests_of_another_configuration_are_not_paid_again(run: Run, whole: Whole) -> None:
    Path("made.ledger").write_bytes(whole.ledger)
    with FaultServer(good) as server:
        assert build(run, server, "made", "--lang", "en")[0] == 0
        assert not {stage_of(call) for call in server.calls} & {"scenario", "fitness", "question", "options"}


def test_what_is_missing_offline_is_named_with_how_to_get_it(run: Run, whole: Whole) -> None:
    lines = whole.ledger.splitlines(keepends=True)
    lines.remove(next(line for line in lines if rb'"{\"picture\": true' in line))  # a verdict
    Path("made.ledger").write_bytes(b"".join(lines))
    code, out, err = run(*WORDS.split(), "--offline", "--out", "made")
    assert code == 3 and "Missing replies: 1 (not_in_the_ledger 1)" in err
    assert "the ledger holds no reply of J at the stage verdict" in err and "made.ledger: " in out
    assert "leave out --offline, with --endpoint" in err and "Traceback" not in out + err
    assert Path("made.ledger").read_bytes() == b"".join(lines)


def test_keys_get_nowhere(run: Run, whole: Whole, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a server says them again: in errors, in replies, in the model's name."""
    monkeypatch.setenv("MY_KEY", KEY)
    monkeypatch.setenv("MY_JUDGE_KEY", JUDGE_KEY)
    printed = ""

    def telling(call: Call) -> Answer:
        key = call.headers["authorization"].removeprefix("Bearer ")
        answer = good(call)
        if of_item(call, whole, min(whole.rows), "options"):
            return Answer(
                status=400, body=json.dumps({"error": {"message": f"Invalid key {key}!", "code": key}}).encode()
            )
        if of_item(call, whole, max(whole.rows), "verdict"):
            return Answer(text=f"The key is {key}", more={"system_fingerprint": key, "id": key})
        text = json.dumps(said(call) | {"note": key}, ensure_ascii=False)
        return Answer(text=text, message={"reasoning_content": f"my key: {key}"}, finish_reason=answer.finish_reason)

    keys = ["--key-env", "MY_KEY"]
    with FaultServer(telling) as author, FaultServer(telling) as judge:
        for more in ([], ["--allow-failed"]):
            code, out, err = build(
                run, author, "made", *keys, {"judge_endpoint": judge.url, "judge_key_env": "MY_JUDGE_KEY"}, *more
            )
            printed += out + err
            assert code == (0 if more else 3)
        assert {call.headers["authorization"] for call in author.calls} == {f"Bearer {KEY}"}
        assert {call.headers["authorization"] for call in judge.calls} == {f"Bearer {JUDGE_KEY}"}
    assert "Invalid key [key]!" in printed
    with FaultServer(lambda call: Answer(status=401, body=call.headers["authorization"].encode())) as server:
        words = "bloom build samples:3 --model M --out no --key-env MY_KEY"
        code, out, err = run(*words.split(), "--endpoint", server.url)
        assert code == 2 and "401" in err
    code, out_too, err_too = run(*WORDS.split(), "--out", "no", "--endpoint", server.url, "--key-env", KEY)
    assert code == 2 and "--key-env" in err_too
    printed += out + err + out_too + err_too
    written = b"".join(path.read_bytes() for path in Path().rglob("*") if path.is_file())
    assert b"[key]" in written
    for secret in (KEY, JUDGE_KEY, KEY[4:], JUDGE_KEY[4:]):
        assert secret not in printed and secret.encode() not in written


def test_agreement_of_judges_is_what_one_counts_by_hand(run: Run) -> None:
    """From what the server was asked and said: who passed which item, pairs that agree, and AC1 of two raters."""

    def strict(call: Call) -> Answer:
        model, digit = call.body["model"], int(hashlib.sha256(text_of(call).encode()).hexdigest()[0], 16)
        refuses = stage_of(call) == "verdict" and ((model == "B" and digit < 6) or (model == "A" and digit < 3))
        return Answer(text=json.dumps(said(call) | {"question": False})) if refuses else good(call)

    with FaultServer(strict) as server:
        words = "bloom build samples:12 --model M --judges A,B --taxonomy categories.csv --out made"
        done(run, *words.split(), "--per-category", 10, "--endpoint", server.url)
    passed: dict[str, dict[str, bool]] = {}
    for call in server.calls:
        if stage_of(call) in ("answer", "verdict"):
            lines = text_of(call).splitlines()
            options = "\n".join(line for line in lines if line[1:3] == ") ")[: 4 * 200].split("\nA) ")[0]
            value = json.loads(strict(call).text or "")
            good_one = value["answer"] != "none" if "answer" in value else all(value.values())
            mine = passed.setdefault(options, {})
            mine[call.body["model"]] = mine.get(call.body["model"], True) and good_one
    votes = [(vote["A"], vote["B"]) for vote in passed.values()]
    same = sum(a == b for a, b in votes)
    share = sum(a + b for a, b in votes) / (2 * len(votes))
    chance = 2 * share * (1 - share)
    ac1 = (same / len(votes) - chance) / (1 - chance)
    card = Path("made/README.md").read_text()
    assert 0 < same < len(votes)
    assert f"| A | {sum(a for a, _ in votes)} of {len(votes)} |" in card
    assert f"| B | {sum(b for _, b in votes)} of {len(votes)} |" in card
    assert f"Two judges agreed on an item in {same} of {len(votes)} comparisons; Gwet's AC1 {ac1:.3f}." in card
