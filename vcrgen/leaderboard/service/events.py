"""The webhook of a board: each new file, result and change is told once, in order, as the history shows it.

It runs beside the service in a thread of its own, so that an address which does not answer holds nothing up.
"""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from vcrgen.errors import VcrgenError
from vcrgen.files import canonical_json, write_text
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.disclosure import to_minute
from vcrgen.leaderboard.queries import public_event
from vcrgen.leaderboard.records import Event
from vcrgen.leaderboard.store.log import last_event, now, read_log
from vcrgen.web.log import log_line
from vcrgen.web.webhook import Webhook

KEY, LAST_SENT_FILE = (
    "webhook.key",
    "webhook.json",
)  # in the board's folder: the key of signatures, and what was told last
WEBHOOK_EVENTS = ("accepted", "scored", "failed", "removed", "chosen", "edited", "closed", "retired", "set added")
POLL_SECONDS = 1.0
LONGEST_PAUSE = 300.0  # seconds between two tries
PATIENCE_SECONDS = 10.0  # at a stop, for what is being told
GIVEN_UP = timedelta(hours=24)  # after which an event is not told any more


class EventSender:
    """Tells a board's webhook what happens."""

    def __init__(self, board: Board, hook: Webhook) -> None:
        self._board = board
        self._hook = hook
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Tell what happens until asked to stop."""
        self._thread.start()

    def stop(self) -> None:
        """Ask it to stop, and let it note what it is telling: at the next start that would be told again."""
        self._stopping.set()
        self._thread.join(PATIENCE_SECONDS)

    def _run(self) -> None:
        while not self._stopping.wait(POLL_SECONDS):
            try:
                for event in self._new():
                    if self._stopping.is_set() or (event.what in WEBHOOK_EVENTS and not self._send(event)):
                        return
                    self._note(event.number)
            except (VcrgenError, OSError) as problem:
                log_line("webhook waits", reason=str(problem)[:200])

    def _new(self) -> list[Event]:
        """The lines that were not told yet; of a board that had no webhook until now, none."""
        file = self._board.folder / LAST_SENT_FILE
        with self._board.reading() as connection:
            if not file.is_file():
                self._note(last_event(connection)[0])
            return list(read_log(connection, after=json.loads(file.read_text("utf-8"))["sent"]))

    def _note(self, number: int) -> None:
        write_text(self._board.folder / LAST_SENT_FILE, canonical_json({"sent": number}))

    def _send(self, event: Event) -> bool:
        """Tell one event, however often it takes; False if asked to stop before."""
        body = as_json(event)
        pause = 1.0
        while now() - event.at < GIVEN_UP:
            try:
                self._hook.send(body)
                return True
            except OSError as problem:
                log_line("webhook failed", event=event.number, reason=str(problem)[:200], again_in=pause)
            if self._stopping.wait(pause):
                return False
            pause = min(2 * pause, LONGEST_PAUSE)
        log_line("webhook given up", event=event.number)
        return True


def as_json(event: Event) -> bytes:
    """A line of the history: what everybody can read there, and nothing else."""
    line = public_event(event)
    said = {"number": line.number, "at": to_minute(line.at).isoformat(), "what": line.what, "subject": line.subject}
    return canonical_json(said | {"actor": line.actor, "facts": dict(line.facts)}).encode()


@contextmanager
def sending_events(board: Board) -> Iterator[None]:
    """Tell a board's webhook what happens while the block lasts; nothing if it has none.

    Raises:
        ServiceError: The address in ``board.yaml`` is none that may be told.
    """
    if not board.settings.webhook:
        yield
        return
    file = board.folder / KEY
    if not file.is_file():
        write_text(file, secrets.token_hex(32))
        file.chmod(0o600)
    sender = EventSender(board, Webhook(board.settings.webhook, file.read_text("utf-8").strip().encode()))
    sender.start()
    try:
        yield
    finally:
        sender.stop()
