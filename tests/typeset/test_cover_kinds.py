"""Every row of the table of covers is drawn and documented; the commands of docs/covers.md run."""

import re

import pytest

from tests.pages import ROOT, Page, Run, succeed
from vcrgen.builder.options import BuildConfig
from vcrgen.core.resources import load_object
from vcrgen.text.languages import LANGUAGES
from vcrgen.typeset.cover_kinds import COVER_KINDS, ROWS, CoverKind

PAGE = Page("docs/covers.md")


@pytest.mark.parametrize("kind", COVER_KINDS.values(), ids=list(COVER_KINDS))
def test_a_row(kind: CoverKind) -> None:
    assert BuildConfig(cover=kind.name).cover == kind.name
    assert (kind.name == ROWS) == (not kind.draw)
    assert kind.name == ROWS or callable(load_object(kind.draw))
    assert callable(load_object(kind.calibrator).nearest)
    assert f"**`{kind.name}`**: {kind.description}\n\n![{kind.name}](gallery/{kind.name}.png)\n" in PAGE.text


def test_the_pages_show_every_image_of_the_gallery() -> None:
    text = PAGE.text + Page("docs/languages.md").text
    files = list((ROOT / "docs" / "gallery").iterdir())
    assert set(re.findall(r"\]\(gallery/([\w-]+\.png)\)", text)) == {file.name for file in files}
    assert {f"{code}.png" for code in LANGUAGES} <= {file.name for file in files}
    assert sum(file.stat().st_size for file in files) < 600_000


def test_the_commands_of_the_page(run: Run) -> None:
    assert PAGE.execute() == 1 and len(PAGE.commands) == 5
    for line in PAGE.commands:
        succeed(run, line.replace("samples:40", "samples:4"))
