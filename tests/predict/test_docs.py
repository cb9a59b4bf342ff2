"""Every command of docs/predict.md runs, one after another; those of a model in this process where torch is."""

import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

DOCS = (Path(__file__).resolve().parents[2] / "docs" / "predict.md").read_text("utf-8")
BLOCKS = re.findall(r"^```bash\n(.*?)^```", DOCS, re.MULTILINE | re.DOTALL)
COMMANDS = [line for block in BLOCKS if "--transformers" not in block for line in block.splitlines()]


def test_commands(
    run: Callable[..., tuple[int, str, str]],
    dataset: Path,
    hidden: Callable[..., Path],
    serve: Any,
    faults: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-0123456789")
    shutil.copytree(dataset, "data/my-vcr")
    shutil.copytree(hidden(), "hidden-2026/public")
    server = serve(faults.with_likelihoods)
    for line in COMMANDS:
        program, *words = shlex.split(line.replace("http://127.0.0.1:8000/v1", server.url))
        code, out, err = run(*words)
        assert program == "vcrgen" and code == 0, (line, out, err)
    plain = [call for call in server.calls if "return_token_ids" not in call.body]
    assert len(COMMANDS) == 7 and len(plain) == 24 + 3 + 12 + 6
