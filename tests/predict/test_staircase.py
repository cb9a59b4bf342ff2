"""``vcrgen predict --staircase``: the threshold with a fifth of the questions, also after a kill."""

import base64
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from vcrgen.builder.run import build
from vcrgen.stats.staircase import Staircase

Run = Callable[..., tuple[int, str, str]]
ROOT = Path(__file__).resolve().parents[2]
Known = dict[bytes, tuple[str, list[tuple[str, float]]]]


@pytest.fixture(scope="module")
def seven_levels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("seven") / "seven"
    build("samples", out=out, limit=20, splits="test=...", mode="ink=0.1,0.2,0.3,0.4,0.5,0.6,0.7")
    return out


@pytest.fixture(scope="module")
def known(seven_levels: Path) -> Known:
    """Of each picture its mode, and its texts with their visible ink."""
    found: Known = {}
    for file in seven_levels.glob("ink-*/*.parquet"):
        for row in pq.read_table(file, columns=["stacked_image", "mode", "spans"]).to_pylist():
            spans = [(span["text"], span["visible_ink"]) for span in row["spans"]]
            found[row["stacked_image"]["bytes"]] = row["mode"], spans
    return found


@pytest.fixture
def restores(known: Known, faults: Any) -> Callable[[float], Callable[[Any], Any]]:
    """A model that restores what has more than a share of its ink."""

    def make(least: float, **more: Any) -> Callable[[Any], Any]:
        def answer(call: Any) -> Any:
            (url,) = (part["image_url"]["url"] for part in call.body["messages"][-1]["content"] if "image_url" in part)
            _, spans = known[base64.b64decode(url.partition(",")[2])]
            return faults.Answer(text="\n".join(text if ink > least else "no" for text, ink in spans), **more)

        return answer

    return make


@pytest.fixture
def climb(run: Run, seven_levels: Path) -> Run:
    def call(server: Any, *words: object) -> tuple[int, str, str]:
        start = ("predict", seven_levels, "--endpoint", server.url, "--model", "m", "--out", "p.jsonl", "--staircase")
        return run(*start, *words)

    return call


def names_the_gap_around(least: float, out: str) -> bool:
    """Tell whether a threshold is said to lie between two shares of ink: those on both sides of `least`."""
    found = re.search(r"alf of the spans are recovered at some share of ink between ([\d.]+) and ([\d.]+) %", out)
    return found is not None and 0.25 < float(found[1]) / 100 <= least < float(found[2]) / 100 < 0.4


def test_a_threshold_is_found_with_a_fifth_of_the_questions(climb: Run, restores: Any, serve: Any) -> None:
    server = serve(restores(0.33))
    code, out, err = climb(server)
    assert code == 0, err
    assert "Asked 26 of 133 questions: " in out and names_the_gap_around(0.33, out), out
    found = json.loads(Path("p.staircase.json").read_text())
    assert len(server.calls) == found["questions"] == sum(level["asked"] for level in found["levels"]) == 26
    assert found["threshold"]["is"] == "inside" and found["threshold"]["value"] == pytest.approx(0.33, abs=0.06)
    asked = {level["mode"]: level["asked"] for level in found["levels"]}
    assert asked["ink-0.30"] + asked["ink-0.40"] > asked["ink-0.10"] + asked["ink-0.70"]
    assert not Path("p.jsonl").exists() and "norm:none" in found["score"]


def test_again_nothing_is_asked_and_the_result_is_the_same(climb: Run, restores: Any, serve: Any) -> None:
    server = serve(restores(0.33))
    climb(server)
    first, calls = Path("p.staircase.json").read_bytes(), len(server.calls)
    assert climb(server, "--concurrency", 1)[0] == 0
    assert Path("p.staircase.json").read_bytes() == first and len(server.calls) == calls
    assert climb(server, "--seed", 1)[0] == 0
    assert len(server.calls) > calls


def test_a_whole_run_asks_only_the_rest(climb: Run, run: Run, seven_levels: Path, restores: Any, serve: Any) -> None:
    server = serve(restores(0.33))
    climb(server)
    words = ("--endpoint", server.url, "--model", "m", "--out", "p.jsonl")
    assert run("predict", seven_levels, *words)[0] == 0
    assert len(server.calls) == 133
    code, out, err = run("score", "p.jsonl", "--data", seven_levels, "--curve", "--no-json")
    assert code == 0 and names_the_gap_around(0.33, out), out + err


@pytest.mark.parametrize(("least", "where"), [(2.0, "more"), (-1.0, "less")])
def test_a_threshold_outside_is_said_to_be_outside(
    climb: Run, restores: Any, serve: Any, least: float, where: str
) -> None:
    _, out, _ = climb(serve(restores(least)))
    said = "The threshold is outside of the measured levels: half of the spans would be recovered with "
    assert f"{said}{where} than " in out


def test_a_failing_server_ends_it_and_the_rest_comes_later(climb: Run, restores: Any, serve: Any, faults: Any) -> None:
    good = restores(0.33)
    ill = serve(lambda call: good(call) if call.number < 12 else faults.Answer(status=400))
    code, _, err = climb(ill)
    assert code == 3 and "pictures have no reply; the first: question " in err and not Path("p.staircase.json").exists()
    well = serve(good)
    assert climb(well)[0] == 0 and len(well.calls) == 26 - 12


def test_the_first_that_failed_is_named_whichever_reply_came_first(
    climb: Run, restores: Any, serve: Any, faults: Any
) -> None:
    def answer(call: Any) -> Any:
        return faults.Answer(status=400, delay=delays.get(call.digest, 0.0))

    delays: dict[str, float] = {}
    server = serve(answer)
    said = [climb(server, "--concurrency", 1)[2]]
    assert "7 pictures have no reply; the first: question " in said[0] and len(server.calls) == 7
    for order in (1, -1):
        delays |= {call.digest: at / 30 for at, call in enumerate(server.calls[:7][::order])}
        said.append(climb(server)[2])
    assert len(set(said)) == 1


def test_what_it_costs_ends_it_and_more_money_goes_on(climb: Run, restores: Any, serve: Any) -> None:
    server = serve(restores(0.33))
    code, _, err = climb(server, "--price", "1000000,0", "--max-cost", 500, "--concurrency", 1)
    assert code == 3 and "--max-cost 500 is reached (500 tokens read, " in err and "Raise it to go on" in err, err
    assert "the same command" not in err
    assert climb(server, "--price", "1000000,0", "--max-cost", 50_000)[0] == 0 and len(server.calls) == 26


@pytest.mark.process
def test_killed_it_goes_on_where_it_was(
    seven_levels: Path, restores: Any, serve: Any, faults: Any, run: Run, climb: Run
) -> None:
    """Killed amid a round: no reply is asked for twice but those under way, and the result is that of a whole run."""
    slow = serve(faults.Held(restores(0.33, delay=0.2), lambda call: call.number >= 13))
    words = ["predict", str(seven_levels), "--endpoint", slow.url, "--model", "m", "--out", "k.jsonl", "--staircase"]
    command = [sys.executable, "-c", "from vcrgen.cli import app; app()", *words, "--concurrency", "2"]
    process = subprocess.Popen(command, env=os.environ | {"PYTHONPATH": str(ROOT)}, stderr=subprocess.DEVNULL)
    while len(slow.calls) < 11 and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert not Path("k.staircase.json").exists()
    kept = len(Path("k.ledger").read_bytes().splitlines()) - 1
    assert kept >= 8
    fast = serve(restores(0.33))
    assert run(*words[:3], fast.url, *words[4:])[0] == 0
    assert len(fast.calls) <= 26 - kept + 1
    assert climb(fast)[0] == 0
    assert Path("k.staircase.json").read_bytes() == Path("p.staircase.json").read_bytes()


@pytest.mark.parametrize(
    "words",
    [("--view", "both"), ("--mode", "ink-0.10"), ("--limit", "3"), ("--canary",), ("--answer-logprobs",)],
)
def test_what_it_does_not_go_with(climb: Run, serve: Any, words: tuple[str, ...]) -> None:
    server = serve()
    code, _, err = climb(server, *words)
    assert code == 2 and "--staircase" in err and not server.calls


def test_a_dataset_without_levels_has_nothing_to_climb(run: Run, dataset: Path, serve: Any) -> None:
    words = ("--endpoint", serve().url, "--model", "m", "--staircase")
    code, _, err = run("predict", dataset, "--split", "test", *words)
    assert code == 2 and "has no 3 levels of ink" in err


def test_the_rule() -> None:
    """The first round asks as often everywhere, later ones around the threshold; no question comes twice."""
    steps = Staircase([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], 40, 60, seed=3)
    first = steps.round()
    assert [level for _, level in first] == list(range(6)) and len({image for image, _ in first}) == 6
    seen = list(first)
    while seen and (chosen := steps.round()):
        for image, level in chosen:
            steps.take(image, [0.1 + level / 10], [level >= 4])
        seen += chosen
    assert len(seen) == len(set(seen)) == 60
    assert steps.asked[3] + steps.asked[4] > 0.5 * 60
    curve = steps.curve(seed=0)
    assert 0.4 < curve.threshold.value < 0.5
    again = Staircase([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], 40, 60, seed=3)
    assert again.round() == first and Staircase([0.1, 0.2, 0.3], 40, 30, seed=4).round() != first[:3]


def test_all_questions_may_be_asked() -> None:
    steps, rng = Staircase([0.1, 0.5], 3, 100, seed=0), random.Random(0)
    seen = []
    while chosen := steps.round():
        seen += chosen
        for image, level in chosen:
            steps.take(image, [0.1 + 0.4 * level], [rng.random() < 0.5])
    assert sorted(seen) == [(image, level) for image in range(3) for level in range(2)]
