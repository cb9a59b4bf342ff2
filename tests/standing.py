"""Long jobs as processes that stand still before they are done, so that no kill comes too late."""

import os
import sys
import time
from collections import Counter
from pathlib import Path

from tests.forked import Forked
from vcrgen.cli import app
from vcrgen.core.console_progress import ConsoleProgress


def stands_at(items: int, *words: str) -> Forked:
    """A command of vcrgen that runs: the process that tells of the progress stops at so many items.

    Its own workers, if it has some, go on with what they were given.
    """
    return Forked(_stand_at, items, words, out=Path(os.devnull))


def _stand_at(most: int, words: tuple[str, ...]) -> None:
    told, done = ConsoleProgress.advance, 0

    def advance(self: ConsoleProgress, new: int, kept: int, drops: Counter[str], /) -> None:
        nonlocal done
        told(self, new, kept, drops)
        done += new
        while done >= most:
            time.sleep(1)

    ConsoleProgress.advance = advance  # type: ignore[method-assign]
    sys.argv = ["vcrgen", *words]
    app(prog_name="vcrgen")
