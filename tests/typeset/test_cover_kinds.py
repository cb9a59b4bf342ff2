"""Every row of the table of covers is drawn, documented and in the gallery; the commands of docs/covers.md run."""

import re

import pytest

from tests.pages import ROOT, Page, Run, succeed
from vcrgen.builder.options import BuildConfig
from vcrgen.core.resources import load_object
from vcrgen.text.languages import LANGUAGES
from vcrgen.typeset.cover_kinds import COVER_KINDS, ROWS, CoverKind
from vcrgen.typeset.paper_kinds import PAPER_KINDS

PAGE = Page("docs/covers.md")


@pytest.mark.parametrize("kind", COVER_KINDS.values(), ids=list(COVER_KINDS))
def test_a_row(kind: CoverKind) -> None:
    assert BuildConfig(cover=kind.name).cover == kind.name
    assert (kind.name == ROWS) == (not kind.draw)
    assert kind.name == ROWS or callable(load_object(kind.draw))
    assert callable(load_object(kind.calibrator).nearest)
    assert f"| `{kind.name}` | {kind.description} |" in PAGE.text
    gallery = Page("docs/gallery.md").text
    assert f"### `--cover {kind.name}`\n\n{kind.description}\n\n![{kind.name}]" in gallery


def test_the_gallery_has_an_image_of_every_cover_and_language() -> None:
    shown = re.findall(
        r"!\[[^\]]+\]\((gallery/[\w-]+\.png)\)", Page("docs/gallery.md").text + Page("docs/images.md").text
    )
    assert {
        f"gallery/{name}.png" for name in (*COVER_KINDS, *LANGUAGES, *(f"paper-{name}" for name in PAPER_KINDS))
    } <= set(shown)
    files = list((ROOT / "docs" / "gallery").iterdir())
    assert {f"gallery/{file.name}" for file in files} == set(shown)
    assert sum(file.stat().st_size for file in files) < 600_000


def test_the_commands_of_the_page(run: Run) -> None:
    assert PAGE.execute() == 1 and len(PAGE.commands) == 5
    for line in PAGE.commands:
        succeed(run, line.replace("samples:40 --c", "samples:6 --c"))
