"""Adaptive (staircase) estimation of the threshold of a psychometric function with few questions.

Example: 100 images at ten levels are 1,000 questions. A staircase asks 200 of them. The rule:

1. The images stand in a random order that hangs on the seed alone; each question takes the next one, and after the last
   the first again. No image is asked about twice at one level.
2. The first round asks as often at every level. There are :data:`ROUNDS` rounds of about as many questions.
3. Before each further round a curve is fitted to all answers so far. The round asks most at the two levels around its
   threshold, and a tenth as often at each other one, for guesses and lapses. Where the threshold is outside
   of the levels, the two at that end count as those around it.

The estimate is that of :func:`vcrgen.stats.psychometric.fit_curve`, over the images that were asked about. How near it
comes to the curve of all questions is measured by ``scripts/measure_curve.py``; its table is in ``docs/curve.md``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vcrgen.rng import rng_for, shuffled
from vcrgen.stats.arrays import Floats
from vcrgen.stats.psychometric import Curve, count_answers, fit_curve, fit_parameters

ROUNDS = 15
_ELSEWHERE = 0.1  # how often a level is asked that is not one of the two around the threshold; those count 1


class Staircase:
    """Adaptive choice of questions by the answers so far.

    Args:
        places: Of each level where it is, such as the mean share of ink; rising, at least two.
        images: How many images there are, each at every level.
        questions: How many are asked in all.
        seed: Of the order of the images.
    """

    def __init__(self, places: Sequence[float], images: int, questions: int, *, seed: int) -> None:
        self._places = list(places)
        self._order = shuffled(rng_for(seed, "staircase", f"{images}"), range(images))
        self.questions = min(questions, images * len(places))
        self._next = 0  # place in the order
        self._chosen: set[tuple[int, int]] = set()
        self.asked = [0] * len(places)  # questions at each level
        self._x: list[float] = []
        self._right: list[bool] = []
        self._image: list[int] = []

    def round(self) -> list[tuple[int, int]]:
        """The questions of the next round, as numbers of an image and of a level; none where all have been asked."""
        levels = len(self._places)
        size = max(levels, -(-self.questions // ROUNDS))
        chosen = []
        wanted, here = self._weights(), [0] * levels
        for _ in range(min(size, self.questions - len(self._chosen))):
            # The level that lags most behind its share of this round.
            free = [level for level in range(levels) if self.asked[level] < len(self._order)]
            level = min(free, key=lambda level: ((here[level] + 0.5) / wanted[level], level))
            chosen.append((self._image_for(level), level))
            here[level] += 1
            self.asked[level] += 1
        return chosen

    def take(self, image: int, x: Sequence[float], right: Sequence[bool]) -> None:
        """Take what was answered about an image: of each of its texts the place, and whether it is right."""
        self._x += x
        self._right += right
        self._image += [image] * len(x)

    @property
    def answered(self) -> bool:
        """True if there is an answer."""
        return bool(self._x)

    def curve(self, *, seed: int) -> Curve:
        """The curve through all answers, at least one; ``seed`` is of its resamples."""
        images, image = np.unique(self._image, return_inverse=True)
        answers = count_answers(np.array(self._x), np.array(self._right), image, len(images))
        return fit_curve(answers, seed=seed, measured=(self._places[0], self._places[-1]))

    def _weights(self) -> list[float]:
        if not self._x:
            return [1.0] * len(self._places)
        threshold = self._threshold()
        above = min(max(sum(place < threshold for place in self._places), 1), len(self._places) - 1)
        return [1.0 if level in (above - 1, above) else _ELSEWHERE for level in range(len(self._places))]

    def _threshold(self) -> float:
        answers = count_answers(np.array(self._x), np.array(self._right), np.zeros(len(self._x), np.int64), 1)
        found: Floats = fit_parameters(*answers).threshold
        return float(found[0])

    def _image_for(self, level: int) -> int:
        """The next image in the order that was not asked about at a level; the one of the order that comes first."""
        for step in range(len(self._order)):
            image = self._order[(self._next + step) % len(self._order)]
            if (image, level) not in self._chosen:
                self._next += step + 1
                self._chosen.add((image, level))
                return image
        raise AssertionError("a level that was asked about every image is not chosen")
