"""``vcrgen leaderboard serve``: the web service of a board, and beside it the process that scores."""

import os
import sys
import time
from functools import partial

from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.samples import write_samples
from vcrgen.leaderboard.service.app import make_app
from vcrgen.web.options import ServiceOptions
from vcrgen.web.serve import run_service, single_service

LEFT_SECONDS = 3600  # after which an upload that was cut off is not going on


def serve(board: Board, options: ServiceOptions) -> None:
    """Answer requests until asked to stop (SIGTERM or Ctrl-C); requests that are being answered are finished.

    Raises:
        ServiceError: The port is taken, or the board is served already.
    """
    with single_service(board.folder):
        write_samples(board)
        for left in (board.folder / "files" / "incoming").glob("*"):
            if left.stat().st_mtime < time.time() - LEFT_SECONDS:
                left.unlink(missing_ok=True)
        command = [sys.executable, "-m", "vcrgen.leaderboard.worker", str(board.folder), str(os.getpid())]
        run_service(partial(make_app, board), options, command)
