"""The example of the page on scoring MCQ benchmarks is true, and its commands run."""

import json
from pathlib import Path
from typing import Any

from tests.pages import Page, Run, squeeze, succeed
from vcrgen.bloom.options import BloomSceneOptions
from vcrgen.bloom.scenes.generator import build_scene_set
from vcrgen.data.tasks.bloom import read_items
from vcrgen.data.tasks.opening import open_task_dataset

PAGE = Page("docs/bloom-scores.md")


def test_every_example_holds() -> None:
    assert PAGE.execute() == 1


def test_every_command_runs(run: Run, serve: Any, faults: Any) -> None:
    build_scene_set(BloomSceneOptions(items=25), Path("data/my-bloom"))
    lines = [
        json.dumps({"question_id": item.question_id, "lang": lang, "output": "A", "model": "bloom"})
        for item in read_items(open_task_dataset("data/my-bloom"), pictures=False)
        for lang in item.questions
    ]
    Path("bloom.jsonl").write_text("\n".join(lines))
    server = serve(lambda call: faults.Answer(text="A"))
    said = "".join(succeed(run, line.replace("http://127.0.0.1:8000/v1", server.url)) for line in PAGE.commands)
    assert len(PAGE.output) == 5 and all(line in squeeze(said) for line in PAGE.output)
    assert len(PAGE.commands) == 7 and len(server.calls) == 125 + 25  # open answers for the judge
    assert "Not tested: no language has 100 items" in said
