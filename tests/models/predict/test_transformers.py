"""``vcrgen predict --transformers``: a model in this process, alone and beside a server that has the same model."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.models.predict.test_docs import BLOCKS
from tests.pages import ROOT, Run, succeed
from tests.servers import with_file

pytestmark = pytest.mark.extras


def lines(file: str | Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(file).read_text("utf-8").splitlines()]


def outputs(file: str | Path) -> set[tuple[str, str, str]]:
    return {(line["question_id"], line["mode"], line["output"]) for line in lines(file)}


@pytest.fixture(scope="module")
def here(taught: Path, taught_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Outputs of the model in this process, eight at a time, with log-probabilities."""
    file: Path = tmp_path_factory.mktemp("here") / "here.jsonl"
    words = ["predict", taught_data, "--transformers", taught, "--model", "tiny", "--answer-logprobs", "--out", file]
    command = [sys.executable, "-m", "vcrgen", *map(str, words)]
    subprocess.run(command, check=True, env=os.environ | {"PYTHONPATH": str(ROOT)})
    return file


def test_what_is_printed_and_written(run: Run, here: Path, taught: Path, taught_data: Path) -> None:
    words = ["--transformers", taught, "--limit", 3, "--mode", "hard", "--batch-size", 2, "--out", "p.jsonl"]
    code, out, err = run("predict", taught_data, *words)
    assert code == 0, err
    assert err.startswith("loading the model ...\n")
    first, second = out.splitlines()
    assert first.startswith("3 replies: 3 answered; 3") and first.endswith(" written.")
    assert second.startswith(f"p.jsonl: 3 outputs of {taught.name}; next: vcrgen score p.jsonl --data {taught_data}")
    assert outputs("p.jsonl") <= outputs(here) and len(outputs("p.jsonl")) == 3
    report = json.loads(Path("p.run.json").read_text("utf-8"))
    assert {"digest", "device", "dtype", "torch", "transformers"} <= set(report["run"]) and "torch" in report[
        "versions"
    ]
    assert report["cost"] is None and report["served"] == {"model": {taught.name: 3}}
    assert str(taught) not in Path("p.run.json").read_text("utf-8") + Path("p.jsonl").read_text("utf-8")


def test_it_is_right_and_sure_of_it(run: Run, here: Path, taught_data: Path) -> None:
    code, _, err = run("score", here, "--data", taught_data, "--strict", "--out", "s.json")
    assert code == 0, err
    found = lines(here)
    answers = [answer for line in found for answer in line["output"].split("\n")]
    told = ["".join(token for token, _ in place) for line in found for place in line["logprobs"]]
    assert sum(answer == right for answer, right in zip(answers, told, strict=True)) >= 0.95 * len(told)
    values = [value for line in found for place in line["logprobs"] for _, value in place]
    assert max(values) <= 0 and sum(values) / len(values) > -0.1


def test_another_model_adapter_or_template_is_another_run(
    run: Run, tinyvlm: Any, taught: Path, taught_data: Path, tmp_path: Path
) -> None:
    model = shutil.copytree(taught, tmp_path / "model")
    words = ["predict", taught_data, "--transformers", model, "--limit", 1, "--mode", "hard", "--out", "p.jsonl"]
    assert run(*words)[0] == 0
    file = model / "chat_template.jinja"
    file.write_text(file.read_text("utf-8") + " ", "utf-8")
    code, _, err = run(*words)
    assert code == 2 and "p.jsonl is of another run (digest" in err


def test_the_public_part_of_a_hidden_set(run: Run, hidden: Callable[..., Path], taught: Path) -> None:
    public = hidden()
    words = ["predict", public, "--transformers", taught, "--out", "p.jsonl"]
    code, _, err = run(*words, "--answer-logprobs")
    assert code == 2 and "is the public part of a hidden test set, which has no answers" in err
    code, out, err = run(*words)
    assert code == 0 and "3 outputs of" in out, err


def test_a_question_set_in_every_way(run: Run, taught: Path) -> None:
    """Outputs, likelihoods of options and of labels, with the picture and without: each metric has its figure."""
    from vcrgen.bloom.options import BloomSceneOptions
    from vcrgen.bloom.scenes.generator import build_scene_set

    build_scene_set(BloomSceneOptions(items=3), Path("bloom"))
    words = ["predict", "bloom", "--transformers", taught, "--out", "p.jsonl", "--param", "max_tokens=4"]
    code, out, err = run(
        *words, "--view", "both", "--rotations", 4, "--answer-logprobs", "--label-logprobs", "--lang", "en"
    )
    assert code == 0 and "24 outputs of" in out, err
    for line in lines("p.jsonl"):
        assert len(line["label_logprobs"]) == 4 and ("logprobs" in line) == (line["rotation"] == 0)
    code, out, err = run("score", "p.jsonl", "--data", "bloom", "--lang", "en", "--format", "json")
    assert code == 0, err
    image, blind = json.loads(out)["runs"][0]["scores"]
    every = {*("rae", "circular", "lbs", "lbs_sum", "lbs_byte", "lbs_char", "lbs_pmi", "letter", "confidence", "brier")}
    assert set(image["metrics"]) - {"trap"} == every and set(blind["metrics"]) - {"trap"} == every - {"lbs_pmi"}


def test_the_commands_of_the_docs(run: Run, taught: Path, dataset: Path) -> None:
    from peft import LoraConfig, get_peft_model

    from vcrgen.models.loading import load_model

    shutil.copytree(dataset, "data/my-vcr")
    shutil.copytree(taught, "models/tiny")
    config = LoraConfig(r=4, target_modules=["q_proj", "v_proj"], init_lora_weights=False)
    get_peft_model(load_model(taught).model, config).save_pretrained("lora")
    blocks = [block for block in BLOCKS if "--transformers" in block]
    commands = [line for block in blocks for line in block.splitlines()]
    for line in commands:
        succeed(run, line)
    assert len(commands) == 4 and outputs("tuned.jsonl") != outputs("tiny.jsonl") == outputs("tiny-sure.jsonl")
    assert {line["model"] for line in lines("tuned.jsonl")} == {"tiny+lora"}


@pytest.fixture(scope="module")
def served(taught: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of `transformers serve`, the server of the library itself, in a process of its own."""
    program = Path(sys.executable).with_name("transformers")
    if not program.exists() or not _has_packages("openai", "uvicorn", "fastapi"):
        pytest.skip('needs pip install "transformers[serving]"')
    free = socket.socket()  # as long as this one has the port, the system gives it to nobody else
    free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
    log = tmp_path_factory.mktemp("server") / "log"
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "HF_HOME": str(log.parent)}
    words = [program, "serve", taught, "--device", "cpu", "--host", "127.0.0.1", "--port", port]
    with log.open("wb") as output:
        process = subprocess.Popen([*map(str, words)], env=environment, stdout=output, stderr=subprocess.STDOUT)
    try:
        deadline = time.monotonic() + 300
        while True:
            assert process.poll() is None and time.monotonic() < deadline, log.read_text("utf-8")
            with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5):
                break
            time.sleep(0.2)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait(60)
        free.close()


def _has_packages(*names: str) -> bool:
    from importlib.util import find_spec

    return all(find_spec(name) for name in names)


@pytest.mark.parametrize("concurrency", [1, 8])
def test_the_server_says_the_same(
    run: Run, here: Path, served: str, taught: Path, taught_data: Path, concurrency: int
) -> None:
    words = ["predict", taught_data, "--endpoint", served, *with_file([{"profile": "transformers"}]), "--model", taught]
    code, _, err = run(*words, "--concurrency", concurrency, "--out", "p.jsonl")
    assert code == 0, err
    assert outputs("p.jsonl") == outputs(here) and len(outputs(here)) == 60


def test_the_server_has_no_log_probabilities(run: Run, served: str, taught: Path, taught_data: Path) -> None:
    words = ["predict", taught_data, "--endpoint", served, "--model", taught, "--answer-logprobs", "--out", "p.jsonl"]
    code, _, err = run(*words, *with_file([{"profile": "transformers"}]))
    assert code == 2 and "Servers of the kind transformers give no log-probabilities of given answers" in err
    code, _, err = run(*words)  # taken for vLLM
    assert code == 2 and "Unexpected fields in the request: {'return_token_ids'}" in err
    assert [file.name for file in Path().iterdir()] == ["server.yaml"]  # and no outputs
