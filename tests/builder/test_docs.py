"""Every command and every line of Python of docs/covers.md runs; the gallery shows all that there is."""

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from vcrgen.cli import app
from vcrgen.text.languages import LANGUAGES
from vcrgen.typeset.cover import COVERS

DOCS = Path(__file__).resolve().parents[2] / "docs"
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", (DOCS / "covers.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)


def test_the_walk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert [kind for kind, _ in BLOCKS] == ["bash", "python"]
    exec(compile(BLOCKS[1][1], "docs/covers.md", "exec"), {"__name__": "docs"})
    lines = BLOCKS[0][1].splitlines()
    assert len(lines) == 5
    for line in lines:
        program, *words = shlex.split(line.replace("samples:40 --c", "samples:6 --c"), comments=True)
        result = CliRunner().invoke(app, words)
        assert program == "vcrgen" and result.exit_code == 0, (line, result.output)
        if "calibrate" in words:
            assert "stain-0." in result.output and Path("calibration-en-default-20-stain.png").stat().st_size > 1000
            assert "Uneven" not in result.output


def test_the_gallery_shows_every_cover_and_every_language() -> None:
    page = (DOCS / "gallery.md").read_text("utf-8")
    pictures = re.findall(r"!\[\w+\]\((gallery/\w+\.png)\)", page)
    assert {f"gallery/{name}.png" for name in (*COVERS, *LANGUAGES)} <= set(pictures)
    files = list((DOCS / "gallery").iterdir())
    assert {f"gallery/{file.name}" for file in files} == set(pictures)
    assert sum(file.stat().st_size for file in files) < 600_000
