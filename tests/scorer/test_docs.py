"""The examples of docs/scoring.md and docs/protocols.md are true, and the commands run."""

import io
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.loading import load_script
from tests.pages import Page, Run, squeeze, succeed
from vcrgen import build
from vcrgen.data.tasks.task import VCR_TASK
from vcrgen.scorer import load_answers
from vcrgen.scorer.protocols import find_protocol

PAGE = Page("docs/scoring.md")


def test_every_example_holds() -> None:
    assert PAGE.execute() >= 1
    assert Page("docs/protocols.md").execute() >= 6


def test_every_protocol_of_spans_is_in_the_table() -> None:
    for name in VCR_TASK.protocols:
        assert f"`{find_protocol(name).name}`" in Page("docs/protocols.md").text, name


def test_every_command_runs(run: Run, serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    build("samples:40", out="data/my-vcr", lang="en", mode="hard")
    rows = list(load_answers(Path("data/my-vcr")).questions)
    for name, wrong_every in (("preds", 4), ("run_a", 2), ("run_b", 4)):
        lines = [
            {"question_id": row.question_id, "mode": "hard"}
            | {"output": "\n".join(row.answers) if number % wrong_every else "no idea"}
            for number, row in enumerate(rows)
        ]
        Path(f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    server = serve()
    for table in re.findall(r"GPT4o\w+\.xlsx", " ".join(PAGE.commands)):
        header, cells = "index,prediction\n", "".join(f"{row.question_id},x\n" for row in rows)
        Path(table).with_suffix(".csv").write_text(header + cells, "utf-8")
    first, *others = PAGE.commands
    printed = squeeze(succeed(run, first))
    (shown,) = [text for kind, text in PAGE.blocks if kind == "text"]
    assert [line for line in shown.splitlines() if squeeze(line).rstrip("…") not in printed] == []
    for line in others:
        if loop := re.fullmatch(r"for protocol in (.*); do (.*) \| head -n 1; done", line):
            for protocol in loop[1].split():
                succeed(run, loop[2].replace("$protocol", protocol))
        elif pipe := re.fullmatch(r"(.*) \| (vcrgen .*)", line):
            packed = subprocess.run(pipe[1], shell=True, check=True, capture_output=True).stdout
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(packed)))
            succeed(run, pipe[2])
        else:
            said = succeed(run, line.replace(".xlsx", ".csv").replace("http://127.0.0.1:8000/v1", server.url))
            assert "--across" not in line or "Paired by image: 59 images are in both" in " ".join(said.split())
    assert len(PAGE.commands) >= 12


@pytest.mark.parametrize(("points", "mean", "column"), [(10, 70, 1), (5, 90, 2), (10, 70, 0)])
def test_so_many_images_show_a_difference(points: int, mean: int, column: int) -> None:
    simulation = load_script("measure_sample_size")
    (row,) = re.findall(rf"^\| {points} \| {mean} \| (.*) \|$", PAGE.text, re.MULTILINE)
    images = int(row.split(" | ")[column])
    power = simulation.power(images, mean / 100, points / 100, simulation.ALIKE[column], pairs=300)
    assert abs(power - 0.8) < 0.08  # some three standard errors
