"""Making a set that is killed again and again."""

import os
import signal
import time
from collections.abc import Iterable, Sequence
from contextlib import chdir
from pathlib import Path

from tests.bloom.author import good
from tests.forked import Vcrgen
from tests.models.fault_server import Answer, Call, FaultServer, Held


def slowly(call: Call) -> Answer:
    """A good answer, after a while in which its caller may be killed."""
    return Answer(text=good(call).text, delay=0.03)


def kill_at(words: Sequence[str], server: FaultServer, moments: Iterable[int], folder: Path) -> list[int]:
    """Run a command once for each moment, and kill it then.

    Args:
        words: Of the command line, after ``vcrgen``; it makes the set ``made``.
        server: Whom it asks.
        moments: Numbers of different requests that have come to the server by then; from the last of them on it
            answers only after the kill.
        folder: Where it runs.

    Returns:
        Of each run, how many requests came to the server whose reply did not come into the ledger.
    """
    ledger, under_way = folder / "made.ledger", []

    def different() -> int:
        return len({call.digest for call in server.calls})

    def unanswered() -> int:
        return len(server.calls) - (ledger.read_bytes().count(b"\n") if ledger.exists() else 0)

    def kill(moment: int) -> None:
        """Run the command up to a moment."""
        with chdir(folder):
            process = Vcrgen(*words, log=Path(os.devnull))
        while different() < moment and process.poll() is None:
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL, "it was done before it could be killed"

    plan = server.plan
    for moment in moments:
        server.plan = held = Held(plan, lambda _, at=moment: different() >= at)  # type: ignore[misc]
        before = unanswered()
        kill(moment)
        held.let_go.set()
        server.wait_until_left()
        under_way.append(unanswered() - before)
    server.plan = plan
    return under_way


def asked_again(server: FaultServer) -> int:
    """Return the number of repeated requests."""
    return len(server.calls) - len({call.digest for call in server.calls})
