"""The webhook of a board, and its mail: each new file, result and change is told once, in order.

A webhook is told what the history shows; a team that registered with an address gets a mail when a file of it was
scored or could not be. Each runs beside the service in a thread of its own: a server that does not answer holds nothing
up.
"""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial

from vcrgen.errors import VcrgenError
from vcrgen.files import canonical_json, write_text
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.disclosure import to_minute
from vcrgen.leaderboard.queries import public_event
from vcrgen.leaderboard.records import Event, SubmissionStatus
from vcrgen.leaderboard.registration import check_registration
from vcrgen.leaderboard.settings import absolute_url
from vcrgen.leaderboard.site import names
from vcrgen.leaderboard.store import registrations, submissions
from vcrgen.leaderboard.store.log import last_event, now, read_log
from vcrgen.web.log import log_line
from vcrgen.web.mail import MailRefused, MailServer
from vcrgen.web.webhook import Webhook

KEY, LAST_SENT_FILE = (
    "webhook.key",
    "webhook.json",
)  # in the board's folder: the key of signatures, and what was told last
WEBHOOK_EVENTS = ("accepted", "scored", "failed", "removed", "chosen", "edited", "closed", "retired", "set added")
LAST_MAIL_FILE = "mail.json"
MAIL_EVENTS = ("scored", "failed")
POLL_SECONDS = 1.0
LONGEST_PAUSE = 300.0  # seconds between two tries
PATIENCE_SECONDS = 10.0  # at a stop, for what is being told
GIVEN_UP = timedelta(hours=24)  # after which an event is not told any more


class EventSender:
    """Tells somebody what happens on a board.

    Args:
        board: The board.
        tell: Tells one event; an OSError asks for another try.
        events: What is told.
        state_file: File in the board's folder with the last event that was told.
    """

    def __init__(
        self, board: Board, tell: Callable[[Event], None], *, events: Collection[str], state_file: str
    ) -> None:
        self._board = board
        self._tell, self._events, self._state_file = tell, events, state_file
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
                    if self._stopping.is_set() or (event.what in self._events and not self._send(event)):
                        return
                    self._note(event.number)
            except (VcrgenError, OSError) as problem:
                log_line("events wait", reason=str(problem)[:200])

    def _new(self) -> list[Event]:
        """The lines that were not told yet; of a board that had no webhook until now, none."""
        file = self._board.folder / self._state_file
        with self._board.reading() as connection:
            if not file.is_file():
                self._note(last_event(connection)[0])
            return list(read_log(connection, after=json.loads(file.read_text("utf-8"))["sent"]))

    def _note(self, number: int) -> None:
        write_text(self._board.folder / self._state_file, canonical_json({"sent": number}))

    def _send(self, event: Event) -> bool:
        """Tell one event, once at least and for a day; False if asked to stop before."""
        pause = 1.0
        while True:
            try:
                self._tell(event)
                return True
            except OSError as problem:
                log_line("event not sent", event=event.number, reason=str(problem)[:200], again_in=pause)
            if now() - event.at >= GIVEN_UP:
                log_line("event given up", event=event.number)
                return True
            if self._stopping.wait(pause):
                return False
            pause = min(2 * pause, LONGEST_PAUSE)


def as_json(event: Event) -> bytes:
    """A line of the history: what everybody can read there, and nothing else."""
    line = public_event(event)
    said = {"number": line.number, "at": to_minute(line.at).isoformat(), "what": line.what, "subject": line.subject}
    return canonical_json(said | {"actor": line.actor, "facts": dict(line.facts)}).encode()


def mail_team(board: Board, event: Event) -> None:
    """Send a mail about a scored or failed file to its team, if it has an address.

    Raises:
        OSError: The mail server does not take it.
    """
    team, set_name, file = (event.facts.get(name, "") for name in ("team", "set", "file"))
    with board.reading() as connection:
        address = registrations.mail_of(connection, team)
        files = submissions.team_files(connection, team) if address else ()
    meant = (set_name, file, event.subject)
    one = next((each for each in reversed(files) if (each.set, each.file, each.subject) == meant), None)
    if one is None:
        return
    what = "was scored" if event.what == SubmissionStatus.SCORED.value else "could not be scored"
    where = absolute_url(board.settings, "", names.status_name(one.id)) if board.settings.url else "Our files"
    text = f"The file {one.file_name} of {one.facts.model} on {one.set} {what}.\n\nSee: {where}\n"
    try:
        MailServer(board.settings.smtp, board.settings.mail_from).send(address, f"A file on {one.set} {what}", text)
    except MailRefused as problem:  # the others' mail does not wait for it
        log_line("mail refused", reason=str(problem))


@contextmanager
def sending_events(board: Board) -> Iterator[None]:
    """Tell a board's webhook, and teams by mail, what happens while the block lasts; nothing if it has neither.

    Raises:
        ServiceError: The address of the webhook or of the mail server in ``board.yaml`` is none.
    """
    check_registration(board.settings)
    senders = []
    if board.settings.webhook:
        file = board.folder / KEY
        if not file.is_file():
            write_text(file, secrets.token_hex(32))
            file.chmod(0o600)
        hook = Webhook(board.settings.webhook, file.read_text("utf-8").strip().encode())
        senders.append(
            EventSender(
                board, lambda event: hook.send(as_json(event)), events=WEBHOOK_EVENTS, state_file=LAST_SENT_FILE
            )
        )
    if board.settings.smtp:
        MailServer(board.settings.smtp, board.settings.mail_from)  # a wrong address is told now
        senders.append(EventSender(board, partial(mail_team, board), events=MAIL_EVENTS, state_file=LAST_MAIL_FILE))
    for sender in senders:
        sender.start()
    try:
        yield
    finally:
        for sender in senders:
            sender.stop()
