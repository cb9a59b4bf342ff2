"""A team's side of a board's API: a file is checked here, sent, and waited for.

What the board would refuse is refused before it is sent, by the functions by which the board refuses it. The token
stands in one header and nowhere else: not in an address, and not in a message, whatever the server says.
"""

from __future__ import annotations

import ipaddress
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pydantic import TypeAdapter, ValidationError

from vcrgen.core.errors import LeaderboardError
from vcrgen.core.extras import needs_extra
from vcrgen.data.tasks.task import TASKS, VCR_TASK, ScoredTask
from vcrgen.leaderboard.intake import check_quota, no_private_files
from vcrgen.leaderboard.model_facts import check_facts
from vcrgen.leaderboard.page_records import Estimate
from vcrgen.leaderboard.records import Quota
from vcrgen.leaderboard.site.names import status_name, template_name
from vcrgen.leaderboard.uploads import read_upload
from vcrgen.report.escape import escape_terminal

if TYPE_CHECKING:
    from httpx2 import Client

    from vcrgen.scorer.options import ScoreOptions
    from vcrgen.scorer.session import BaseScoringSession

TOKEN_VARIABLE = "VCRGEN_BOARD_TOKEN"  # noqa: S105 - its name
CONNECT_SECONDS, ANSWER_SECONDS = 10.0, 120.0
MAX_ANSWER = 4 << 20  # bytes of an answer that is no file
LONGEST_WAIT = 120.0  # seconds that a board may ask for; beyond, it is for people to come back
TRIES = 6  # of a request to a board that cannot be reached
FIRST_LOOK, LAST_LOOK = 1.0, 10.0  # seconds between looks at a submission
SAY_SECONDS = 30.0  # between lines about one that waits
GOING_ON = ("queued", "scoring")
_TOKEN = re.compile(r"[!-~]{8,200}")
_ID = re.compile(r"[0-9a-f]{32}")
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenSet:
    """A set that takes files of a team now, as the board tells of it."""

    task: str
    language: str
    modes: tuple[str, ...]  # the values of the task's axis
    hidden: bool
    private: bool  # whether it takes private files
    view: str | None = None  # the only view that is scored, if there is one


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamAnswer:
    """What the board tells a team of itself."""

    team: str
    file_mb: int
    quotas: dict[str, Quota]
    sets: dict[str, OpenSet]


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionAnswer:
    """The state of a submission, as the board tells it."""

    id: str
    set: str
    status: str
    problems: tuple[str, ...] = ()
    scores: tuple[dict[str, Estimate | int | str | None], ...] = ()
    feedback: dict[str, float | str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmitResult:
    """What became of a file."""

    refused: tuple[str, ...] = ()  # why it was not sent
    answer: SubmissionAnswer | None = None  # None if it was not sent
    page: str = ""  # address of the submission's page


_TEAM, _SUBMISSION = TypeAdapter(TeamAnswer), TypeAdapter(SubmissionAnswer)


def parse_board_url(url: str) -> str:
    """The address of a board without what follows its folder.

    Raises:
        LeaderboardError: It is none, holds a password or parameters, or would send a token unencrypted.
    """
    try:
        parts = urlsplit(url.strip())
        host = parts.hostname or ""
        _ = parts.port
    except ValueError:
        host = ""
    if not host or parts.scheme not in ("http", "https") or not url.isprintable():
        raise LeaderboardError("Name the address of a board, as https://board.example.org.")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise LeaderboardError(f"The address may hold no user, password or parameters; the token is {TOKEN_VARIABLE}.")
    if parts.scheme == "http" and not _is_local(host):
        raise LeaderboardError(f"A token is not sent to {host} by plain http; name its address with https.")
    return f"{parts.scheme}://{parts.netloc}{parts.path.removesuffix('index.html').rstrip('/')}"


def _is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def check_token(token: str | None) -> str:
    """The token of the environment; a LeaderboardError, which does not show it, if it is none."""
    text = (token or "").strip()
    if not text:
        raise LeaderboardError(
            f"Put the team's token into the environment variable {TOKEN_VARIABLE}; the board's maintainers give it."
        )
    if not _TOKEN.fullmatch(text):
        raise LeaderboardError(f"{TOKEN_VARIABLE} holds no token of a board (8 to 200 characters, no spaces).")
    return text


def submit(
    url: str,
    file: Path,
    facts: Mapping[str, str],
    *,
    set_name: str | None,
    private: bool,
    token: str | None,
    say: Say,
) -> SubmitResult:
    """Send a file of outputs to a board and wait until it is scored.

    Args:
        facts: ``model``, and perhaps ``link``, ``access``, ``size`` and ``released``, as `check_facts` takes them.
        set_name: The set; None for the only one that takes files.
        private: Whether only the team sees the scores.
        say: Is told what is waited for.

    Raises:
        LeaderboardError: The board cannot be reached or refuses, or the address is not that of a board.
    """
    with _connect(parse_board_url(url), check_token(token), say) as board:
        team = board.team()
        check_facts(team=team.team, **facts)
        name = _choose_set(team, set_name)
        if problems := _problems(board, team, name, file, private=private):
            return SubmitResult(refused=tuple(problems))
        fields = {**facts, "set": name} | ({"private": "yes"} if private else {})
        submission_id = board.send(file, {key: value for key, value in fields.items() if value})
        if team.sets[name].view is not None:
            say(f"{name} has a ladder, which answers a fixed time after a file has come, by default a minute")
        page = f"{board.url}/{status_name(submission_id)}"
        return SubmitResult(answer=board.wait_for(submission_id), page=page)


def _choose_set(team: TeamAnswer, asked: str | None) -> str:
    listing = ", ".join(sorted(team.sets)) or "none"
    if asked is not None and asked not in team.sets:
        raise LeaderboardError(f"The board takes no files for a set {asked[:40]!r} now; it takes them for: {listing}.")
    if asked is None and len(team.sets) != 1:
        raise LeaderboardError(f"Name the set with --set; the board takes files for: {listing}.")
    return asked or next(iter(team.sets))


def _problems(board: _BoardConnection, team: TeamAnswer, name: str, file: Path, *, private: bool) -> Sequence[str]:
    """Why the board would not take or score a file."""
    test_set = team.sets[name]
    if private and not test_set.private:
        return [no_private_files(name)]
    try:
        with file.open("rb") as stream:
            for _ in read_upload(stream, most=team.file_mb << 20):
                pass
        check_quota(team.quotas[name], name, hidden=test_set.hidden)
    except OSError as problem:
        raise LeaderboardError(f"{file} cannot be read: {problem.strerror or problem}.") from None
    except LeaderboardError as problem:
        return [str(problem)]
    template = board.template(name, most=team.file_mb << 20)
    return [] if template is None else _incompleteness(file, name, test_set, template)


def _incompleteness(file: Path, name: str, test_set: OpenSet, template: bytes) -> Sequence[str]:
    """What keeps a file from being scored, as the board says it: its questions are those of the set's template."""
    from vcrgen.leaderboard.scoring import check_file
    from vcrgen.scorer.options import ScoreOptions

    task = TASKS.get(test_set.task)
    if task is None:
        raise LeaderboardError(f"The set {name[:40]!r} is of a task that this version of vcrgen does not have.")
    variants: dict[str, list[str]] = {}
    try:
        for line in template.splitlines():
            row = json.loads(line)
            variants.setdefault(str(row["question_id"]), []).append(str(row.get(task.axis, "")))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return []  # the board itself looks at the file
    session = _session(task, name, test_set, variants, ScoreOptions())
    return check_file(session, file, shown_as=file.name, view=test_set.view)


def _session(
    task: ScoredTask, name: str, test_set: OpenSet, variants: Mapping[str, Sequence[str]], options: ScoreOptions
) -> BaseScoringSession:
    """A session that knows the questions of a set, and no answers: those that a file repeats are not compared."""
    facts: dict[str, Any] = {"name": name, "lang": test_set.language, "variants": test_set.modes, "hidden": True}
    if task is VCR_TASK:
        from vcrgen.scorer.answer_key import AnswerKey, Questions
        from vcrgen.scorer.records import Question
        from vcrgen.scorer.span_session import Session

        questions = Questions()
        for question_id in variants:
            questions.add(Question(question_id, ()))
        questions.close()
        return Session.of_key(AnswerKey(questions=questions, **facts), options)
    from vcrgen.data.tasks.bloom import LETTERS, ChoiceQuestion
    from vcrgen.scorer.mcq.key import ItemKey, ItemTable, KeyItem
    from vcrgen.scorer.mcq.session import ItemSession

    question = ChoiceQuestion("", tuple(LETTERS))  # with as many options as an item can have
    items = []
    for question_id, stated in variants.items():
        languages = [language for language in stated if language] or list(test_set.modes)
        items.append(KeyItem(question_id, "", question_id, dict.fromkeys(languages, question), 0, None))
    return ItemSession.of_key(ItemKey(questions=ItemTable(items, [True] * len(items)), **facts), options)


@contextmanager
def _connect(url: str, token: str, say: Say) -> Iterator[_BoardConnection]:
    try:
        import httpx2
    except ModuleNotFoundError as missing:
        raise LeaderboardError(needs_extra("`leaderboard submit`", "predict", missing.name)) from None
    headers = {"authorization": f"Bearer {token}", "accept": "application/json", "user-agent": "vcrgen"}
    timeout = httpx2.Timeout(ANSWER_SECONDS, connect=CONNECT_SECONDS)
    with httpx2.Client(headers=headers, timeout=timeout, follow_redirects=False) as client:
        yield _BoardConnection(client, url, token, say)


@dataclass(frozen=True, slots=True)
class _Answer:
    """An answer of the board, read up to a limit."""

    status: int
    body: bytes
    wait: float | None  # seconds until another try, if it says so

    @property
    def value(self) -> dict[str, Any]:
        """Its JSON object; empty if it is none."""
        try:
            value = json.loads(self.body)
        except (ValueError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}


class _BoardConnection:
    """Requests of one team to one board."""

    def __init__(self, client: Client, url: str, token: str, say: Say) -> None:
        self.url = url
        self._client, self._token, self._say = client, token, say
        self._host = urlsplit(url).netloc

    def team(self) -> TeamAnswer:
        """The team of the token, and what it may send."""
        answer = self._ask("GET", "api/team")
        try:
            if answer.status == 200:
                return _TEAM.validate_json(answer.body)
        except ValidationError:
            pass
        raise self._no_board() if answer.status in (200, 404, 405) else self._refusal(answer)

    def template(self, set_name: str, *, most: int) -> bytes | None:
        """The lines that a file of a set has to have; None if the board does not tell."""
        answer = self._ask("GET", template_name(set_name), most=most)
        return answer.body if answer.status == 200 else None

    def send(self, file: Path, fields: Mapping[str, str]) -> str:
        """Send a file; the id of the submission, also of an earlier one of the same file."""
        answer = self._ask("POST", "api/submissions", file=file, fields=fields)
        submission_id = str(answer.value.get("id", ""))
        if answer.status in (202, 409) and _ID.fullmatch(submission_id):
            if answer.status == 409:
                self._say("this file was submitted before; its result:")
            return submission_id
        raise self._refusal(answer)

    def wait_for(self, submission_id: str) -> SubmissionAnswer:
        """The submission, once nothing more happens to it by itself."""
        pause, told, status = FIRST_LOOK, -SAY_SECONDS, ""
        while True:
            answer = self._ask("GET", f"api/submissions/{submission_id}")
            if answer.status != 200:
                raise self._refusal(answer)
            try:
                submission = _SUBMISSION.validate_json(answer.body)
            except ValidationError:
                raise self._no_board() from None
            if submission.status not in GOING_ON:
                return submission
            if submission.status != status or time.monotonic() - told >= SAY_SECONDS:
                status, told = submission.status, time.monotonic()
                self._say(f"submission {submission_id[:12]} is {status}")
            time.sleep(pause)
            pause = min(LAST_LOOK, 1.5 * pause)

    def _ask(
        self,
        method: str,
        path: str,
        *,
        most: int = MAX_ANSWER,
        file: Path | None = None,
        fields: Mapping[str, str] = {},
    ) -> _Answer:
        """The answer to a request; it is sent again while the board is away, or as often as the board says when."""
        import httpx2

        tries = 0
        while True:
            tries += 1
            try:
                answer = self._request(method, path, most, file, fields)
            except httpx2.HTTPError as problem:
                if tries >= TRIES:
                    raise LeaderboardError(f"{self._host} cannot be reached: {self._shown(str(problem))}.") from None
                wait, why = float(tries), "cannot be reached"
            else:
                if answer.status not in (429, 503) or tries >= TRIES:
                    return answer
                if answer.wait is None or answer.wait > LONGEST_WAIT:
                    return answer
                wait, why = answer.wait, "is busy"
            self._say(f"{self._host} {why}; next try in {wait:.0f} s")
            time.sleep(wait)

    def _request(self, method: str, path: str, most: int, file: Path | None, fields: Mapping[str, str]) -> _Answer:
        if file is None:
            return self._read(method, path, most)
        with file.open("rb") as stream:
            return self._read(method, path, most, data=dict(fields), files={"file": (file.name, stream)})

    def _read(self, method: str, path: str, most: int, **body: Any) -> _Answer:
        with self._client.stream(method, f"{self.url}/{path}", **body) as response:
            received = bytearray()
            for block in response.iter_bytes():
                received += block
                if len(received) > most:
                    raise LeaderboardError(f"{self._host} answers with more than {most >> 20} MiB, as no board does.")
            seconds = response.headers.get("retry-after", "")
            wait = float(seconds) if seconds.isascii() and seconds.isdigit() and len(seconds) < 9 else None
            return _Answer(response.status_code, bytes(received), wait)

    def _no_board(self) -> LeaderboardError:
        return LeaderboardError(f"{self.url} is not the address of a board; name that of its front page.")

    def _refusal(self, answer: _Answer) -> LeaderboardError:
        """What an answer refuses, as a sentence."""
        sentence = answer.value.get("error")
        if not isinstance(sentence, str):
            return (
                self._no_board()
                if answer.status < 500
                else LeaderboardError(f"{self._host} has a fault (status {answer.status}); try again later.")
            )
        if answer.status == 401:
            sentence = f"The token in {TOKEN_VARIABLE} is not one of {self._host}, or was revoked; ask its maintainers."
        elif answer.status in (429, 503) and answer.wait:
            sentence += f" It says to try again in {max(1, round(answer.wait / 60))} min."
        return LeaderboardError(self._shown(sentence))

    def _shown(self, text: str) -> str:
        """A text of the server for a terminal, without the token."""
        return escape_terminal(text.replace(self._token, "[token]"))[:1000]
