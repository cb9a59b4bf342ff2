"""A new board with one set of another one, to which an attacker submits files as a team would."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from vcrgen.leaderboard.attacks.guesses import GuessedSet
from vcrgen.leaderboard.attacks.key_search import Bound, Probe, read_instant, read_ladder
from vcrgen.leaderboard.board import Board, init_board, protocol_of
from vcrgen.leaderboard.commands import score_waiting
from vcrgen.leaderboard.intake import accept
from vcrgen.leaderboard.model_facts import check_facts
from vcrgen.leaderboard.queries import BoardQueries
from vcrgen.leaderboard.records import Feedback, Submission, SubmissionStatus, TestSet
from vcrgen.leaderboard.settings import Settings
from vcrgen.leaderboard.store import submissions


def copy_board(settings: Settings, one: TestSet, folder: Path) -> Board:
    """Make a board of one set in a folder, with its feedback and the limits of another board, but for those of a day.

    Raises:
        LeaderboardError: The set cannot be used.
    """
    lifetime = settings.hidden_scores_lifetime
    limits = {"hidden_scores_per_day": lifetime, "failed_files_per_day": lifetime, "approval": False}
    away = {"database": "", "webhook": "", "smtp": "", "oidc": (), "overall": ()}
    lifecycle = replace(one.lifecycle, opens=None, closes=None, closing=None, closed=None, retired=None, published=None)
    copied = settings.model_copy(update=limits | away)
    data = [f"{one.name}:{one.path}"]
    return init_board(folder, data, copied, with_reported=False, lifecycle=lifecycle, protocol=protocol_of(one))


class BoardCopy:
    """A copied board as an attacker sees it; see :class:`vcrgen.leaderboard.attacks.key_search.Game`."""

    def __init__(self, board: Board, guessed: GuessedSet) -> None:
        (self._set,) = board.sets
        self._board, self._guessed = board, guessed
        self.ladder = self._set.lifecycle.feedback is Feedback.LADDER
        kinds = tuple(view for view in self._set.task.image_views if view in guessed.session.key.views)
        self._views = (self._set.lifecycle.view,) if self.ladder else kinds
        self.views = len(self._views)
        self.step = 0.0
        self.best: dict[int, float | None] = {}
        self._files = 0
        self.rejected: list[str] = []

    @property
    def files(self) -> int:
        """The files that a team may submit."""
        return self._board.settings.hidden_scores_lifetime // self._scores_a_file

    @property
    def _scores_a_file(self) -> int:
        return 1 if self.ladder else self.views * max(1, len(self._set.modes))

    def ask(self, team: int, views: Sequence[Probe]) -> list[Bound]:
        """Submit a file, have it scored, and read what its page shows; a file that is rejected discloses nothing."""
        designs = [probe.exact for probe in views]
        lines = (
            line
            for view, design in zip(self._views, designs, strict=True)
            for line in self._guessed.lines(self._guessed.outputs(design), view)
        )
        submission = self._submit(team, "".join(lines).encode())
        with self._board.reading() as connection:
            board = BoardQueries(self._board, connection)
            found = submissions.find(connection, submission.id)
            assert found is not None
            if found.status is not SubmissionStatus.SCORED:
                self.rejected.append(" ".join(found.problems))
                return []
            told = board.ladder_feedback(found)
            if told is not None:
                self.step = told.step
                before, self.best[team] = self.best.get(team), told.best
                return [read_ladder(designs[0], told.leading_score, before, told.step)]
            cells = board.cells_of(found.id)
        by_view = dict(zip(self._views, designs, strict=True))
        main = self._set.task.main_metrics[0]
        self.step = cells[0].track.step
        return [read_instant(by_view[cell.track.view], cell.estimates[main], cell.track.step) for cell in cells]

    def _submit(self, team: int, content: bytes) -> Submission:
        self._files += 1
        facts = check_facts(team=f"Attacker {team}", model=f"Model {self._files}")
        submission = accept(
            self._board,
            facts,
            io.BytesIO(content),
            set_name=self._set.name,
            name="outputs.jsonl",
            channel="api",
            actor="attacker",
            limited=True,
        )
        score_waiting(self._board)
        return submission
