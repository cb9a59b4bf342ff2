"""Draw docs/vcr.png: one built-in pair in easy, in hard, and without its image.

python scripts/draw_readme_picture.py
"""

from __future__ import annotations

from pathlib import Path

from PIL import Image

from vcrgen import VCRTransform
from vcrgen.samples import sample_pair

INDEX = 51
MARGIN = 16


def main() -> None:
    pair = sample_pair("en", INDEX)
    example = {"image": pair.image, "caption": pair.caption}
    easy, hard = (VCRTransform(lang="en", mode=mode)(example) for mode in ("easy", "hard"))
    chinese = sample_pair("zh", INDEX)
    zh = VCRTransform(lang="zh", mode="easy")({"image": chinese.image, "caption": chinese.caption})
    panels = [easy["stacked_image"], hard["stacked_image"], zh["stacked_image"], hard["only_it_image"]]
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
