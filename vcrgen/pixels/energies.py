"""Squared differences between templates and visible pixels."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view

from vcrgen.core.products import product
from vcrgen.pixels.templates import STEP, Doubles, Floats, Ints, Templates
from vcrgen.typeset.records import NO_MARGINS, Margins

AHEAD = 16  # pen positions whose energies are computed with that of one, where most characters are of one width

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class VisibleCell:
    """The visible pixels of a span in one line, from its first pen position to its last one, and those around it.

    Attributes:
        ink: Darkness, shape (height, width) of a line's part with ``margins``; 0 where nothing is seen.
        visible: Pixels that are seen.
        baseline: Rows from the top of ``ink`` to the baseline.
        loose: Columns at the right end that a text need not fill, where its end is not seen.
        margins: Rows and columns around the line's part, into which its ink may reach.
    """

    ink: npt.NDArray[np.uint8]
    visible: Bools
    baseline: int
    loose: int = 0
    margins: Margins = NO_MARGINS

    @property
    def width(self) -> int:
        """Pixels from the first pen position to the last one."""
        return int(self.ink.shape[1]) - self.margins.left - self.margins.right

    def is_whole(self, pen: int, width: int) -> bool:
        """True if all pixels of the line are seen from a pen position on."""
        left, above, _, below = self.margins
        rows = slice(above, self.ink.shape[0] - below)
        return bool(self.visible[rows, left + pen : left + pen + width].all())


class Energies:
    """Squared differences between templates and the visible pixels of a cell, in steps of darkness.

    Without the squares of the observed ink, so that energies of adjacent characters add up.

    Args:
        ahead: All pen positions that a text may have are needed, not only those that are asked for.
    """

    def __init__(self, templates: Templates, cell: VisibleCell, *, ahead: bool = True) -> None:
        self.templates, self._ahead = templates, ahead
        rows, columns = templates.ink.shape[1:]
        height, width = cell.ink.shape[0], cell.width
        shape = (max(0, -templates.top - cell.baseline) + height + rows, columns + width)
        seen, ink = pixels = np.zeros((2, *shape), dtype=np.float32)
        first = max(0, -templates.top - cell.baseline)  # rows of letters above the line
        # Columns of the margins into which no template reaches are left out.
        left, right = min(cell.margins.left, -templates.left), min(cell.margins.right, columns + templates.left)
        begin, end = -templates.left - left, width - templates.left + right
        cell_columns = slice(cell.margins.left - left, cell.margins.left + width + right)
        seen[first : first + height, begin:end] = cell.visible[:, cell_columns]
        ink[first : first + height, begin:end] = ((cell.ink // STEP) * cell.visible)[:, cell_columns]
        top = first + cell.baseline + templates.top
        self._seen, self._ink = sliding_window_view(pixels[:, top : top + rows], (rows, columns), axis=(1, 2))[:, 0]
        self._filled = np.zeros(width, dtype=bool)
        self._square_sums: dict[bytes, Floats] = {}
        self._table = np.empty((width, len(templates.ink)), dtype=np.float32)
        self._overlap_columns = templates.overlaps.square.shape[2] if templates.lexicon.pairs.size else 0
        self.squares = _sums((ink[:, begin:end] ** 2).sum(axis=0, dtype=np.float64), left, width)
        self.pixels = _sums(seen[:, begin:end].sum(axis=0, dtype=np.float64), left, width)

    def prepare(self, pens: Sequence[Ints]) -> None:
        """Compute the energies of characters at all pen positions that will be asked for, at once."""
        asked = np.zeros(len(self._filled), dtype=bool)
        for some in pens:
            asked[some] = True
        self._compute(np.flatnonzero(asked))

    def glyphs(self, codes: Ints, pens: Ints) -> Doubles:
        """Energies of characters, each at its pen position; codes, positions and energies have one shape."""
        self._fill(pens)
        return self._table[pens, codes].astype(np.float64)

    def all_glyphs(self, pen: int) -> Doubles:
        """Energies of all characters at one pen position, shape (characters,)."""
        self._fill(np.array([pen]))
        energy: Doubles = self._table[pen].astype(np.float64)
        return energy

    def _fill(self, pens: Ints) -> None:
        for at in self._missing(pens):
            self._compute(at)

    def _compute(self, at: Ints) -> None:
        """Compute the energies of all characters at some pen positions."""
        seen, ink = (pixels[at].reshape(len(at), -1) for pixels in (self._seen, self._ink))
        energy = _product_of_few(ink, self.templates.flat)
        energy *= -2.0
        self._add_squares(energy, seen)
        self._table[at] = energy
        self._filled[at] = True

    def _add_squares(self, energy: Floats, seen: Floats) -> None:
        """Add the squared darkness of all characters in the pixels that are seen; a row is a pen position."""
        if self.templates.stride == 1:
            energy += _product_of_few(seen, self.templates.flat_square)
            return
        # Of characters of one width many pen positions see alike.
        keys = [row.tobytes() for row in seen]
        missing = {key: row for row, key in enumerate(keys) if key not in self._square_sums}
        if missing:
            sums = _product_of_few(seen[list(missing.values())], self.templates.flat_square)
            self._square_sums |= zip(missing, sums, strict=True)
        for row, key in zip(energy, keys, strict=True):
            row += self._square_sums[key]

    def tails(self, pen: int) -> Doubles:
        """Energies of characters' ink beyond the next pen position, shape (characters,); 0 of those without."""
        codes, first, tails, squares = self.templates.tails
        energy = np.zeros(len(self.templates.ink))
        seen, ink = self._seen[pen][:, first:].ravel(), self._ink[pen][:, first:].ravel()
        energy[codes] = product(squares, seen) - 2.0 * product(tails, ink)
        return energy

    def _missing(self, pens: Ints) -> Iterator[Ints]:
        """Yield groups of pen positions that are not in the table yet."""
        asked, stride = np.zeros(len(self._filled), dtype=bool), self.templates.stride
        asked[pens] = True
        missing = np.flatnonzero(asked & ~self._filled)
        if not len(missing):
            return
        if self._ahead:
            for rest in np.unique(missing % stride):
                yield np.arange(rest, len(self._filled), stride)
            return
        first = int(missing[0])
        if stride > 1 and (first == 0 or (first >= stride and self._filled[first - stride])):
            # A text goes on there; the next places cost little beside the first one.
            ahead = np.unique(missing[:, None] + stride * np.arange(AHEAD))
            ahead = ahead[ahead < len(self._filled)]
            missing = ahead[~self._filled[ahead]]
        yield missing

    def of_overlaps(self, pairs: Ints, pens: Ints) -> Doubles:
        """Energies that overlaps add, by the pen position of a pair's second character; 0 for pairs of number -1."""
        overlaps, energy = self.templates.overlaps, np.zeros(len(pairs))
        touching = np.flatnonzero(pairs >= 0)
        seen = self._seen[pens[touching]][:, :, : self._overlap_columns]
        ink = self._ink[pens[touching]][:, :, : self._overlap_columns]
        square, linear = overlaps.square[pairs[touching]], overlaps.linear[pairs[touching]]
        energy[touching] = np.einsum("nij,nij->n", square, seen) - 2.0 * np.einsum("nij,nij->n", linear, ink)
        return energy

    def of_overlaps_at(self, pairs: Ints, pen: int) -> Doubles:
        """Energies that overlaps add, for pairs whose second characters are at one pen position; no number is -1."""
        overlaps, columns = self.templates.overlaps, self._overlap_columns
        seen, ink = self._seen[pen][:, :columns].ravel(), self._ink[pen][:, :columns].ravel()
        shape = len(pairs), seen.size
        square, linear = overlaps.square[pairs].reshape(shape), overlaps.linear[pairs].reshape(shape)
        energy: Doubles = product(square, seen).astype(np.float64) - 2.0 * product(linear, ink)
        return energy


def _product_of_few(pixels: Floats, characters: Floats) -> Floats:
    """Multiply pixels at pen positions by those of characters, without the pixels that are 0 everywhere."""
    few = np.flatnonzero(pixels.any(axis=0))
    return product(pixels[:, few], characters[few]) if 2 * len(few) < len(characters) else product(pixels, characters)


def _sums(columns: Doubles, left: int, width: int) -> Doubles:
    """Sums up to each pen position; what columns before the first and after the last have goes with these."""
    sums: Doubles = np.append(0.0, np.cumsum(columns)[left : left + width])
    sums[-1] = columns.sum()
    return sums
