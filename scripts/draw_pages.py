"""Draw the pictures at the head of pages of docs/: parts of pages that vcrgen writes, as a browser shows them.

    python scripts/draw_pages.py                # docs/view.png, bloom.png, board.png, profile.png, stream.png

Needs chromium on the path.
"""

import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml
from draw_gallery import DOCS, side_by_side
from PIL import Image

from vcrgen.builder.stream import VCRStream

COLOURS = 224
WIDTH, HEIGHT = 1000, 2000  # px of the browser's window
TUTORIAL = r"vcrgen (build photos --cover|hidden new-photos|leaderboard (init|apply|submit|add|close|export)) "


def main() -> None:
    """Draw all of them."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        words = ["--mode", "bits=4", "--cover", "bars", "--font-size", 24, "--width", 480]
        vcrgen("build", "samples:24", *words, "--out", folder / "bars")
        vcrgen("baseline", "template", folder / "bars", "--out", folder / "template.jsonl")
        failures = ["--filter", "outcome=wrong", "--out", folder / "view"]
        vcrgen("view", folder / "bars", folder / "template.jsonl", *failures)
        draw(folder / "view" / "index.html", "view", (0, 262, WIDTH, 976))
        vcrgen("bloom", "build", "--out", folder / "items")
        vcrgen("view", folder / "items", "--out", folder / "bloom")
        draw(folder / "bloom" / "index.html", "bloom", (0, 262, WIDTH, 778))
        follow_tutorial(folder)
        draw(folder / "site" / "board-public-bits-4-stacked.html", "board", (0, 0, WIDTH, 500))
        vcrgen("profile", "--example", "bloom", "--out", folder / "profile.html")
        draw(folder / "profile.html", "profile", (0, 0, WIDTH, 650))
    save(side_by_side(epochs()), "stream")


def vcrgen(*words: object) -> None:
    subprocess.run(["vcrgen", *map(str, words)], check=True, capture_output=True)


def follow_tutorial(folder: Path) -> None:
    """Make the board of docs/tutorial.md by the lines that it needs; what is submitted there is added here."""
    page = (DOCS / "tutorial.md").read_text("utf-8")
    for kind, text in re.findall(r"^```(python|yaml|bash)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        if kind == "python":
            subprocess.run([sys.executable, "-c", text], cwd=folder, check=True)
        elif kind == "yaml":
            settings = folder / "board" / "board.yaml"
            changed = yaml.safe_load(settings.read_text("utf-8")) | yaml.safe_load(text)
            settings.write_text(yaml.safe_dump(changed), "utf-8")
        else:
            for line in filter(re.compile(TUTORIAL).match, text.splitlines()):
                added, submitted = re.subn(r"submit \S+", "add board", line)
                team = ["--team", "Team A"] if submitted else []
                subprocess.run([*shlex.split(added), *team], cwd=folder, check=True, capture_output=True)


def draw(page: Path, name: str, part: tuple[int, int, int, int]) -> None:
    """Write a part of a page as a picture."""
    shot = page.with_suffix(".png")
    window = [f"--window-size={WIDTH},{HEIGHT}", "--hide-scrollbars", f"--screenshot={shot}"]
    window.append("--virtual-time-budget=4000")  # ms in which the page loads its items
    subprocess.run(
        ["chromium", "--headless", "--no-sandbox", "--disable-gpu", *window, page.as_uri()],
        check=True,
        capture_output=True,
    )
    save(Image.open(shot).crop(part), name)


def save(picture: Image.Image, name: str) -> None:
    picture.convert("RGB").quantize(COLOURS).save(DOCS / f"{name}.png", optimize=True)


def epochs() -> list[Image.Image]:
    """Return one pair in three epochs."""
    stream = VCRStream("samples", mode=("easy", "hard"), limit=3, epochs=3, shuffle=False, seed=1)
    return [Image.fromarray(example["image"]) for example in stream if example["source_id"] == "en-000000"]


if __name__ == "__main__":
    main()
