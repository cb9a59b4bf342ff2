"""The commands of the pages on building MCQ benchmarks run."""

import json
import shlex
from collections import defaultdict
from pathlib import Path

from tests.bloom.audit.conftest import exported
from tests.bloom.author import good
from tests.bloom.conftest import png
from tests.bloom.coverage.test_coverage import mmmu
from tests.bloom.test_importing import published
from tests.models.fault_server import FaultServer
from tests.pages import Page, Run, squeeze, succeed
from vcrgen.bloom.audit.draw import read_draw
from vcrgen.data.manifest import read_manifest
from vcrgen.data.tasks.bloom import read_items
from vcrgen.data.tasks.opening import open_task_dataset

# Verdicts of simulated raters, by the first letter of the level.
FIRST = defaultdict(lambda: "approve", c="choices")
PAGES = Page("docs/bloom.md"), Page("docs/bloom-generate.md")
COMMANDS = [line for page in PAGES for line in page.commands]
SERVED = [text for page in PAGES for kind, text in page.blocks if kind == "sh"]


def test_every_command_runs(run: Run) -> None:
    Path("pictures").mkdir()
    Path("pictures/red.png").write_bytes(png())
    Path("questions.json").write_text(json.dumps([published(0), published(1)]))
    Path("categories.csv").write_text("question_id,leaf\nq0,poem\nq1,\n")
    said = ""
    for line in COMMANDS:
        if "audit report" in line:  # what `study export` writes
            exported(read_draw(Path("data/bloom-scenes-audit/draw.json")), Path(), lambda item, _: FIRST[item.path[0]])
        if "--blind" in line:  # what `predict --view text-only` writes
            items = list(read_items(open_task_dataset(Path("data/bloom-scenes")), pictures=False))
            rows = [
                {"question_id": item.question_id, "lang": "en", "view": "text-only", "output": "A"} for item in items
            ]
            for name in "ab":
                Path(f"{name}-text-only.jsonl").write_text("\n".join(map(json.dumps, rows)))
        said += squeeze(succeed(run, line))
    output = [line for page in PAGES for line in page.output]
    assert len(output) == 14 and all(line in said for line in output)
    assert read_manifest(Path("data/bloom-seen")).rejected["answered_text_only"] > 50
    assert len(list(read_items(open_task_dataset(Path("data/demo"))))) == 53
    assert read_manifest(Path("data/bloom-audited")).rejected["excluded"] > 0
    assert all(map(Path.exists, map(Path, ("coverage.html", "bloom-view/index.html", "data/imported/manifest.json"))))


def test_the_walk_through_with_a_server(run: Run) -> None:
    mmmu("MMMU.parquet")
    with FaultServer(good) as server:
        blocks = "".join(text for text in SERVED if "--image-model" not in text)
        lines = blocks.replace("http://127.0.0.1:8000/v1", server.url).splitlines()
        lines.sort(key=lambda line: "coverage" in line)  # of a set that another page makes
        codes = [run(*shlex.split(line)[1:])[0] for line in lines]
    assert codes == [3, 0, 0, 0, 0]
    assert Path("mmmu.csv").exists() and "MMMU" in Path("mmmu.html").read_text()
    for file in Path("data/my-bloom").rglob("*.*"):
        assert file.read_bytes() == Path("data/again", file.relative_to("data/my-bloom")).read_bytes()


def test_the_set_with_generated_pictures(run: Run) -> None:
    (block,) = [text for text in SERVED if "--image-model" in text]
    (settings,) = [text for page in PAGES for kind, text in page.blocks if kind == "yaml" and "image_endpoint" in text]
    with FaultServer(good) as words, FaultServer(good) as images:
        for place, server in (("http://127.0.0.1:8000/v1", words), ("http://127.0.0.1:8001/v1", images)):
            settings = settings.replace(place, server.url)
        Path("server.yaml").write_text(settings)
        Path("few.csv").write_text("level,subcategory,leaf\nremember,core object recognition,animals\n")
        for line in block.splitlines():
            succeed(run, f"{line} --taxonomy few.csv --per-category 3")  # to be quick
        assert {call.body["size"] for call in images.calls} == {"512x512"}
    for file in Path("data/drawn").rglob("*.*"):
        assert file.read_bytes() == Path("data/drawn-again", file.relative_to("data/drawn")).read_bytes()
