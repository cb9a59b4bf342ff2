"""Build the documentation site of mkdocs.yml in build/site.

    pip install zensical mkdocstrings-python ruff
    python scripts/build_site.py

The README becomes the first page, with a card for each row of its table of what to read. Its links into docs/ lead to
pages, and other files of the checkout are copied.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BESIDE = ("THIRD_PARTY.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "AGENTS.md", "CITATION.cff", "LICENSE")
ROWS = re.compile(r"^## Read on\n\n\| to \| read \|\n\|---\|---\|\n((?:\|.*\|\n)+)\n", re.MULTILINE)
# The first page has no navigation beside it, which its cards are.
FRONT = "---\nhide: [navigation, toc]\n---\n\n"


def gather(out: Path) -> None:
    """Copy all pages to a folder, with links as they are there."""
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(ROOT / "docs", out)
    (out / "index.md").write_text(front_page(as_page((ROOT / "README.md").read_text("utf-8"))), "utf-8")
    for name in BESIDE:
        target = out / (name if Path(name).suffix else f"{name}.txt")
        target.write_text(as_page((ROOT / name).read_text("utf-8")), "utf-8")
    for page in out.rglob("*.md"):
        text = (
            page.read_text("utf-8")
            .replace("](../README.md", "](index.md")
            .replace("](../../README.md", "](../index.md")
        )
        page.write_text(re.sub(r"\]\(\.\./([A-Z_]+\.md)", r"](\1", text), "utf-8")


def as_page(text: str) -> str:
    """Return a text of the checkout's top folder with its links as of a page of the site."""
    return re.sub(r"\]\(docs/", "](", text).replace("](LICENSE)", "](LICENSE.txt)").replace("](README.md", "](index.md")


def front_page(readme: str) -> str:
    """Return the README with its table of what to read as cards before the first section.

    Raises:
        ValueError: There is no such table.
    """
    table = ROWS.search(readme)
    if table is None:
        raise ValueError("README.md has no section `Read on` with a table `to | read`.")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table[1].splitlines()]
    cards = "\n".join(f"-   **{goal[0].upper()}{goal[1:]}**\n\n    {pages}\n" for goal, pages in rows)
    introduction, begin, rest = readme.replace(table[0], "").partition("## Begin\n")
    return f'{FRONT}{introduction}<div class="grid cards" markdown>\n\n{cards}\n</div>\n\n{begin}{rest}'


def main() -> int:
    """Gather the pages and run the generator; the exit code is its own."""
    gather(ROOT / "build" / "site-docs")
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    environment = os.environ | {"VCRGEN_SITE_NAME": f"vcrgen {version}"}
    return subprocess.run([sys.executable, "-m", "zensical", "build", "--clean"], cwd=ROOT, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
