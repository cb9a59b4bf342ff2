"""Placement of distractors: covers that hide no text, so that a cover alone does not mark an answer."""

from collections.abc import Iterable, Sequence
from random import Random

from vcrgen.builder.records import PairParts
from vcrgen.typeset.records import Box
from vcrgen.typeset.shaping import line_length

DRAWS = 50  # places that are tried for each
MIN_DISTANCE = 0.3  # between two of them, in heights of a line
MIN_PAPER = 2.0  # width of blank paper that is used, in heights of a line


def place_distractors(
    parts: PairParts, count: int, rng: Random, *, on_paper: bool
) -> tuple[list[Box], list[Box]] | None:
    """Draw places for distractors, each as high as a line and as wide as one of the pair's covers.

    Every other one stands on blank paper beside the text, if there is any.

    Returns:
        Places on VI and places on the strip, in pixels of each; None if so many do not fit.
    """
    line = parts.layout.line_height
    widths = [cell.line_box.x1 - cell.line_box.x0 for cells in parts.cells.values() for cell in cells]
    photo: list[Box] = []
    strip: list[Box] = []
    paper = _blank_paper(parts) if on_paper else []
    for number in range(count):
        places = [(photo, [Box(0, 0, parts.photo.width, parts.photo.height)])]
        if paper:
            places.insert(number % 2, (strip, paper))
        for occupied, regions in places:
            if place := _draw(rng, widths, line, regions, occupied):
                occupied.append(place)
                break
        else:
            return None
    return photo, strip


def _blank_paper(parts: PairParts) -> list[Box]:
    """The sufficiently wide parts of lines that have no text."""
    layout, line = parts.layout, parts.layout.line_height
    regions = []
    for number, row in enumerate(layout.lines):
        gap, top = round(MIN_DISTANCE * line), layout.top_of(number)
        for x0, x1 in ((0, row.x - gap), (row.x + line_length(row.glyphs) + gap, layout.width)):
            if x1 - x0 >= MIN_PAPER * line:
                regions.append(Box(x0, top, x1, top + line))
    return regions


def _draw(rng: Random, widths: Sequence[int], line: int, regions: Sequence[Box], occupied: Iterable[Box]) -> Box | None:
    """Draw a place in one of the regions that is clear of the places taken; None if there is none."""
    distance = round(MIN_DISTANCE * line)
    for _ in range(DRAWS):
        region = regions[int(rng.random() * len(regions))]
        width = min(widths[int(rng.random() * len(widths))], region.x1 - region.x0)
        x0 = region.x0 + int(rng.random() * (region.x1 - region.x0 - width + 1))
        y0 = region.y0 + int(rng.random() * (region.y1 - region.y0 - line + 1))
        box = Box(x0, y0, x0 + width, y0 + line)
        free = all(
            box.x1 + distance <= other.x0
            or other.x1 + distance <= box.x0
            or box.y1 + distance <= other.y0
            or other.y1 + distance <= box.y0
            for other in occupied
        )
        if free and region.y0 <= y0 and box.y1 <= region.y1:
            return box
    return None
