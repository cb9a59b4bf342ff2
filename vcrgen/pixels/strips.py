"""The strip of an image: its lines and the pixels that covers hide, found without any key."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from vcrgen.pixels.energies import Bools, VisibleCell
from vcrgen.typeset.records import Margins

Gray = npt.NDArray[np.uint8]

PAPER = 8  # darkness up to which a pixel is paper
NOISE, LONELY = 3.0, 1.2  # of paper in standard deviations, at most: a pixel, and the mean of the 25 pixels around it
LEAST_ROW = 0.04  # share of a row's columns that letters fill beside a cover
# A shade, neither white nor black, that fills so many squares of so many pixels is a cover's.
PATCH, LEAST_PATCHES = 3, 10
# So is a larger square of several shades, if none is darker than this: strokes of letters are, but for their edges.
TEXTURE, DARKEST = 7, 200
PIECE, PART = 4, 2  # where there is one, smaller squares are pieces of others, and those beside a piece are parts of it
LONGEST_PART = 16  # px from a piece on; without a limit, a drawn maze would take as many steps as it is long
LEAST_RUN = 2  # columns of a cover; single pixels of its shade may be edges of letters
# White rows hide the middle of letters. As shares of the font size: half the height of the rows that are white in any
# of them, and the least length of a cover; the share of its columns in which letters show above or below.
HALF_BAND, SHORTEST, INKED = 0.1, 0.3, 0.2
DOUBTFUL = 2.0  # length of white rows, in font sizes, up to which they may be a part of a letter


@dataclass(frozen=True, slots=True)
class Geometry:
    """Places of the lines of a strip.

    Attributes:
        top: First row of the first line in the image.
        line_height: Rows between two baselines.
        baseline: Rows from the top of a line to its baseline.
        middle: Rows from the baseline up to the middle of most letters.
        size: Font size in pixels.
    """

    top: int
    line_height: int
    baseline: int
    middle: int
    size: int


class WhiteRows(NamedTuple):
    """White rows through letters: first columns and rows, and those after the last ones."""

    left: int
    right: int
    above: int
    below: int


@dataclass(frozen=True, eq=False)
class CoveredLine:
    """A line of a strip, and what covers hide of it.

    Attributes:
        ink: Its darkness, shape (height, width), 0 where it is not seen.
        seen: Pixels that are seen, if there are no white rows.
        grey: First column and the column after the last one of each covered stretch, but for white rows.
        white: The white rows.
        top: First row of the line in the image; it may be negative.
        baseline: Rows from the top to the baseline.
        surroundings: The visible pixels of the line and of the rows around it into which its letters may reach. Where
            the next line's may stand, too, only paper is seen, as ink there is of either.
    """

    ink: Gray
    seen: Bools
    grey: tuple[tuple[int, int], ...]
    white: tuple[WhiteRows, ...]
    top: int
    baseline: int
    surroundings: VisibleCell

    @cached_property
    def cell(self) -> VisibleCell:
        """The visible pixels."""
        visible = self.seen.copy()
        for rows in self.white:
            visible[rows.above : rows.below, rows.left : rows.right] = False
        return VisibleCell(self.ink * visible, visible, self.baseline)

    def cell_of(self, begin: int, end: int, sides: Margins, loose: int) -> VisibleCell:
        """Cut out the visible pixels of a text, and those around it into which its letters may reach.

        Args:
            sides: How far letters reach to the left and to the right; of that, only paper is seen, as ink may be of
                the text beside it.
            loose: As in `VisibleCell`.
        """
        around = self.surroundings
        left, right = min(sides.left, begin), min(sides.right, around.width - end)
        columns = slice(begin - left, end + right)
        visible = around.visible[:, columns].copy()
        for rows in self.white:
            first, last = (max(0, column - columns.start) for column in (rows.left, rows.right))
            visible[around.margins.above + rows.above : around.margins.above + rows.below, first:last] = False
        beside = np.ones(visible.shape[1], dtype=bool)
        beside[left : left + end - begin] = False
        visible[:, beside] &= around.ink[:, columns][:, beside] <= PAPER
        margins = Margins(left, around.margins.above, right, around.margins.below)
        return VisibleCell(around.ink[:, columns] * visible, visible, around.baseline, loose, margins)

    @property
    def stretches(self) -> list[tuple[int, int]]:
        """First column and the column after the last one of each covered stretch, from the left."""
        return sorted([*self.grey, *((rows.left, rows.right) for rows in self.white)])


def find_covers(ink: Gray) -> Bools:
    """Mask the pixels of covers, but for white rows: of shades that fill squares, and of larger grey squares."""
    low, high = (_over_squares(ink, PATCH, worst) for worst in (np.minimum, np.maximum))
    shades, counts = np.unique(low[(low == high) & (low > PAPER) & (low < 250)], return_counts=True)
    return np.isin(ink, shades[counts >= LEAST_PATCHES]) | _textured(ink)


def covered_lines(
    ink: Gray, clean: Gray, covers: Bools, geometry: Geometry, bleed: tuple[int, int]
) -> list[CoveredLine]:
    """Cut an image into its lines, and find what covers hide of each.

    Args:
        ink: Darkness of the image, shape (height, width), in which there is nothing but the strip.
        clean: The same without noise.
        covers: Pixels of covers, but for white rows, of the same shape.
        geometry: Places of its lines.
        bleed: Rows at the top and at the bottom of a line into which letters of its neighbours reach.
    """
    rows = np.flatnonzero((clean > PAPER).any(axis=1))
    count = (int(rows[-1]) - geometry.top) // geometry.line_height + 1 if len(rows) else 0
    lines = []
    for number in range(count):
        top = geometry.top + number * geometry.line_height
        first, last = max(top, 0), min(top + geometry.line_height, len(ink))
        if last - first < geometry.line_height // 2:
            continue
        place = (first - top, top + geometry.line_height - last), (0, 0)
        hidden: Bools = np.pad(covers[first:last], place)
        own, letters = (np.pad(part[first:last], place) * ~hidden for part in (ink, clean))
        seen = ~hidden
        seen[: bleed[0] if number else 0] = False
        seen[geometry.line_height - (bleed[1] if number < count - 1 else 0) :] = False
        if letters.any():
            grey, white = _columns_of(hidden, geometry), _white_rows(letters, geometry)
            around = _surroundings(ink, clean, covers, geometry, top, bleed, number > 0, number < count - 1)
            lines.append(CoveredLine(own, seen, tuple(grey), tuple(white), top, geometry.baseline, around))
    return _with_common_rows(lines, DOUBTFUL * geometry.size)


def _surroundings(
    ink: Gray,
    clean: Gray,
    covers: Bools,
    geometry: Geometry,
    top: int,
    bleed: tuple[int, int],
    has_previous: bool,
    has_next: bool,
) -> VisibleCell:
    """Visible pixels of a line and of the rows above and below it into which its letters may reach."""
    below, above = bleed  # rows of a line into which its neighbours' letters reach: the previous one's reach down
    rows = np.arange(top - above, top + geometry.line_height + below)
    inside = (rows >= 0) & (rows < len(ink))
    place = rows.clip(0, len(ink) - 1)
    paper = clean[place] <= PAPER
    visible = ~covers[place] & inside[:, None]
    # Of the first and the last line the strip may end there, so that paper tells nothing.
    visible[:above] &= paper[:above] if has_previous else ~paper[:above]
    visible[above : above + below] &= paper[above : above + below] | (not has_previous)
    last = above + geometry.line_height
    visible[last - above : last] &= paper[last - above : last] | (not has_next)
    visible[last:] &= paper[last:] if has_next else ~paper[last:]
    return VisibleCell(
        ink[place] * visible, visible, above + geometry.baseline, margins=Margins(above=above, below=below)
    )


def _with_common_rows(lines: Sequence[CoveredLine], doubtful: float) -> list[CoveredLine]:
    """Widen white rows to those that most of them hide, as beside some of them marks look uncovered."""
    above: Counter[int] = Counter()
    below: Counter[int] = Counter()
    for line in lines:
        for rows in line.white:
            if rows.right - rows.left > doubtful:
                columns = int((line.ink[:, rows.left : rows.right] > PAPER).any(axis=0).sum())
                above[rows.above] += columns
                below[rows.below] += columns
    first, last = (max(votes, key=lambda row: (votes[row], row), default=0) for votes in (above, below))

    def common(rows: WhiteRows) -> WhiteRows:
        if rows.right - rows.left <= doubtful:
            return rows
        return rows._replace(above=min(rows.above, first), below=max(rows.below, last))

    return [replace(line, white=tuple(map(common, line.white))) for line in lines]


def without_covers(ink: Gray) -> Gray:
    """Clear the pixels of covers in the darkness of an image, but for white rows."""
    letters: Gray = ink * ~find_covers(ink)
    return letters


def without_noise(ink: Gray, sigma: float) -> tuple[Gray, Gray]:
    """Clear noise in the darkness of an image: in the first result on paper only, in the second near letters, too.

    Args:
        ink: Darkness of the image.
        sigma: Standard deviation of its noise, in grey levels; 0 if it has none.
    """
    if not sigma:
        return ink, ink
    letters: Gray = ink * (_over_squares(np.pad(ink, 2).astype(np.int32), 5, np.add) > 25 * LONELY * sigma)
    dark = letters > NOISE * sigma
    clean: Gray = ink * (dark & (_over_squares(np.pad(dark, 1).astype(np.int32), 3, np.add) > 1))
    return letters, clean


def _textured(ink: Gray) -> Bools:
    """Mask the pixels of covers of several shades; of letters at their edges the pixels directly beside them, too."""
    grey = (ink > PAPER) & (ink <= DARKEST)
    whole, pieces, parts = (
        _spread(_over_squares(grey, size, np.minimum), size, ink.shape) for size in (TEXTURE, PIECE, PART)
    )
    if not whole.any():
        return whole
    for _ in range(LONGEST_PART):
        if not ((wider := _beside(pieces) & parts) & ~pieces).any():
            break
        pieces |= wider
    return pieces | (_beside(pieces) & grey)


def _over_squares(values: npt.NDArray[Any], size: int, join: np.ufunc) -> npt.NDArray[Any]:
    """Join the values of each square, given by its first row and column; there are none in a smaller image."""
    if min(values.shape) < size:
        return values[:0, :0]
    for _ in range(2):
        starts = len(values) - size + 1
        values = reduce(join, (values[at : at + starts] for at in range(size))).T
    return values


def _spread(corners: Bools, size: int, shape: tuple[int, ...]) -> Bools:
    """Mask the pixels of squares, given by their first row and column."""
    rows = np.zeros((shape[0], corners.shape[1]), dtype=bool)
    mask = np.zeros(shape, dtype=bool)
    for at in range(size):
        rows[at : at + len(corners)] |= corners
    for at in range(size):
        mask[:, at : at + corners.shape[1]] |= rows
    return mask


def _beside(mask: Bools) -> Bools:
    """Widen a mask by the pixels directly beside it."""
    return _over_squares(np.pad(mask, 1), 3, np.maximum)


def _columns_of(hidden: Bools, geometry: Geometry) -> list[tuple[int, int]]:
    """Stretches of columns in which most letters' middle is hidden."""
    row: Bools = hidden[geometry.baseline - geometry.middle]
    return [(first, last) for first, last in _runs(row) if last - first >= LEAST_RUN]


def _white_rows(ink: Gray, geometry: Geometry) -> list[WhiteRows]:
    """Find rows without ink through the middle of letters that have ink above and below."""
    middle, half = geometry.baseline - geometry.middle, max(1, round(HALF_BAND * geometry.size))
    dark = ink > PAPER
    white = []
    blank = dark[middle - half : middle + half + 1].max(axis=0) == 0
    for first, last in _runs(blank):
        columns = np.flatnonzero(dark[:, first:last].any(axis=0))
        if not len(columns):
            continue
        left, right = first + int(columns[0]), first + int(columns[-1]) + 1
        box = dark[:, left:right]
        over, under = box[: middle - half], box[middle + half + 1 :]
        if right - left < SHORTEST * geometry.size or not (over.any() and under.any()):
            continue
        if box.any(axis=0).mean() < INKED:
            continue
        # Letters beside the cover may reach into these columns, so its ends do not tell its rows.
        edge = min(geometry.size // 2, (right - left) // 4)
        inner = box[:, edge : right - left - edge]
        rows = np.flatnonzero(inner.mean(axis=1) > LEAST_ROW)
        above, below = rows[rows < middle].max(initial=-1) + 1, rows[rows > middle].min(initial=len(ink))
        white.append(WhiteRows(first, last, int(above), int(below)))
    return white


def _runs(flags: Bools) -> list[tuple[int, int]]:
    """Stretches of true values: the first index, and that after the last one."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], flags, [False])).astype(np.int8)))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))
