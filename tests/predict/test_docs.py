"""Every command of docs/predict.md runs, one after another; those of a model in this process where torch is."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.pages import Page, Run, succeed
from vcrgen.bloom.scenes.generator import build_scene_set
from vcrgen.config.bloom import BloomSceneOptions
from vcrgen.models.presets import PRESETS
from vcrgen.models.servers import SERVERS

BLOCKS = [block for kind, block in Page("docs/predict.md").blocks if kind == "bash"]
COMMANDS = [line for block in BLOCKS if "--transformers" not in block for line in block.splitlines()]


@pytest.mark.parametrize("name", [*SERVERS, *PRESETS])
def test_the_page_describes_each_server_and_preset(name: str) -> None:
    assert f"`{name}`" in Page("docs/predict.md").text


def test_commands(
    run: Run,
    dataset: Path,
    hidden: Callable[..., Path],
    serve: Any,
    faults: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def plan(call: Any) -> Any:
        first = [{"token": letter, "logprob": -1.5} for letter in "ABCD"]
        told = {"logprobs": {"content": [{"top_logprobs": first}]}} if "top_logprobs" in call.body else {}
        return replace(faults.with_likelihoods(call), choice=told)

    monkeypatch.setenv("MY_KEY", "sk-0123456789")
    shutil.copytree(dataset, "data/my-vcr")
    shutil.copytree(hidden(), "hidden-2026/public")
    build_scene_set(BloomSceneOptions(items=6), Path("data/my-bloom"))
    server = serve(plan)
    for line in COMMANDS:
        succeed(run, line.replace("http://127.0.0.1:8000/v1", server.url))
    plain = [call for call in server.calls if "return_token_ids" not in call.body]
    assert len(COMMANDS) == 10 and len(plain) == 24 + 3 + 12 + 6 + 6 * 4 + 12
