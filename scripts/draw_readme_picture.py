"""Draw docs/vcr.png: one built-in pair in easy and hard in English, and in easy in three other scripts.

python scripts/draw_readme_picture.py
"""

from __future__ import annotations

from pathlib import Path

from PIL import Image

from vcrgen import VCRTransform
from vcrgen.samples import sample_pair

INDEX = 51
PANELS = (("en", "easy"), ("en", "hard"), ("zh", "easy"), ("ja", "easy"), ("ar", "easy"))
MARGIN = 16


def main() -> None:
    panels = []
    for lang, mode in PANELS:
        pair = sample_pair(lang, INDEX)
        example = VCRTransform(lang=lang, mode=mode)({"image": pair.image, "caption": pair.caption})
        panels.append(example["stacked_image"])
    width = sum(panel.width for panel in panels) + MARGIN * (len(panels) + 1)
    height = max(panel.height for panel in panels) + 2 * MARGIN
    sheet = Image.new("RGB", (width, height), "#d8dee6")
    x = MARGIN
    for panel in panels:
        sheet.paste(panel, (x, MARGIN))
        x += panel.width + MARGIN
    target = Path(__file__).resolve().parents[1] / "docs" / "vcr.png"
    target.parent.mkdir(exist_ok=True)
    sheet.save(target, optimize=True)


if __name__ == "__main__":
    main()
