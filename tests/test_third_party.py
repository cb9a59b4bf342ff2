"""Shipped works of others are named with their license: in THIRD_PARTY.md, and in the metadata of the package."""

import re
import tomllib

from tests.pages import ROOT

NOTICES = (ROOT / "THIRD_PARTY.md").read_text("utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
LICENCES = PROJECT["license"].split(" AND ")


def test_every_shipped_font_is_named() -> None:
    fonts = tomllib.loads((ROOT / "fonts" / "fonts.toml").read_text("utf-8"))
    for font in fonts.values():
        if not font.get("fetched"):
            licence = font["license"].split(" OR ")[0]
            (row,) = (line for line in NOTICES.splitlines() if font["family"].split()[0] in line and "`fonts/`" in line)
            assert licence in row and font["family"].split()[-1] in row, font["family"]
            assert licence in LICENCES and (ROOT / "fonts" / font["license_file"]).is_file()


def test_every_source_of_word_lists_is_named() -> None:
    sources = set()
    for file in (ROOT / "vcrgen" / "text").rglob("*.txt"):
        head = " ".join(line for line in file.read_text("utf-8").splitlines()[:8] if line.startswith("#"))
        sources |= set(re.findall(r"pypi\.org/project/([\w-]+)|\b(CLDR \d+|OpenCorpora|Unicode \d+)", head))
        if "Licence of this file" in head:
            assert "Licence of this file: CC BY-SA 4.0." in head, file
    names = {name for pair in sources for name in pair if name}
    assert len(names) >= 7 and [name for name in names if name not in NOTICES] == []


def test_the_metadata_name_every_licence_of_the_notices() -> None:
    named = re.findall(r"\| (?:\[)?([A-Z][\w.]*-[\w.-]+|IPA|MIT)[^|]*\|$", NOTICES, re.M)
    assert set(named) | {"Apache-2.0"} == set(LICENCES)
    assert {"LICENSE", "THIRD_PARTY.md"} <= set(PROJECT["license-files"])
