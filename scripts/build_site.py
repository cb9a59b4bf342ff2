"""Build the documentation site of mkdocs.yml in build/site.

    pip install zensical mkdocstrings-python
    python scripts/build_site.py

The README becomes the first page: its links into docs/ lead to pages, and other files of the checkout are copied.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BESIDE = ("THIRD_PARTY.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "AGENTS.md", "LICENSE")


def gather(out: Path) -> None:
    """Copy all pages to a folder, with links as they are there."""
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(ROOT / "docs", out)
    (out / "index.md").write_text(as_page((ROOT / "README.md").read_text("utf-8")), "utf-8")
    for name in BESIDE:
        target = out / (name if name.endswith(".md") else f"{name}.txt")
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


def main() -> int:
    """Gather the pages and run the generator; the exit code is its own."""
    gather(ROOT / "build" / "site-docs")
    return subprocess.run([sys.executable, "-m", "zensical", "build", "--clean"], cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main())
