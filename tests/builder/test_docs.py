"""Every line of docs/covers.md runs, and every command of docs/scale.md; the gallery shows all that there is."""

import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.pages import ROOT, Page, Run, succeed
from vcrgen.samples import sample_pair
from vcrgen.text.languages import LANGUAGES
from vcrgen.typeset.cover import COVERS

PAGE = Page("docs/covers.md")
GALLERY = ROOT / "docs" / "gallery"


def test_the_walk(run: Run) -> None:
    assert PAGE.execute() == 1 and len(PAGE.commands) == 5
    for line in PAGE.commands:
        out = succeed(run, line.replace("samples:40 --c", "samples:6 --c"))
        if "calibrate" in line:
            assert "stain-0." in out and Path("calibration-en-default-20-stain.png").stat().st_size > 1000
            assert "Uneven" not in out


def test_the_commands_for_many_machines(run: Run) -> None:
    """Without their engines and stores, which tests/test_readme.py and tests/builder/engines/ run."""
    Path("pairs").mkdir()
    rows = [{"image": pair.image, "caption": pair.caption} for pair in (sample_pair("en", place) for place in range(3))]
    pq.write_table(pa.Table.from_pylist(rows), "pairs/part-0.parquet")
    commands = [line for line in Page("docs/scale.md").commands if line.startswith("vcrgen ")]
    for number, line in enumerate(commands):
        local = line.partition(" --engine ")[0].replace("s3://bucket/", "").replace("/shared/vcr", f"vcr-{number}")
        succeed(run, local)
    assert len(commands) == 4 and Path("vcr/_SUCCESS").exists()


def test_the_gallery_shows_every_cover_and_every_language() -> None:
    pictures = re.findall(r"!\[\w+\]\((gallery/\w+\.png)\)", Page("docs/gallery.md").text)
    assert {f"gallery/{name}.png" for name in (*COVERS, *LANGUAGES)} <= set(pictures)
    files = list(GALLERY.iterdir())
    assert {f"gallery/{file.name}" for file in files} == set(pictures)
    assert sum(file.stat().st_size for file in files) < 600_000
