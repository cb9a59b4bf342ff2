"""Every command of docs/predict.md runs, in order; those of a model in this process where torch is."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.pages import Page, Run, squeeze, succeed
from vcrgen.bloom.options import BloomGenerationOptions, BloomSceneOptions
from vcrgen.bloom.scenes.generator import build_scene_set
from vcrgen.models.presets import PRESETS
from vcrgen.models.server_options import is_of_servers
from vcrgen.models.servers import SERVERS

PAGE = Page("docs/predict.md")
BLOCKS = [block for kind, block in PAGE.blocks if kind == "bash"]
COMMANDS = [line for block in BLOCKS if "--transformers" not in block for line in block.splitlines()]


KEYS = [name for name, field in BloomGenerationOptions.model_fields.items() if is_of_servers(name, field)]


@pytest.mark.parametrize("name", [*SERVERS, *PRESETS, *KEYS])
def test_the_page_describes_each_server_preset_and_key(name: str) -> None:
    assert f"`{name}`" in PAGE.text


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

    shutil.copytree(dataset, "data/my-vcr")
    shutil.copytree(hidden(), "hidden-2026/public")
    build_scene_set(BloomSceneOptions(items=6), Path("data/my-bloom"))
    for name in ("OPENROUTER_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(name, "sk-0123456789")
    server = serve(plan)
    places = {
        "http://127.0.0.1:8000/v1": server.url,
        "https://openrouter.ai/api/v1": serve(plan).url,
        "https://api.openai.com/v1": serve(plan).url,
        "https://api.anthropic.com/v1": serve(plan).url,
        "https://generativelanguage.googleapis.com/v1beta/openai": serve(plan).url,
    }
    (settings,) = [text for kind, text in PAGE.blocks if kind == "yaml"]
    output = next(text for kind, text in PAGE.blocks if kind == "text")  # of the first command
    for place, url in places.items():
        settings = settings.replace(place, url)
    Path("server.yaml").write_text(settings)
    printed: list[str] = []
    for line in COMMANDS:
        for place, url in places.items():
            line = line.replace(place, url)
        printed.append(succeed(run, line))
    assert squeeze(printed[0]) == squeeze(output)
    plain = [call for call in server.calls if "return_token_ids" not in call.body]
    assert len(COMMANDS) == 14 and len(plain) == 12 + 12 + 24 + 12 + 6 + 6 * 4
