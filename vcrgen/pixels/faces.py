"""Finding the face and the size of a strip among known faces, by its uncovered characters."""

from functools import lru_cache
from pathlib import Path

import numpy as np

from vcrgen.pixels.attack import FIRST_COLUMNS, MATCHED_COLUMNS, SURE, Typeface
from vcrgen.pixels.lexicon import Lexicon
from vcrgen.pixels.strips import PAPER, Gray, without_covers
from vcrgen.text.languages import language_row
from vcrgen.typeset.fonts import FontChain, line_height, resolve_font, text_faces

LEAST_SIZE, MOST_SIZE = 10, 64  # px
SIZES = 2  # sizes that are tried, the likeliest ones by the distance of lines
LEAST_LIKE = 0.05  # share below which a face is none of the strip's
CANDIDATES = 3  # faces that are tried to read the whole strip


class FaceFinder:
    """Finds the face of a strip; the language's own face is tried first.

    Args:
        font: A font file or a name of the registry instead of all shipped faces that can set the language.
    """

    def __init__(self, words: Lexicon, font: str | None = None) -> None:
        self._words = words
        usual = language_row(words.lang).fonts[0]
        names = [font] if font else sorted(text_faces(words.lang), key=lambda name: name != usual)
        self._fonts = [resolve_font(name) for name in names]
        self._face = lru_cache(maxsize=64)(self._open)

    def _open(self, font: tuple[Path, int], size: int) -> Typeface:
        chain = FontChain([font], size=size)
        name = f"{font[0].stem} {size} px"
        return Typeface(name, chain.glyph, self._words, size, chain.line_height, chain.baseline)

    def candidates(self, ink: Gray) -> list[tuple[Typeface, int]]:
        """Likeliest faces of a strip, each with the row of the first baseline; the best one first."""
        ink = without_covers(ink)
        sizes = _sizes(ink)
        matches: dict[str, tuple[float, Typeface, int]] = {}
        for columns in (FIRST_COLUMNS, MATCHED_COLUMNS):  # the first ones may be covered
            for size in sizes:
                for font in self._fonts:
                    face = self._face(font, size)
                    match = face.match(ink, columns)
                    if match.equal >= SURE:
                        return [(face, match.baseline)]
                    likeness = match.equal + match.alike
                    if likeness > matches.get(face.name, (LEAST_LIKE,))[0]:
                        matches[face.name] = likeness, face, match.baseline
            if any(likeness >= SURE for likeness, _, _ in matches.values()):
                break
        best = sorted(matches.values(), key=lambda entry: -entry[0])[:CANDIDATES]
        return [(face, baseline) for _, face, baseline in best]


def _sizes(ink: Gray) -> list[int]:
    """Font sizes (px) whose line heights agree best with the rows of a strip; of one line, all near its height, too."""
    rows = (ink > PAPER).sum(axis=1).astype(np.float64)
    rows -= rows.mean()
    filled = np.flatnonzero((ink > PAPER).any(axis=1))
    height = int(filled[-1] - filled[0]) + 1 if len(filled) else 0
    likeness = [float((rows[pitch:] * rows[: len(rows) - pitch]).sum()) for pitch in range(height)]
    peaks = {
        pitch: likeness[pitch]
        for pitch in range(LEAST_SIZE, height - 1)
        if likeness[pitch] >= max(likeness[pitch - 1], likeness[pitch + 1])
    }
    sizes = {line_height(size): size for size in range(LEAST_SIZE, MOST_SIZE + 1)}
    likeliest = [sizes[pitch] for pitch in sorted(peaks, key=lambda pitch: -peaks[pitch]) if pitch in sizes][:SIZES]
    # Twice a line height may agree best, too.
    likely = dict.fromkeys(
        candidate for size in likeliest for candidate in (size, size // 2) if candidate >= LEAST_SIZE
    )
    if height < 1.7 * (likeliest[0] if likeliest else height):  # one line
        likely |= dict.fromkeys(range(max(LEAST_SIZE, height - 4), min(MOST_SIZE, height + 8) + 1))
    return list(likely)
