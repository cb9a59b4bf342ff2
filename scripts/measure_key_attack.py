"""Measure how much of a hidden key an attacker reads out of a board: the table of docs/leaderboard.md.

    python scripts/measure_key_attack.py                     # the table; about half an hour
    python scripts/measure_key_attack.py --quick --only ladder --teams 10

The attacker has K guesses for every covered text, of which one is right, as a vision model would give them, and no idea
which. Of its files it decides for every text and guess whether the guess stands in the output: the scorer looks for the
text anywhere in an output, so an output may hold any number of guesses. A guess whose first two words are exchanged
counts for Jaccard and not for exact match, so a file asks two questions a view. What the board tells becomes bounds on
how many texts were recovered; simulated annealing (heat-bath moves over many chains) looks for keys within the bounds,
and the attacker takes for each text the guess that most of them hold. On a ladder the chains guess as well which images
are in the feedback part, whose numbers of images and texts the board shows.

What the board tells is computed by the board's own disclosure and bootstrap; tests/leaderboard/test_attack.py lets the
same attacker play against a whole board, and sees the same answers.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from vcrgen.leaderboard.disclosure import disclose, ladder_step, rounding_step
from vcrgen.leaderboard.records import Estimate
from vcrgen.stats.bootstrap import StoredGroupSums, bootstrap_means
from vcrgen.stats.intervals import mean_interval, sd_and_intervals

FILES = 20
SETS = ((40, 55), (90, 132))
VIEWS = 2  # in a file; a ladder scores the first
Design = NDArray[np.bool_]  # texts x guesses: which guesses stand in the outputs of a file
Numbers = NDArray[Any]
BOOTSTRAP_SLACK = 0.2  # of a step: how far the resampled ends of an interval are from those without resampling


@dataclass(frozen=True)
class World:
    """A hidden set as its maintainer knows it."""

    image: Numbers  # of each text, from 0
    right: Numbers  # of each text, the guess that is right
    feedback: Numbers  # of each image, whether it is in the feedback part
    guesses: int

    @property
    def texts(self) -> int:
        """Return the number of texts."""
        return len(self.image)

    @property
    def fed(self) -> Numbers:
        """Of each text, whether it is in the feedback part."""
        found: Numbers = self.feedback[self.image]
        return found

    def hits(self, design: Design) -> Numbers:
        """Of each text, whether a file recovers it."""
        found: Numbers = design[np.arange(self.texts), self.right]
        return found

    def recovered(self, guessed: Numbers) -> tuple[float, float]:
        """The shares of the feedback part and of the final part that the attacker has right."""
        same = guessed == self.right
        return float(same[self.fed].mean()), float(same[~self.fed].mean())


def make_world(images: int, texts: int, guesses: int, seed: int) -> World:
    """A set drawn by a seed, a third of whose images are in the feedback part."""
    rng = np.random.default_rng([seed, images, guesses])
    sizes = np.ones(images, int)
    while sizes.sum() < texts:
        sizes[rng.choice(np.flatnonzero(sizes < 4))] += 1
    feedback = np.zeros(images, bool)
    feedback[rng.choice(images, round(images / 3), replace=False)] = True
    return World(np.repeat(np.arange(images), sizes), rng.integers(guesses, size=texts), feedback, guesses)


class Bound(NamedTuple):
    """A shown figure of a file: a share of texts within two ends, and perhaps its 95 % interval."""

    design: Design
    low: float
    high: float
    interval: tuple[float, float] | None = None
    step: float = 0.0


class Probe(NamedTuple):
    """One view of a file: the guesses that count for exact match, and those that count for Jaccard."""

    exact: Design
    overlap: Design


class Instant:
    """A set with instant feedback, as the board shows it: two metrics a view, rounded, with intervals."""

    ladder = False

    def __init__(self, world: World, views: int = VIEWS) -> None:
        self._world = world
        self.views = views
        self.step = rounding_step(hidden=True, spans=world.texts)

    def ask(self, team: int, views: Sequence[Probe]) -> list[Bound]:
        """Hand in a file."""
        designs = [design for probe in views for design in probe]
        image, counts = self._world.image, np.bincount(self._world.image).astype(float)
        sums = np.array([np.bincount(image, self._world.hits(each), len(counts)) for each in designs]).T
        means = bootstrap_means(StoredGroupSums(sums, counts[:, None], [0] * len(designs)), seed=0, unit="image")
        values = sums.sum(axis=0) / counts.sum()
        found = sd_and_intervals(values, means, np.full(len(values), np.count_nonzero(counts)))
        shown = [disclose(Estimate(v, s.low, s.high), self.step) for v, s in zip(values, found, strict=True)]
        return [read_instant(each, estimate, self.step) for each, estimate in zip(designs, shown, strict=True)]


def read_instant(design: Design, estimate: Estimate, step: float) -> Bound:
    """Return the meaning of a shown figure."""
    return Bound(design, estimate.value - step / 2, estimate.value + step / 2, (estimate.low, estimate.high), step)


class Ladder:
    """A set with a ladder, as the board shows it: one figure a file, and only if it beats the team's best."""

    ladder = True
    views = VIEWS

    def __init__(self, world: World) -> None:
        self._world = world
        self.step = rounding_step(hidden=True, spans=int(world.fed.sum()))
        self.best: dict[int, float | None] = {}

    def ask(self, team: int, views: Sequence[Probe]) -> list[Bound]:
        """Hand in a file; only its first view is scored."""
        best = self.best.get(team)
        score = float(self._world.hits(views[0].exact)[self._world.fed].mean())
        shown = ladder_step(score, best, self.step)
        if shown is not None:
            self.best[team] = shown
        return [read_ladder(views[0].exact, shown, best, self.step)]


def read_ladder(design: Design, shown: float | None, best: float | None, step: float) -> Bound:
    """Return the meaning of a step of the ladder, or of none."""
    if shown is None:
        assert best is not None
        return Bound(design, 0.0, best + step - 1e-6)
    return Bound(design, max(shown - step / 2, 0.0 if best is None else best + step), shown + step / 2)


class Chains:
    """Keys (and feedback parts) that fit what was told, drawn by heat-bath moves."""

    def __init__(self, world: World, *, ladder: bool, seed: int, chains: int) -> None:
        self._rng = np.random.default_rng([seed, 7])
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
        self._per_image = np.zeros((chains, 0, images), np.float32)  # texts that each file recovers of each image
        self.drawn = np.zeros((world.texts, world.guesses))

    def learn(self, bounds: Sequence[Bound]) -> None:
        """Take in what the board told."""
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
        """The share of texts that a file would recover, if each chain were right."""
        found: Numbers = (self._restored(design[None].astype(np.float32))[:, 0] * self._fed).sum(axis=1) / self._texts
        return found

    def run(self, sweeps: int, *, hot: float, cold: float, kept: float = 0.3) -> None:
        """Move every chain; the keys of the last sweeps are counted in ``drawn``."""
        self.drawn[:] = 0
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
        """Return how far (chains x files x choices) is from the bounds, in squared texts: chains x choices."""
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
    """Every guess with the same chance."""
    return rng.random((world.texts, world.guesses)) < share


def random_files(world: World, board: Instant | Ladder, chains: Chains, teams: int, rng: np.random.Generator) -> None:
    """Half of all guesses in every output, drawn before anything is told."""
    for number in range(teams * FILES):
        exact = [any_design(world, 0.5, rng) for _ in range(board.views)]
        views = [Probe(each, each | any_design(world, 0.5, rng)) for each in exact]
        chains.learn(board.ask(number % teams, views))


def one_at_a_time(world: World, board: Instant | Ladder, chains: Chains, teams: int, rng: np.random.Generator) -> None:
    """Junk but for one guess a figure; the next text when a guess was right."""
    places = [(text, guess) for text in rng.permutation(world.texts) for guess in range(world.guesses)]
    untried = itertools.cycle(places)  # ten teams of a ladder ask more than there is
    solved: set[int] = set()
    for number in range(teams * FILES):
        scored = 1 if board.ladder else board.views
        scores_disclosed = [next(each for each in untried if each[0] not in solved) for _ in range(scored)]
        designs = [np.zeros((world.texts, world.guesses), bool) for _ in scores_disclosed]
        for design, place in zip(designs, scores_disclosed, strict=True):
            design[place] = True
        told = board.ask(number % teams, [Probe(each, each) for each in designs])
        chains.learn(told)
        solved |= {
            place[0]
            for place in scores_disclosed
            for bound in told
            if bound.design[place] and (bound.interval or (0, 0))[1] > 0
        }


def adaptive(world: World, board: Instant | Ladder, chains: Chains, teams: int, rng: np.random.Generator) -> None:
    """Of many designs the one of whose answer the attacker knows least, given all that was told."""
    for number in range(teams * FILES):
        team = number % teams
        best = board.best.get(team) if isinstance(board, Ladder) else None
        threshold = 0.5 if isinstance(board, Instant) else board.step / 2 if best is None else best + board.step
        designs = [any_design(world, share, rng) for share in np.clip(threshold + rng.normal(0, 0.1, 24), 0.02, 0.98)]
        unsure = [float(abs((chains.expected(each) >= threshold).mean() - 0.5)) for each in designs]
        chosen = [designs[place] for place in np.argsort(unsure)[: board.views]]
        chains.learn(board.ask(team, [Probe(each, each | any_design(world, 0.5, rng)) for each in chosen]))
        chains.run(4, hot=0.5, cold=0.3)


ATTACKS = {"random": random_files, "one at a time": one_at_a_time, "adaptive": adaptive}


def attack(
    world: World, kind: str, how: str, *, teams: int, seed: int, chains: int = 16, sweeps: int = 0, views: int = VIEWS
) -> tuple[float, float]:
    """The shares of the feedback part and of the final part that an attacker has right in the end."""
    board = Instant(world, views) if kind == "instant" else Ladder(world)
    found = Chains(world, ladder=board.ladder, seed=seed, chains=chains)
    ATTACKS[how](world, board, found, teams, np.random.default_rng([seed, 3]))
    found.run(sweeps or (60 if board.ladder else 300), hot=4.0, cold=0.1)
    return world.recovered(found.drawn.argmax(axis=1))


def table(seeds: int, *, only: str, teams: int, quick: bool, views: int) -> Iterator[str]:
    """The rows of the documentation, as they are measured; those that take long over a sixth of the sets."""
    yield "| feedback | images, texts | teams | K | attack | sets | feedback part | final part | chance |"
    yield "|---|---|---|---|---|---|---|---|---|"
    effort = {"chains": 2, "sweeps": 4} if quick else {}
    boards = [("ladder", 1), ("ladder", 10), ("instant", 1)]
    for (kind, number), (images, texts), guesses, how in itertools.product(boards, SETS, (4, 16), ATTACKS):
        if only not in ("", kind) or teams not in (0, number):
            continue
        began = time.monotonic()
        sets = seeds if quick or (kind, number) == ("ladder", 1) else max(seeds // 6, 1)
        shares = []
        for seed in range(sets):
            world = make_world(images, texts, guesses, seed)
            shares.append(attack(world, kind, how, teams=number, seed=seed, views=views, **effort))
        fed, final = (100 * share for share in np.mean(shares, axis=0))
        where = f"{kind} | {images}, {texts} | {number} | {guesses} | {how} | {sets}"
        yield f"| {where} | {fed:.1f} % | {final:.1f} % | {100 / guesses:.1f} % |"
        print(f"{time.monotonic() - began:.0f} s", file=sys.stderr)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Measure what an attacker reads out of a board's scores.")
    parser.add_argument("--seeds", type=int, default=20, help="sets for each row")
    parser.add_argument("--only", choices=("", "ladder", "instant"), default="", help="one kind of feedback")
    parser.add_argument("--teams", type=int, choices=(0, 1, 10), default=0, help="rows of so many teams; 0 for all")
    parser.add_argument("--quick", action="store_true", help="all sets for every row, with a short search for keys")
    parser.add_argument("--views", type=int, choices=(1, 2), default=VIEWS, help="in a file on an instant board")
    options = vars(parser.parse_args())
    for line in table(options.pop("seeds"), **options):
        print(line, flush=True)


if __name__ == "__main__":
    main()
