"""A look at a file that is not submitted: what would keep it from being scored. It is not kept, and costs no quota.

It is done in a process of its own, with limits on time and memory, as the file is a stranger's.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from vcrgen.errors import LeaderboardError, VcrgenError
from vcrgen.leaderboard.board import Board, open_board
from vcrgen.leaderboard.model_facts import file_name
from vcrgen.leaderboard.scoring import check_file
from vcrgen.leaderboard.store.log import now
from vcrgen.leaderboard.store.sets import get_set
from vcrgen.leaderboard.worker import limit_memory
from vcrgen.scorer.run import Options, open_session

MAX_SECONDS = 60  # for one file: others wait for it


def check_in_subprocess(board: Board, set_name: str, stream: IO[bytes], *, name: str | None) -> Sequence[str]:
    """Return the problems that would keep a file from being scored on a set, as sentences.

    Raises:
        LeaderboardError: The set takes no files now, or the file is none of outputs.
    """
    with board.reading() as connection:
        test_set = get_set(connection, set_name)
    if refusal := test_set.lifecycle.refusal(set_name, now()):
        raise LeaderboardError(refusal)
    seconds = min(board.settings.seconds, MAX_SECONDS)
    with board.vault.temporary_copy(stream, most=board.settings.file_mb << 20) as file:
        command = [sys.executable, "-m", __name__, str(board.folder), set_name, str(file), file_name(name)]
        try:
            done = subprocess.run(command, capture_output=True, timeout=seconds, check=False)  # noqa: S603 - ourselves
        except subprocess.TimeoutExpired:
            return [f"Looking at the file took longer than {seconds:g} seconds, the most this board gives."]
    if done.returncode:
        return ["The file cannot be looked at; please tell the maintainers."]
    return [str(problem) for problem in json.loads(done.stdout)]


def main(folder: str, set_name: str, file: str, shown_as: str) -> None:
    """In the process of its own: write the problems as JSON."""
    board = open_board(Path(folder))
    with board.reading() as connection:
        test_set = get_set(connection, set_name)
    session = open_session(Path(test_set.path), Options())
    limit_memory(board.settings.memory_mb << 20)
    try:
        view = test_set.lifecycle.view if test_set.lifecycle.ladder_open else None
        problems = check_file(session, Path(file), shown_as=shown_as, view=view)
    except MemoryError:
        problems = ("Looking at this file takes more memory than this board gives.",)
    sys.stdout.write(json.dumps(problems))


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except VcrgenError:  # the set cannot be read: nothing of that is a team's to know
        sys.exit(1)
