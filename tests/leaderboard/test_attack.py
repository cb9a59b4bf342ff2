"""Whoever knows the board's rules and has a few guesses for every text does not learn the part that counts."""

import hashlib
import io
import itertools
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.leaderboard import key_search as attacks
from tests.leaderboard.common import SET
from tests.leaderboard.key_search import World
from vcrgen.core.files import sha256_file
from vcrgen.core.progress import ProgressListener
from vcrgen.data.key import ANSWERS, FEEDBACK, FINAL, KEY_FILE, REPORT, VERSION, KeyManifest
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.closing import close
from vcrgen.leaderboard.intake import accept
from vcrgen.leaderboard.model_facts import check_facts
from vcrgen.leaderboard.new_board import init_board
from vcrgen.leaderboard.records import Submission, SubmissionStatus
from vcrgen.leaderboard.rotation import make_lifecycle
from vcrgen.leaderboard.scoring import score_file, session_of
from vcrgen.leaderboard.settings import Settings
from vcrgen.leaderboard.store import submissions
from vcrgen.leaderboard.store.log import read_log
from vcrgen.leaderboard.store.models import ladder_feedback, model_page, submission_cells
from vcrgen.leaderboard.store.reader import BoardReader
from vcrgen.leaderboard.worker import finish

LETTERS = str.maketrans("0123456789", "ghijklmnop")


def make_world(images: int, texts: int, guesses: int, seed: int) -> World:
    """A set drawn by a seed, a third of whose images are in the feedback split."""
    rng = np.random.default_rng([seed, images, guesses])
    sizes = np.ones(images, int)
    while sizes.sum() < texts:
        sizes[rng.choice(np.flatnonzero(sizes < 4))] += 1
    feedback = np.zeros(images, bool)
    feedback[rng.choice(images, round(images / 3), replace=False)] = True
    return World(np.repeat(np.arange(images), sizes), rng.integers(guesses, size=texts), feedback, guesses)


def words(text: int, guess: int) -> list[str]:
    """The words of a guess; those of two guesses have nothing in common, and the first two are short."""
    letters = hashlib.sha256(f"{text} {guess}".encode()).hexdigest().translate(LETTERS)
    return [letters[start:end] for start, end in itertools.pairwise((0, 5, 10, 19, 28, 37))]


def write_key(world: Any, folder: Path) -> Path:
    """The key of a set whose answers are the right guesses."""
    folder.mkdir()
    items = []
    for image in range(len(world.feedback)):
        texts = np.flatnonzero(world.image == image)
        answers = [" ".join(words(text, world.right[text])) for text in texts]
        spans = [{"tokens": answer.split(), "cover": "easy", "visible_ink": 0.5} for answer in answers]
        part = FEEDBACK if world.feedback[image] else FINAL
        items.append({"question_id": f"{image:032x}", "crossed_text": answers, "spans": spans, "part": part})
    (folder / ANSWERS).write_text("".join(json.dumps(item) + "\n" for item in items))
    (folder / REPORT).write_text("{}")
    key = KeyManifest(
        version=VERSION,
        language="en",
        items=len(items),
        canary="c",
        nonce="0",
        fingerprint="f",
        public="",
        signature="vcrgen:0|lang:en|pictures:compared",
        files={name: sha256_file(folder / name) for name in (ANSWERS, REPORT)},
    )
    (folder / KEY_FILE).write_text(json.dumps({name: getattr(key, name) for name in key.__slots__}))
    return folder


class WholeBoard:
    """The attacker's files go through a board: intake with its limits, scoring, the database, what people are shown."""

    def __init__(self, world: Any, folder: Path, *, feedback: str) -> None:
        folder.mkdir()
        settings = Settings(hidden_scores_per_day=40, hidden_scores_lifetime=40)
        data = [f"{SET}:{write_key(world, folder / 'key')}"]
        self.board: Board = init_board(
            folder / "board",
            data,
            settings,
            with_reported=False,
            lifecycle=make_lifecycle(feedback=feedback),
            protocol="paper",  # under our own a list of guesses is cut, and the attacker needs one
        )
        self.ladder = feedback == "ladder"
        self.views = attacks.VIEWS
        self.best: dict[int, float | None] = {}
        self._world = world
        (self._set,) = self.board.sets
        self.step = 0.0
        self.seen: list[Any] = []

    def ask(self, team: int, views: Sequence[Any]) -> list[Any]:
        """Submit a file, have it scored, and read the pages."""
        lines = [
            {"question_id": f"{image:032x}", "view": view, "output": self._output(image, probe)}
            for view, probe in zip(("stacked", "tei"), views, strict=True)
            for image in range(len(self._world.feedback))
        ]
        content = "".join(json.dumps(line) + "\n" for line in lines).encode()
        facts = check_facts(team=f"Team {team}", model=f"Model {len(self.seen)}")
        submission = accept(
            self.board, facts, io.BytesIO(content), set_name=SET, name="p.jsonl", channel="api", actor="a", limited=True
        )
        part = self._set.lifecycle.split
        finish(
            self.board,
            submission,
            score_file(
                session_of(self._set),
                self.board.vault.path(submission.file),
                shown_as="p.jsonl",
                split_session=session_of(self._set, part, self._set.lifecycle.view) if part else None,
            ),
        )
        with self.board.reading() as connection:
            views_of_board = BoardReader(self.board.settings, connection)
            found = submissions.find(connection, submission.id)
            assert found is not None and found.status is SubmissionStatus.SCORED
            return self._read(found, views_of_board, team, views)

    def _output(self, image: int, probe: Any) -> str:
        said = []
        for text in np.flatnonzero(self._world.image == image):
            for guess in np.flatnonzero(probe.overlap[text]):
                first, second, *rest = words(text, guess)
                said += [first, second, *rest] if probe.exact[text, guess] else [second, first, *rest]
        return " ".join(said) or "nothing"

    def _read(self, found: Submission, board: BoardReader, team: int, views: Sequence[Any]) -> list[Any]:
        told = ladder_feedback(board, found)
        if self.ladder:
            assert told is not None and not submission_cells(board, found.id)
            self.step = told.step
            self.seen.append((told.leading_score, told.best))
            before, self.best[team] = self.best.get(team), told.best
            return [attacks.read_ladder(views[0].exact, told.leading_score, before, told.step)]
        bounds = []
        for cell, probe in zip(submission_cells(board, found.id), views, strict=True):
            for metric, design in (("exact", probe.exact), ("jaccard", probe.overlap)):
                self.seen.append(cell.estimates[metric])
                bounds.append(attacks.read_instant(design, cell.estimates[metric], cell.track.step))
        return bounds


@pytest.mark.parametrize("feedback", ["ladder", "instant"])
def test_a_whole_board_tells_what_the_simulation_tells(feedback: str, tmp_path: Path) -> None:
    """To the last digit: so what is measured by the simulation holds for boards."""
    files = 20 if feedback == "ladder" else 6
    world = make_world(40, 55, 4, 0)
    whole = WholeBoard(world, tmp_path / "whole", feedback=feedback)
    simulated = attacks.Ladder(world) if feedback == "ladder" else attacks.Instant(world)
    queried: list[Any] = []

    class Both:
        ladder = feedback == "ladder"
        views = whole.views
        best = whole.best

        @property
        def step(self) -> float:
            return float(simulated.step)

        def ask(self, team: int, views: Sequence[Any]) -> list[Any]:
            ours, theirs = whole.ask(team, views), simulated.ask(team, views)
            for a, b in zip(ours, theirs, strict=True):
                assert (a.low, a.high) == pytest.approx((b.low, b.high)) and (a.design == b.design).all()
                assert (a.interval is None) == (b.interval is None)
                assert a.interval is None or a.interval == pytest.approx(b.interval)
            queried.append(ours)
            return ours

    attacks.search_key(world, Both(), "random", files=files, teams=1, seed=0, chains=8, sweeps=20)
    assert len(queried) == files


def test_what_a_board_tells_does_not_depend_on_the_final_part(tmp_path: Path) -> None:
    """Two keys that differ in every answer of the final split: the same files are told the same, to the byte."""
    world = make_world(40, 55, 4, 1)
    right = np.where(world.fed, world.right, (world.right + 1) % world.guesses)
    other = World(world.image, right, world.feedback, world.guesses)
    boards = [WholeBoard(each, tmp_path / name, feedback="ladder") for name, each in (("a", world), ("b", other))]
    rng = np.random.default_rng(0)
    for number in range(8):
        design = attacks.any_design(world, 0.1 + 0.1 * number, rng)
        probe = attacks.Probe(design, design | attacks.any_design(world, 0.5, rng))
        for board in boards:
            board.ask(0, [probe, probe])
    assert boards[0].seen == boards[1].seen
    shown = []
    for board in boards:
        with board.board.reading() as connection:
            views = BoardReader(board.board.settings, connection)
            rows = [(row.facts, row.best) for table in views.tables() for row in table.ladder_rows]
            pages = [
                [(run.best, run.cells, run.bytes) for run in model_page(views, facts.entry).runs] for facts, _ in rows
            ]  # type: ignore[union-attr]
            log = [(line.what, line.actor, sorted(line.facts)) for line in read_log(connection)]
        shown.append((rows, pages, log))
    assert shown[0] == shown[1] and len(shown[0][0]) == 8
    scores = []
    for board in boards:
        close(board.board, SET, ProgressListener(), early=True)
        with board.board.reading() as connection:
            (table, *_) = BoardReader(board.board.settings, connection).tables()
        scores.append([(row.facts.model, row.scores) for row in table.rankings[0].rows])
    assert scores[0] != scores[1], "and once it is closed, the final split is all that counts"


@pytest.mark.parametrize(
    ("protocol", "count", "least", "most"),
    [("vcrgen", 2, 0.3, 0.6), ("vcrgen", 4, 0.1, 0.35), ("vcrgen", 16, 0.0, 0.15), ("paper", 16, 1.0, 1.0)],
)
def test_lists_of_guesses_stay_at_chance_but_in_the_papers_way(
    protocol: str, count: int, least: float, most: float, tmp_path: Path
) -> None:
    """All guesses of a span, in random order: what one guess would be right is what the list gets."""
    world = make_world(40, 55, 16, 0)
    data = [f"{SET}:{write_key(world, tmp_path / 'key')}"]
    board = init_board(tmp_path / "board", data, Settings(), with_reported=False, protocol=protocol)
    (one,) = board.sets
    lines = []
    for image in range(len(world.feedback)):
        said = [text for span in np.flatnonzero(world.image == image) for text in listed(world, span, count)]
        lines.append({"question_id": f"{image:032x}", "view": "stacked", "output": "\n".join(said)})
    file = tmp_path / "outputs.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    (cell,) = session_of(one).score(file).cells
    assert least <= cell.metrics["exact"].value <= most


def listed(world: World, span: int, count: int) -> list[str]:
    """Guesses for a span in random order, the right one among them."""
    right = int(world.right[span])
    wrong = [guess for guess in range(world.guesses) if guess != right][: count - 1]
    drawn = np.random.default_rng([span, count]).permutation([right, *wrong])
    return [" ".join(words(span, guess)) for guess in drawn]


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("images", "texts", "teams", "how", "guesses"),
    [(40, 55, 1, "random", 4), (40, 55, 1, "adaptive", 4), (90, 132, 1, "random", 16), (40, 55, 10, "random", 4)],
)
def test_the_final_part_stays_at_chance(images: int, texts: int, teams: int, how: str, guesses: int) -> None:
    """At most five points over it, over four sets, whatever is asked of the ladder."""
    shares = []
    for seed in range(4):
        world = make_world(images, texts, guesses, seed)
        board = attacks.Ladder(world)
        right = attacks.search_key(world, board, how, files=20, teams=teams, seed=seed, chains=2, sweeps=4)
        shares.append(right[~world.fed].mean())
    assert np.mean(shares) <= 1 / guesses + 0.05


def test_with_instant_feedback_the_same_attacker_reads_the_key() -> None:
    """So it is no weak one: with a quarter of its search it has more than 30 of 55 texts, where 14 are chance."""
    world = make_world(40, 55, 4, 0)
    right = attacks.search_key(world, attacks.Instant(world), "random", files=20, teams=1, seed=0, sweeps=80)
    assert right.sum() > 30


def test_one_guess_an_output_is_enough_for_a_choice() -> None:
    """Of a multiple-choice benchmark, whose outputs hold one letter."""
    world = replace(make_world(40, 55, 4, 0), single=True)
    design = attacks.any_design(world, 0.5, np.random.default_rng(0))
    assert (design.sum(axis=1) == 1).all()
    right = attacks.search_key(world, attacks.Instant(world), "adaptive", files=12, teams=1, seed=0, chains=4)
    assert right.sum() > 30
