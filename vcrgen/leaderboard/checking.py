"""A look at a file that is not submitted: what would keep it from being scored. It is not kept, and costs no quota.

It is done in a process of its own, with limits on time and memory, as the file is a stranger's. The process is forked
from a server that has loaded the package, and nothing else.
"""

import json
import multiprocessing as mp
import signal
from collections.abc import Sequence
from functools import cache
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from typing import IO, Any

from vcrgen.core.errors import LeaderboardError, VcrgenError
from vcrgen.leaderboard.board import Board, open_board
from vcrgen.leaderboard.model_facts import file_name
from vcrgen.leaderboard.scoring import check_file, limit_memory
from vcrgen.leaderboard.store.log import now
from vcrgen.leaderboard.store.sets import get_set
from vcrgen.scorer.options import ScoreOptions
from vcrgen.scorer.run import open_session

MAX_SECONDS = 10  # for one file: others wait for it
MAX_BYTES = 5 << 20


def check_in_subprocess(board: Board, set_name: str, stream: IO[bytes], *, name: str | None) -> Sequence[str]:
    """What would keep a file from being scored on a set, as sentences.

    Raises:
        LeaderboardError: The set takes no files now, or the file is none of outputs.
    """
    with board.reading() as connection:
        test_set = get_set(connection, set_name)
    if refusal := test_set.lifecycle.refusal(set_name, now()):
        raise LeaderboardError(refusal)
    seconds, most = min(board.settings.seconds, MAX_SECONDS), min(board.settings.file_mb << 20, MAX_BYTES)
    with board.vault.temporary_copy(stream, most=most, taker="a check") as file:
        ours, theirs = _context().Pipe(duplex=False)
        words = (str(board.folder), set_name, str(file), file_name(name))
        process = _context().Process(target=_main, args=(theirs, *words), daemon=True)
        process.start()
        theirs.close()
        try:
            if not ours.poll(seconds):
                return [f"Looking at the file took longer than {seconds:g} seconds, the most that a check gets."]
            return [str(problem) for problem in json.loads(ours.recv_bytes())]
        except (EOFError, OSError):
            return ["The file cannot be looked at; please tell the maintainers."]
        finally:
            process.kill()
            process.join()
            ours.close()


@cache
def _context() -> Any:
    """What makes processes: by a server that has loaded this module; Windows has none, and loads it anew."""
    context = mp.get_context("forkserver" if "forkserver" in mp.get_all_start_methods() else "spawn")
    context.set_forkserver_preload([__name__])
    return context


def _main(pipe: Pipe, folder: str, set_name: str, file: str, shown_as: str) -> None:
    """In the process of its own: send the problems as JSON, or nothing if the set cannot be read."""
    if hasattr(signal, "alarm"):
        signal.alarm(2 * MAX_SECONDS)  # so that it does not outlive a service that was killed
    try:
        board = open_board(Path(folder))
        with board.reading() as connection:
            test_set = get_set(connection, set_name)
        session = open_session(Path(test_set.path), ScoreOptions())
    except VcrgenError:  # nothing of that is a team's to know
        return
    limit_memory(board.settings.memory_mb << 20)
    try:
        view = test_set.lifecycle.view if test_set.lifecycle.ladder_open else None
        problems = check_file(session, Path(file), shown_as=shown_as, view=view)
    except MemoryError:
        problems = ("Looking at this file takes more memory than this board gives.",)
    pipe.send_bytes(json.dumps(problems).encode())
