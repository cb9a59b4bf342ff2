"""Draw the pictures at the head of pages of docs/: parts of pages that vcrgen writes, as a browser shows them.

    python scripts/draw_pages.py                # docs/view.png, bloom.png, board.png, profile.png, stream.png

Needs chromium on the path.
"""

import subprocess
import tempfile
from pathlib import Path

from draw_gallery import DOCS, side_by_side
from PIL import Image

from vcrgen.builder.stream import VCRStream

COLOURS = 224
WIDTH, HEIGHT = 1000, 2000  # px of the browser's window


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
        vcrgen("demo", "--out", folder / "demo")
        draw(folder / "demo" / "site" / "board-public-hard-tei.html", "board", (0, 0, WIDTH, 700))
        vcrgen("profile", "--example", "bloom", "--out", folder / "profile.html")
        draw(folder / "profile.html", "profile", (0, 0, WIDTH, 650))
    save(side_by_side(epochs()), "stream")


def vcrgen(*words: object) -> None:
    subprocess.run(["vcrgen", *map(str, words)], check=True, capture_output=True)


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
