"""Every command of the pages on predictions runs, in order; those of a model in this process where torch is."""

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

PAGES = [Page(path) for path in ("docs/predict.md", "docs/predict-servers.md", "docs/logprobs.md")]
BLOCKS = [block for page in PAGES for kind, block in page.blocks if kind == "bash"]
COMMANDS = [line for block in BLOCKS if "--transformers" not in block for line in block.splitlines()]


@pytest.mark.parametrize("name", [*SERVERS, *PRESETS])
def test_the_pages_describe_each_server_and_preset(name: str) -> None:
    assert any(f"`{name}`" in page.text for page in PAGES)


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
    for name in ("OPENROUTER_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(name, "sk-0123456789")
    server = serve(plan)
    places = {
        "http://127.0.0.1:8000/v1": server.url,
        "https://openrouter.ai/api/v1": f"{serve(plan).url} --profile openrouter",
        "https://api.openai.com/v1": f"{serve(plan).url} --profile openai",
        "https://api.anthropic.com/v1": f"{serve(plan).url} --profile anthropic",
        "https://generativelanguage.googleapis.com/v1beta/openai": f"{serve(plan).url} --profile gemini",
    }
    for line in COMMANDS:
        for place, url in places.items():
            line = line.replace(place, url)
        succeed(run, line)
    plain = [call for call in server.calls if "return_token_ids" not in call.body]
    assert len(COMMANDS) == 14 and len(plain) == 12 + 12 + 24 + 3 + 12 + 6 + 6 * 4
