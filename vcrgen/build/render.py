"""Drawing: takes no random and no textual decision."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw

from vcrgen.build.fonts import FontChain
from vcrgen.records import Box, Layout

Gray = npt.NDArray[np.uint8]


def render_strip(layout: Layout, chain: FontChain) -> Gray:
    """The caption, black on white, uncovered.

    Returns:
        Brightness, shape (height, width), 255 = white.
    """
    canvas = Image.new("L", (layout.width, layout.height), 255)
    draw = ImageDraw.Draw(canvas)
    for index, line in enumerate(layout.lines):
        baseline = index * layout.line_height + chain.baseline
        for x, face, text in chain.runs(layout.text[line.start : line.end]):
            draw.text((x, baseline), text, font=face.font, fill=0, anchor="ls")
    return np.asarray(canvas)


def cover_strip(strip: Gray, boxes: Iterable[Box]) -> Gray:
    """A copy of the strip with white boxes."""
    covered = strip.copy()
    for box in boxes:
        covered[box.y0 : box.y1, box.x0 : box.x1] = 255
    return covered
