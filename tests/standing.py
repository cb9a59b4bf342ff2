"""Long jobs as processes that stand still before they are done, so that no kill comes too late."""

import sys
import time
from collections import Counter

from vcrgen.cli import app
from vcrgen.cli.progress import ConsoleProgress


def stands_at(items: int) -> list[str]:
    """The beginning of a command line of vcrgen: the process that tells of the progress stops at so many items.

    Its own workers, if it has some, go on with what they were given.
    """
    return [sys.executable, "-P", __file__, str(items)]


def main() -> None:
    most, told, done = int(sys.argv.pop(1)), ConsoleProgress.advance, 0

    def advance(self: ConsoleProgress, new: int, kept: int, drops: Counter[str], /) -> None:
        nonlocal done
        told(self, new, kept, drops)
        done += new
        while done >= most:
            time.sleep(1)

    ConsoleProgress.advance = advance  # type: ignore[method-assign]
    app(prog_name="vcrgen")


if __name__ == "__main__":
    main()
