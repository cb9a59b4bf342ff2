"""Views of public sets in an exported site: some items of each, with the outputs of every model that stands there."""

import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from sqlalchemy import Connection

from vcrgen.core.errors import VcrgenError
from vcrgen.core.files import is_disk_full
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.records import Submission, TestSet
from vcrgen.leaderboard.site.names import view_folder
from vcrgen.leaderboard.store import submissions
from vcrgen.scorer.options import ScoreOptions
from vcrgen.scorer.predictions import PredictionFile, open_predictions
from vcrgen.scorer.run import open_session
from vcrgen.view.folder import fill_folder
from vcrgen.view.query import Query
from vcrgen.view.view_data import ViewData

MAX_ITEMS = 50


def write_set_views(board: Board, connection: Connection, sets: Iterable[TestSet], site: Path) -> frozenset[str]:
    """Write the views of sets into the folder of a site.

    A hidden set has none. Nor has one whose data or outputs cannot be read now; a full disk is an OSError.

    Returns:
        The names of the sets that have one.
    """
    written = set[str]()
    for test_set in sets:
        files = [] if test_set.hidden else submissions.counted(connection, test_set.name)
        folder = site / view_folder(test_set.name)
        if not files:
            continue
        try:
            _write_view(test_set, {_title(file): _outputs(board, file) for file in files}, folder)
            written.add(test_set.name)
        except (VcrgenError, OSError) as problem:
            if is_disk_full(problem):
                raise
            shutil.rmtree(folder, ignore_errors=True)
    return frozenset(written)


def _write_view(test_set: TestSet, models: dict[str, PredictionFile], folder: Path) -> None:
    data, protocol = Path(test_set.path), test_set.protocol
    questions = open_session(data, ScoreOptions(protocol=protocol)).key.questions
    count = min(MAX_ITEMS, len(questions))
    spread = [questions[number * len(questions) // count].question_id for number in range(count)]
    with tempfile.TemporaryDirectory() as temporary:
        ids = Path(temporary) / "ids.txt"
        ids.write_text("".join(f"{question_id}\n" for question_id in spread), "utf-8")
        view = ViewData(data, [], ScoreOptions(protocol=protocol, subset=str(ids)), models=models)
        fill_folder(view, folder, Query.parse(""), max_items=MAX_ITEMS)


def _title(file: Submission) -> str:
    return f"{file.facts.model} ({file.facts.team})"


def _outputs(board: Board, file: Submission) -> PredictionFile:
    return open_predictions(board.vault.path(file.file), name=file.file_name)
