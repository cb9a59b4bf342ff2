"""The examples of docs/bloom-scores.md are true, and its commands run."""

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

from vcrgen.bloom.maker import build_questions
from vcrgen.config import BloomOptions
from vcrgen.tasks.bloom import read_items
from vcrgen.tasks.opening import open_any

PAGE = Path(__file__).resolve().parents[3] / "docs" / "bloom-scores.md"


def test_every_example_holds() -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    names: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
    assert len(blocks) == 9


def test_every_command_runs(run: Callable[..., tuple[int, str, str]], serve: Any, faults: Any) -> None:
    build_questions(BloomOptions(items=25), Path("data/my-bloom"))
    for name, letter in (("bloom", "A"), ("turned", "B")):
        lines = [
            json.dumps({"question_id": item.question_id, "lang": lang, "output": letter, "model": name})
            for item in read_items(open_any("data/my-bloom"), pictures=False)
            for lang in item.questions
        ]
        Path(f"{name}.jsonl").write_text("\n".join(lines))
    server = serve(lambda call: faults.Answer(text="A"))
    blocks = re.findall(r"```bash\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    commands = [line for block in blocks for line in block.splitlines()]
    for command in commands:
        program, *words = shlex.split(command.replace("http://127.0.0.1:8000/v1", server.url))
        code, out, err = run(*words)
        assert program == "vcrgen" and code == 0, (command, out, err)
    assert len(commands) == 7 and len(server.calls) == 50 and "| en | always A |" in Path("blind.md").read_text("utf-8")
