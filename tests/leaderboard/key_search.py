"""The search for a hidden key that fits everything that a board disclosed.

The attacker has K guesses for every masked span, one of which is right, as a vision model would give them, and no idea
which. A file decides for every span and guess whether the guess stands in the output: the scorer looks for the span
anywhere in an output, so an output may hold several. In a multiple-choice benchmark (MCQ) an output holds one.

What the board discloses becomes bounds on how many spans were restored. Simulated annealing (heat-bath moves over many
chains) looks for keys within the bounds, and the attacker takes for each span the guess that most of them hold. On a
ladder the chains guess as well which images are in the feedback split, whose numbers of images and spans are known.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from vcrgen.core.rng import array_rng_for
from vcrgen.leaderboard.disclosure import disclose, ladder_step, rounding_step
from vcrgen.leaderboard.page_records import Estimate
from vcrgen.stats.bootstrap import StoredGroupSums, bootstrap_means
from vcrgen.stats.intervals import mean_interval, sd_and_intervals

VIEWS = 2  # in a file; a ladder scores the first
Design = NDArray[np.bool_]  # spans x guesses: which guesses stand in the outputs of a file
Numbers = NDArray[Any]
BOOTSTRAP_SLACK = 0.2  # of a step: how far the resampled ends of an interval are from those without resampling
CANDIDATES = 24  # designs of which an adaptive attacker takes the best


@dataclass(frozen=True)
class World:
    """The structure of a hidden set, with guesses.

    Attributes:
        image: Number of the image of each span, ascending.
        right: Number of the right guess of each span.
        feedback: Per image, True in the feedback split.
        guesses: Guesses for each span.
        single: True where an output can hold one guess only.
    """

    image: Numbers
    right: Numbers
    feedback: Numbers
    guesses: int
    single: bool = False

    @property
    def texts(self) -> int:
        """The number of spans."""
        return len(self.image)

    @property
    def fed(self) -> Numbers:
        """Per span, True in the feedback split."""
        found: Numbers = self.feedback[self.image]
        return found

    def hits(self, design: Design) -> Numbers:
        """Return True per span that a file restores."""
        found: Numbers = design[np.arange(self.texts), self.right]
        return found


class Bound(NamedTuple):
    """Bounds of the share of spans that a file restores, with its 95 % interval where the board shows one."""

    design: Design
    low: float
    high: float
    interval: tuple[float, float] | None = None
    step: float = 0.0


class Probe(NamedTuple):
    """One view of a file: the guesses that count for exact match, and those that count for Jaccard."""

    exact: Design
    overlap: Design


class Game(Protocol):
    """A board that takes files and discloses what its rules say.

    Attributes:
        ladder: True for ladder feedback, False for instant feedback.
        views: Views of a file that are scored.
        step: Rounding step, as a share.
        best: Highest score that each team was shown, on a ladder.
    """

    ladder: bool
    views: int
    step: float
    best: dict[int, float | None]

    def ask(self, team: int, views: Sequence[Probe]) -> list[Bound]:
        """Submit a file, and return the bounds that its feedback gives."""


class Instant:
    """Simulated instant feedback: two metrics a view, rounded, with intervals."""

    ladder = False

    def __init__(self, world: World) -> None:
        self._world = world
        self.views = VIEWS
        self.step = rounding_step(hidden=True, spans=world.texts)
        self.best: dict[int, float | None] = {}

    def ask(self, team: int, views: Sequence[Probe]) -> list[Bound]:
        """Submit a file."""
        designs = [design for probe in views for design in probe]
        image, counts = self._world.image, np.bincount(self._world.image).astype(float)
        sums = np.array([np.bincount(image, self._world.hits(each), len(counts)) for each in designs]).T
        means = bootstrap_means(StoredGroupSums(sums, counts[:, None], [0] * len(designs)), seed=0, unit="image")
        values = sums.sum(axis=0) / counts.sum()
        found = sd_and_intervals(values, means, np.full(len(values), np.count_nonzero(counts)))
        shown = [disclose(Estimate(v, s.low, s.high), self.step) for v, s in zip(values, found, strict=True)]
        return [read_instant(each, estimate, self.step) for each, estimate in zip(designs, shown, strict=True)]


def read_instant(design: Design, estimate: Estimate, step: float) -> Bound:
    """Return the bounds of a disclosed score."""
    return Bound(design, estimate.value - step / 2, estimate.value + step / 2, (estimate.low, estimate.high), step)


class Ladder:
    """Simulated ladder feedback: one score a file, and only if it beats the team's best."""

    ladder = True

    def __init__(self, world: World) -> None:
        self._world = world
        self.views = VIEWS
        self.step = rounding_step(hidden=True, spans=int(world.fed.sum()))
        self.best: dict[int, float | None] = {}

    def ask(self, team: int, views: Sequence[Probe]) -> list[Bound]:
        """Submit a file; only its first view is scored."""
        best = self.best.get(team)
        score = float(self._world.hits(views[0].exact)[self._world.fed].mean())
        shown = ladder_step(score, best, self.step)
        if shown is not None:
            self.best[team] = shown
        return [read_ladder(views[0].exact, shown, best, self.step)]


def read_ladder(design: Design, shown: float | None, best: float | None, step: float) -> Bound:
    """Return the bounds that a step of the ladder, or none, gives."""
    if shown is None:
        assert best is not None
        return Bound(design, 0.0, best + step - 1e-6)
    return Bound(design, max(shown - step / 2, 0.0 if best is None else best + step), shown + step / 2)


class Chains:
    """Keys (and feedback splits) that fit all bounds, drawn by heat-bath moves."""

    def __init__(self, world: World, *, ladder: bool, seed: int, chains: int) -> None:
        self._rng = array_rng_for(seed, "chains", "")
        self._image, self._guesses, self._count = world.image, world.guesses, chains
        self._sizes = np.bincount(world.image).astype(np.float32)
        self._ladder, self._groups = ladder, np.array([len(self._sizes)])
        self._texts = int(world.fed.sum()) if ladder else world.texts
        images = len(self._sizes)
        fed = np.arange(images) < (world.feedback.sum() if ladder else images)
        self._fed = np.array([self._rng.permutation(fed) for _ in range(chains)]).astype(np.float32)
        self._key = self._rng.integers(world.guesses, size=(chains, world.texts))
        self._bounds: list[Bound] = []
        self._held = np.zeros((0, world.texts, world.guesses), np.float32)
        self._per_image = np.zeros((chains, 0, images), np.float32)  # spans that each file restores of each image
        self.drawn = np.zeros((world.texts, world.guesses))

    def learn(self, bounds: Sequence[Bound]) -> None:
        """Add bounds."""
        if not bounds:
            return
        self._bounds += bounds
        new = np.array([bound.design for bound in bounds], np.float32)
        self._held = np.concatenate([self._held, new])
        self._per_image = np.concatenate([self._per_image, self._restored(new)], axis=1)
        self._low, self._high = (
            np.array([getattr(bound, end) for bound in self._bounds], np.float32) * self._texts
            for end in ("low", "high")
        )
        self._ends = None
        if not self._ladder:
            shown = np.array([bound.interval for bound in self._bounds], np.float32)
            step = self._bounds[0].step
            slack = BOOTSTRAP_SLACK * step
            self._ends = (
                shown[:, 0] - slack,
                shown[:, 0] + step + slack,
                shown[:, 1] - step - slack,
                shown[:, 1] + slack,
            )

    def _restored(self, designs: Numbers) -> Numbers:
        hits = designs[:, np.arange(len(self._image)), self._key].transpose(1, 0, 2)
        starts = np.searchsorted(self._image, np.arange(len(self._sizes)))
        found: Numbers = np.add.reduceat(hits, starts, axis=2)
        return found

    def expected(self, design: Design) -> Numbers:
        """Return per chain the share of spans that a file would restore if the chain's key were right."""
        found: Numbers = (self._restored(design[None].astype(np.float32))[:, 0] * self._fed).sum(axis=1) / self._texts
        return found

    def draw_key(self, rng: np.random.Generator) -> Numbers:
        """Return the key of a random chain."""
        found: Numbers = self._key[rng.integers(self._count)]
        return found

    def run(self, sweeps: int, *, hot: float, cold: float, kept: float = 0.3) -> None:
        """Move every chain; the keys of the last sweeps are counted in ``drawn``."""
        self.drawn[:] = 0
        if not self._bounds:
            return
        cooling = max(int(sweeps * (1 - kept)), 1)
        for sweep in range(sweeps):
            heat = hot * (cold / hot) ** min(1.0, sweep / cooling)
            if self._ladder:
                self._move_parts(heat)
            self._move_key(heat)
            if sweep >= cooling:
                weight = np.exp(-(energy := self._energy_now()) + energy.min())  # chains that are stuck count little
                for guess in range(self._guesses):
                    self.drawn[:, guess] += ((self._key == guess) * weight[:, None]).sum(axis=0)

    def _energy_now(self) -> Numbers:
        total = (self._per_image * self._fed[:, None]).sum(axis=2)
        squares, weighted = (self._per_image**2).sum(axis=2), self._per_image @ self._sizes
        return self._energy(total[:, :, None], squares[:, :, None], weighted[:, :, None])[:, 0]

    def _energy(self, total: Numbers, squares: Numbers, weighted: Numbers) -> Numbers:
        """Return the distance of (chains x files x choices) from the bounds, in squared spans: chains x choices."""
        low, high = self._low[:, None], self._high[:, None]
        far = np.maximum(np.maximum(low - total, total - high), 0) ** 2
        if self._ends is not None:
            mean = total / self._texts
            variance = squares - 2 * mean * weighted + mean**2 * (self._sizes**2).sum()
            sd = np.sqrt(np.maximum(variance, 0)) / self._texts
            a, b, c, d = (end[:, None] for end in self._ends)
            for end, least, most in zip(mean_interval(mean, sd, self._groups), (a, c), (b, d), strict=True):
                far = far + (self._texts * np.maximum(np.maximum(least - end, end - most), 0)) ** 2
        found: Numbers = far.sum(axis=1)
        return found

    def _move_parts(self, heat: float) -> None:
        """Exchange an image of the feedback part for one of the final part, as often as there are images."""
        rows, images = np.arange(self._count), len(self._sizes)
        total = (self._per_image * self._fed[:, None]).sum(axis=2)
        nothing = np.zeros((self._count, len(self._bounds), 1), np.float32)
        energy = self._energy(total[:, :, None], nothing, nothing)[:, 0]
        for _ in range(images):
            out, into = self._rng.integers(images, size=(2, self._count))
            possible = (self._fed[rows, out] > 0) & (self._fed[rows, into] == 0)
            other = total + self._per_image[rows, :, into] - self._per_image[rows, :, out]
            then = self._energy(other[:, :, None], nothing, nothing)[:, 0]
            taken = possible & (self._rng.random(self._count) < np.exp(np.minimum(0, (energy - then) / heat)))
            self._fed[rows[taken], out[taken]], self._fed[rows[taken], into[taken]] = 0, 1
            total[taken], energy[taken] = other[taken], then[taken]

    def _move_key(self, heat: float) -> None:
        """Draw every text's guess anew, given all others."""
        per_image, rows = self._per_image, np.arange(self._count)
        total = (per_image * self._fed[:, None]).sum(axis=2)[:, :, None]
        squares, weighted = (per_image**2).sum(axis=2)[:, :, None], (per_image @ self._sizes)[:, :, None]
        for text in self._rng.permutation(len(self._image)):
            image = self._image[text]
            held = self._held[:, text]  # files x guesses
            change = held[None] - held[:, self._key[:, text]].T[:, :, None]  # chains x files x guesses
            counted = change * self._fed[:, image, None, None]
            here = per_image[:, :, image, None]
            choices = (total + counted, squares + 2 * here * change + change**2, weighted + self._sizes[image] * change)
            energy = self._energy(*choices)
            chances = np.exp(-(energy - energy.min(axis=1, keepdims=True)) / heat).cumsum(axis=1)
            drawn = (self._rng.random(self._count)[:, None] * chances[:, -1:] > chances).sum(axis=1)
            self._key[:, text] = drawn
            total, squares, weighted = (each[rows, :, drawn][:, :, None] for each in choices)
            per_image[:, :, image] += change[rows, :, drawn]


def any_design(world: World, share: float, rng: np.random.Generator) -> Design:
    """Draw a design with every guess at the same chance; with a single guess an output, one of them."""
    if world.single:
        return _one_each(world, rng.integers(world.guesses, size=world.texts))
    return rng.random((world.texts, world.guesses)) < share


def _one_each(world: World, chosen: Numbers) -> Design:
    design = np.zeros((world.texts, world.guesses), bool)
    design[np.arange(world.texts), chosen] = True
    return design


def random_files(world: World, board: Game, chains: Chains, files: int, teams: int, rng: np.random.Generator) -> None:
    """Submit files that are drawn before any feedback: half of all guesses in every output."""
    for number in range(teams * files):
        exact = [any_design(world, 0.5, rng) for _ in range(board.views)]
        views = [Probe(each, each | any_design(world, 0.5, rng)) for each in exact]
        chains.learn(board.ask(number % teams, views))


def adaptive_files(world: World, board: Game, chains: Chains, files: int, teams: int, rng: np.random.Generator) -> None:
    """Submit, of many designs, the one with the most uncertain feedback given all feedback before."""
    for number in range(teams * files):
        team = number % teams
        best = board.best.get(team)
        threshold = 0.5 if not board.ladder else board.step / 2 if best is None else best + board.step
        designs = [_candidate(world, chains, threshold, rng) for _ in range(CANDIDATES)]
        unsure = [float(abs((chains.expected(each) >= threshold).mean() - 0.5)) for each in designs]
        chosen = [designs[place] for place in np.argsort(unsure, kind="stable")[: board.views]]
        chains.learn(board.ask(team, [Probe(each, each | any_design(world, 0.5, rng)) for each in chosen]))
        chains.run(4, hot=0.5, cold=0.3)


def _candidate(world: World, chains: Chains, threshold: float, rng: np.random.Generator) -> Design:
    if not world.single:
        return any_design(world, float(np.clip(threshold + rng.normal(0, 0.1), 0.02, 0.98)), rng)
    kept = rng.random(world.texts) < rng.random()
    return _one_each(world, np.where(kept, chains.draw_key(rng), rng.integers(world.guesses, size=world.texts)))


ATTACKS = {"random": random_files, "adaptive": adaptive_files}


def search_key(
    world: World, board: Game, how: str, *, files: int, teams: int, seed: int, chains: int = 16, sweeps: int = 0
) -> Numbers:
    """Play against a board, and return per span whether the attacker's final guess is right.

    Args:
        board: The board, or what it would disclose.
        how: Name of one of :data:`ATTACKS`.
        files: Files of each team.
        teams: Teams that share their feedback.
        seed: Seed of the attacker.
        chains: Chains of the search.
        sweeps: Sweeps of the last search; 0 for as many as the kind of feedback needs.
    """
    found = Chains(world, ladder=board.ladder, seed=seed, chains=chains)
    ATTACKS[how](world, board, found, files, teams, array_rng_for(seed, "attack", how))
    found.run(sweeps or (60 if board.ladder else 300), hot=4.0, cold=0.1)
    right: Numbers = found.drawn.argmax(axis=1) == world.right
    return right
