"""verifiers runs the taskset against a server; `scripts/check_trainers.py` makes the environment that this needs."""

import hashlib
import json
import os
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from tests.pages import Page
from vcrgen.builder.stream import VCRStream, answer_text

pytest.importorskip(
    "verifiers", reason="run by scripts/check_trainers.py: verifiers and Inspect AI exclude one another"
)
pytestmark = pytest.mark.extras
TASKS = 8


def url_of(content: Any) -> str:
    return hashlib.sha256(content[0]["image_url"]["url"].encode()).hexdigest()


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A server that is right for every other one of the first pictures."""
    from vcrgen.train.taskset import data_url

    stream = VCRStream("samples", mode="easy", rank=0, world_size=1)
    urls = [(data_url(example["image"], "png"), answer_text(example)) for example in islice(stream, TASKS)]
    answers = {
        hashlib.sha256(url.encode()).hexdigest(): "zzz" if number % 2 else answer
        for number, (url, answer) in enumerate(urls)
    }

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            said = {"role": "assistant", "content": answers[url_of(body["messages"][-1]["content"])]}
            usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            choice = {"index": 0, "message": said, "finish_reason": "stop"}
            facts = {"id": "x", "object": "chat.completion", "created": 0, "model": "half"}
            reply = json.dumps({**facts, "choices": [choice], "usage": usage}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    class Server(ThreadingHTTPServer):
        request_queue_size = 64  # all rollouts connect at once

    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()


def evaluate(folder: Path, address: str, *words: str) -> list[tuple[str, float]]:
    """The key and the reward of every rollout, in the order of the tasks."""
    shown = next(text for kind, text in Page("docs/training.md").blocks if kind == "sh" and "vf-eval" in text)
    here = {"MODEL": "half", "100": str(TASKS), "http://127.0.0.1:8000/v1": address, "pairs.parquet": "samples"}
    here |= {"bits-4": "easy", "bars": "rows"}  # quick to draw
    program, *command = (here.get(word, word) for word in shlex.split(shown.replace("\\\n", " ")))
    options = ["--client.api-key-var", "NO_KEY", "--no-rich", "-o", folder, *words]
    ended = subprocess.run(
        [Path(sys.executable).with_name(program), *command, *options],
        env=os.environ | {"NO_KEY": "x"},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    (file,) = folder.rglob("traces.jsonl")
    traces = [trace for line in file.read_text("utf-8").splitlines() for trace in json.loads(line)["traces"]]
    traces.sort(key=lambda trace: trace["task"]["data"]["idx"])
    return [(trace["task"]["key"], trace["rewards"]["restoration"]["score"]) for trace in traces]


def test_a_model_that_is_right_for_half_is_worth_half(tmp_path: Path, address: str) -> None:
    once = evaluate(tmp_path / "once", address, "-r", "2")
    assert [reward for _, reward in once] == [1.0, 1.0, 0.0, 0.0] * (TASKS // 2)
    assert len({key for key, _ in once}) == TASKS
    assert evaluate(tmp_path / "again", address, "-r", "2") == once  # the same tasks in the same order


def test_a_task_knows_its_answer() -> None:
    import asyncio

    from vcrgen.train.taskset import VCRTaskset, VCRTasksetConfig

    tasks = list(VCRTaskset(VCRTasksetConfig(lang="zh", ink=0.3, image="jpeg")).take(3))
    assert [task.data.idx for task in tasks] == [0, 1, 2]
    assert all(asyncio.run(task.validate(None)) for task in tasks)
    assert tasks[0].data.prompt[0].content[0].image_url.url.startswith("data:image/jpeg;base64,")
