"""mkdocs.yml and scripts/build_site.py: the documentation site."""

import re
from pathlib import Path
from types import ModuleType

import pytest

from tests.loading import load_script
from tests.pages import ROOT

NAVIGATION = (ROOT / "mkdocs.yml").read_text("utf-8").partition("\nnav:\n")[2]
README = (ROOT / "README.md").read_text("utf-8")


@pytest.fixture(scope="module")
def build_site() -> ModuleType:
    return load_script("build_site")


def test_the_navigation_has_every_page_once_and_few_entries() -> None:
    pages = [page.relative_to(ROOT / "docs").as_posix() for page in ROOT.glob("docs/**/*.md")]
    entries = re.findall(r"[\w/-]+\.md", NAVIGATION)
    assert sorted(entries) == sorted([*pages, "AGENTS.md"]) and len(entries) <= 30


def test_the_first_page_has_a_card_for_each_row_of_the_readme(build_site: ModuleType) -> None:
    page = build_site.front_page(build_site.as_page(README))
    cards = re.findall(r"^-   \*\*(.*)\*\*\n\n    (.*)$", page, re.MULTILINE)
    goals = re.findall(r"^\| ([a-z][^|]*) \| \[", README, re.MULTILINE)
    assert [title.lower() for title, _ in cards] == [goal.lower() for goal in goals] and len(cards) >= 10
    assert page.index("grid cards") < page.index("## Begin") and "| to | read |" not in page


def test_a_readme_without_its_table_is_told(build_site: ModuleType) -> None:
    with pytest.raises(ValueError, match="no section `Read on`"):
        build_site.front_page("# vcrgen\n\n## Begin\n")


def test_links_of_gathered_pages_lead_to_files(build_site: ModuleType, tmp_path: Path) -> None:
    build_site.gather(tmp_path / "pages")
    for page in (tmp_path / "pages").rglob("*.md"):
        text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text("utf-8"), flags=re.DOTALL)
        for link in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", text):
            assert (page.parent / link).is_file(), f"{page.name}: {link}"
