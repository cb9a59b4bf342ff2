"""The examples of the pages on scoring MCQ benchmarks are true, and their commands run."""

import json
from pathlib import Path
from typing import Any

from tests.pages import Page, Run, squeeze, succeed
from vcrgen.bloom.options import BloomSceneOptions
from vcrgen.bloom.scenes.generator import build_scene_set
from vcrgen.data.tasks.bloom import read_items
from vcrgen.data.tasks.opening import open_task_dataset

PAGES = Page("docs/bloom-answers.md"), Page("docs/bloom-scores.md")
COMMANDS = [line for page in PAGES for line in page.commands]


def test_every_example_holds() -> None:
    assert sum(page.execute() for page in PAGES) == 9


def test_every_command_runs(run: Run, serve: Any, faults: Any) -> None:
    build_scene_set(BloomSceneOptions(items=25), Path("data/my-bloom"))
    for name, letter in (("bloom", "A"), ("turned", "B")):
        lines = [
            json.dumps({"question_id": item.question_id, "lang": lang, "output": letter, "model": name})
            for item in read_items(open_task_dataset("data/my-bloom"), pictures=False)
            for lang in item.questions
        ]
        Path(f"{name}.jsonl").write_text("\n".join(lines))
    server = serve(lambda call: faults.Answer(text="A"))
    said = "".join(succeed(run, line.replace("http://127.0.0.1:8000/v1", server.url)) for line in COMMANDS)
    assert len(PAGES[1].opening) == 5 and all(line in squeeze(said) for line in PAGES[1].opening)
    assert len(COMMANDS) == 11 and len(server.calls) == 125 + 25  # open answers for the judge
    assert "Not tested: no language has 100 items" in Path("text-only.md").read_text("utf-8")
