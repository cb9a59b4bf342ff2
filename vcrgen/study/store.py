"""The file in which a study lives: one SQLite database, and the only module that knows its tables.

An answer is acknowledged when its transaction has ended, and then it is on the disk (``synchronous=FULL``): killing the
service or losing power takes nothing that a page called saved.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from errno import ENOSPC
from pathlib import Path
from queue import Empty, LifoQueue

from vcrgen.bloom.audit.draw import as_values, from_values
from vcrgen.dataset.views import View
from vcrgen.errors import StudyError
from vcrgen.files import canonical_json
from vcrgen.study.design import Kind, Step, Viewing
from vcrgen.study.records import Condition, Frozen, Rater, RaterState, RaterStep, Response, StudyItem, Wrong
from vcrgen.tasks.bloom import ChoiceQuestion

FILE = "study.sqlite3"
VERSION = 2  # from 2 on a picture is kept once, whatever shows it, and what drop-outs left is known
BUSY_SECONDS = 60.0
_TABLES = """
CREATE TABLE IF NOT EXISTS frozen (value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS items (
    number INTEGER PRIMARY KEY, question_id TEXT NOT NULL, fields INTEGER NOT NULL, answers TEXT
);
CREATE TABLE IF NOT EXISTS questions (
    item INTEGER NOT NULL REFERENCES items, lang TEXT NOT NULL, text TEXT NOT NULL, options TEXT NOT NULL,
    PRIMARY KEY (item, lang)
);
CREATE TABLE IF NOT EXISTS images (digest TEXT PRIMARY KEY, png BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS pictures (
    item INTEGER NOT NULL REFERENCES items, condition INTEGER NOT NULL, image TEXT NOT NULL REFERENCES images,
    PRIMARY KEY (item, condition)
);
CREATE TABLE IF NOT EXISTS raters (
    number INTEGER PRIMARY KEY, lang TEXT NOT NULL, phase TEXT NOT NULL, token TEXT UNIQUE, code TEXT NOT NULL,
    door TEXT, visitor TEXT, tab TEXT NOT NULL DEFAULT '', consent TEXT NOT NULL DEFAULT '',
    languages TEXT NOT NULL DEFAULT '', began TEXT NOT NULL DEFAULT '', ended TEXT NOT NULL DEFAULT '',
    UNIQUE (door, visitor)
);
CREATE TABLE IF NOT EXISTS steps (
    rater INTEGER NOT NULL REFERENCES raters, number INTEGER NOT NULL, kind TEXT NOT NULL, item INTEGER NOT NULL,
    condition INTEGER NOT NULL, turn INTEGER NOT NULL, word TEXT NOT NULL, texts TEXT, unread TEXT,
    seconds REAL NOT NULL DEFAULT 0, done INTEGER NOT NULL DEFAULT 0, revision INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (rater, number)
);
CREATE UNIQUE INDEX IF NOT EXISTS one_rater_a_slot ON steps (item, condition, turn) WHERE kind = 'item';
CREATE UNIQUE INDEX IF NOT EXISTS one_condition_a_rater ON steps (rater, item) WHERE kind = 'item';
CREATE TABLE IF NOT EXISTS returned (
    item INTEGER NOT NULL REFERENCES items, condition INTEGER NOT NULL, turn INTEGER NOT NULL,
    PRIMARY KEY (item, condition, turn)
);
CREATE TABLE IF NOT EXISTS consents (version TEXT PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS maintainers (token TEXT PRIMARY KEY);
CREATE TABLE IF NOT EXISTS secret (value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS causes (
    maintainer TEXT NOT NULL, item INTEGER NOT NULL, place INTEGER NOT NULL, typed TEXT NOT NULL, cause TEXT NOT NULL,
    PRIMARY KEY (maintainer, item, place, typed)
);
"""
Connection = sqlite3.Connection
_STEP = "rater, number, kind, item, condition, turn, word, texts, unread, seconds, done, revision"
_RATER = "number, lang, phase, code, tab, consent, languages, began, ended"


class Store:
    """The database of a study; close it, or use it as a context.

    Args:
        folder: The study's folder.
        new: Make the database; otherwise it has to be there.

    Raises:
        StudyError: It is not there, of another version, or no database.
    """

    def __init__(self, folder: Path, *, new: bool = False) -> None:
        self.folder = folder
        self._file = folder / FILE
        self._idle: LifoQueue[sqlite3.Connection] = LifoQueue()
        if not new and not self._file.is_file():
            raise StudyError(f"{folder} is not a study (it has no {FILE}); `vcrgen study init` makes one.")
        if new:
            with self.writing() as connection:
                _make_tables(connection)
        with self.reading() as connection:
            version = _version(connection)
        if version == 1:
            with self.writing() as connection:
                if _version(connection) == version:  # nobody else has done it meanwhile
                    _upgrade(connection)
            self._shrink()
            version = VERSION
        if version != VERSION:
            self.close()
            raise StudyError(f"{self._file} is of another version of vcrgen, or no study.")

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        while True:
            try:
                self._idle.get_nowait().close()
            except Empty:
                return

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection that sees one state of the database."""
        with self._connected("BEGIN") as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction; there is one at a time. It is on the disk when the block has ended, or nothing of it is."""
        with self._connected("BEGIN IMMEDIATE") as connection:
            yield connection

    @contextmanager
    def _connected(self, begin: str) -> Iterator[sqlite3.Connection]:
        try:
            connection = self._take()
            try:
                connection.execute(begin)
                try:
                    yield connection
                except BaseException:
                    connection.rollback()
                    raise
                connection.execute("COMMIT")
            except sqlite3.Error:
                connection.close()  # whatever state it is in
                raise
            except BaseException:
                self._idle.put(connection)
                raise
            self._idle.put(connection)
        except sqlite3.Error as problem:
            if getattr(problem, "sqlite_errorcode", None) in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE):
                raise OSError(ENOSPC, "the disk is full", str(self._file)) from None
            raise StudyError(f"The database {self._file} cannot be used: {problem}.") from problem

    def _take(self) -> sqlite3.Connection:
        try:
            return self._idle.get_nowait()
        except Empty:
            pass
        connection = sqlite3.connect(self._file, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        connection.row_factory = sqlite3.Row
        try:
            for pragma in (
                *("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"),
                *("trusted_schema = OFF", "secure_delete = ON"),  # what is forgotten is overwritten
            ):
                connection.execute(f"PRAGMA {pragma}")
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _shrink(self) -> None:
        """Give the room of what was removed back to the disk; where that fails, the file stays as large as it is."""
        with closing(self._take()) as connection, suppress(sqlite3.Error):
            connection.execute("VACUUM")
        self.tidy()

    def tidy(self) -> None:
        """Take what was removed out of the files, too: the journal could still hold it."""
        connection = self._take()
        try:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.Error as problem:
            raise StudyError(f"The database {self._file} cannot be used: {problem}.") from problem
        finally:
            connection.close()


def _make_tables(connection: sqlite3.Connection) -> None:
    """Make the tables that are not there."""
    for statement in filter(str.strip, _TABLES.split(";")):
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {VERSION}")


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _upgrade(connection: sqlite3.Connection) -> None:
    """Make a study of version 1 one of this version.

    There each item had a copy of its picture for each condition. What drop-outs had left by then goes to newly invited
    people, as it did there.
    """
    connection.execute("ALTER TABLE pictures RENAME TO copies")
    _make_tables(connection)
    for item, condition in connection.execute("SELECT item, condition FROM copies").fetchall():
        wanted = "SELECT png FROM copies WHERE item = ? AND condition = ?"
        add_picture(connection, item, condition, connection.execute(wanted, (item, condition)).fetchone()[0])
    connection.execute("DROP TABLE copies")


def now() -> str:
    """This moment in UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


# What was decided when the study was made


def write_frozen(connection: sqlite3.Connection, frozen: Frozen) -> None:
    """Keep what was decided."""
    values = {name: getattr(frozen, name) for name in Frozen.__slots__}
    values["draw"] = frozen.draw and as_values(frozen.draw)
    connection.execute("INSERT INTO frozen VALUES (?)", (canonical_json(values),))


def read_frozen(connection: sqlite3.Connection) -> Frozen:
    """What was decided."""
    values = json.loads(connection.execute("SELECT value FROM frozen").fetchone()[0])
    values["conditions"] = tuple(Condition(mode, View(view)) for mode, view in values["conditions"])
    if values.get("draw"):
        values["draw"] = from_values(values["draw"])
    return Frozen(**values)


def write_secret(connection: sqlite3.Connection, secret: str) -> None:
    """Keep what links are made from that are the same each time somebody comes."""
    connection.execute("INSERT INTO secret VALUES (?)", (secret,))


def read_secret(connection: sqlite3.Connection) -> str:
    """What :func:`write_secret` kept."""
    return str(connection.execute("SELECT value FROM secret").fetchone()[0])


def add_item(connection: sqlite3.Connection, item: StudyItem) -> None:
    """Keep an item."""
    answers = None if item.answers is None else canonical_json(item.answers)
    values = (item.number, item.question_id, item.fields, answers)
    connection.execute("INSERT INTO items VALUES (?, ?, ?, ?)", values)


def items_of(connection: sqlite3.Connection) -> list[StudyItem]:
    """All items, those of the training last."""
    rows = connection.execute("SELECT number, question_id, fields, answers FROM items ORDER BY number")
    return [
        StudyItem(number=number, question_id=name, fields=fields, answers=answers and tuple(json.loads(answers)))
        for number, name, fields, answers in rows
    ]


def add_question(connection: sqlite3.Connection, item: int, lang: str, question: ChoiceQuestion) -> None:
    """Keep what is asked about the picture of an item of a question set, in one language."""
    values = (item, lang, question.text, canonical_json(question.options))
    connection.execute("INSERT INTO questions VALUES (?, ?, ?, ?)", values)


def questions_of(connection: sqlite3.Connection) -> dict[tuple[int, str], ChoiceQuestion]:
    """All questions, by item and language."""
    rows = connection.execute("SELECT item, lang, text, options FROM questions")
    return {(item, lang): ChoiceQuestion(text, tuple(json.loads(options))) for item, lang, text, options in rows}


def add_picture(connection: sqlite3.Connection, item: int, condition: int, png: bytes) -> None:
    """Keep the picture of an item in a condition; the same one as another's is kept once."""
    digest = hashlib.sha256(png).hexdigest()
    connection.execute("INSERT OR IGNORE INTO images VALUES (?, ?)", (digest, png))
    connection.execute("INSERT INTO pictures VALUES (?, ?, ?)", (item, condition, digest))


def picture_of(connection: sqlite3.Connection, item: int, condition: int) -> bytes:
    """The picture of an item in a condition, as PNG."""
    wanted = "SELECT png FROM images JOIN pictures ON image = digest WHERE item = ? AND condition = ?"
    return bytes(connection.execute(wanted, (item, condition)).fetchone()[0])


# People


def add_rater(
    connection: sqlite3.Connection, number: int, lang: str, *, token: str | None, code: str, door: str | None
) -> None:
    """Add somebody, known by the hash of a token or, later, by the one who comes in by the hash of a shared link."""
    values = (number, lang, RaterState.INVITED, token, code, door)
    connection.execute("INSERT INTO raters (number, lang, phase, token, code, door) VALUES (?, ?, ?, ?, ?, ?)", values)


def next_rater(connection: sqlite3.Connection) -> int:
    """The number of the next rater."""
    return int(connection.execute("SELECT coalesce(max(number), 0) + 1 FROM raters").fetchone()[0])


def raters_of(connection: sqlite3.Connection) -> list[Rater]:
    """Everybody, in the order of the invitations."""
    return [_rater(row) for row in connection.execute(f"SELECT {_RATER} FROM raters ORDER BY number")]  # noqa: S608


def rater_by_token(connection: sqlite3.Connection, token: str | None) -> Rater | None:
    """Whoever has a token of that hash, or None."""
    row = connection.execute(f"SELECT {_RATER} FROM raters WHERE token = ?", (token,)).fetchone()  # noqa: S608
    return None if row is None else _rater(row)


def is_door(connection: sqlite3.Connection, door: str | None) -> bool:
    """Whether a shared link of that hash was given out."""
    return connection.execute("SELECT 1 FROM raters WHERE door = ?", (door,)).fetchone() is not None


def enter(connection: sqlite3.Connection, door: str, visitor: str, token: str) -> bool:
    """Give a visitor of a shared link a place, the same one each time; False where none is free.

    Args:
        connection: Of a transaction that writes.
        door: The hash of the link.
        visitor: A hash that stands for the visitor.
        token: The hash of the visitor's own token.
    """
    if connection.execute("SELECT 1 FROM raters WHERE door = ? AND visitor = ?", (door, visitor)).fetchone():
        return True
    free = connection.execute(
        "SELECT number FROM raters WHERE door = ? AND visitor IS NULL AND phase = ? ORDER BY number",
        (door, RaterState.INVITED),
    ).fetchone()
    if free is None:
        return False
    connection.execute("UPDATE raters SET visitor = ?, token = ? WHERE number = ?", (visitor, token, free[0]))
    return True


def change_rater(connection: sqlite3.Connection, number: int, **values: str | None) -> None:
    """Set columns of a rater."""
    sets = ", ".join(f"{name} = ?" for name in values)
    connection.execute(f"UPDATE raters SET {sets} WHERE number = ?", (*values.values(), number))  # noqa: S608


def keep_consent(connection: sqlite3.Connection, version: str, text: str) -> None:
    """Keep the text that somebody agreed to."""
    connection.execute("INSERT OR IGNORE INTO consents VALUES (?, ?)", (version, text))


def add_maintainer(connection: sqlite3.Connection, token: str | None) -> None:
    """Let in a maintainer, known by the hash of a token."""
    connection.execute("INSERT INTO maintainers VALUES (?)", (token,))


def is_maintainer(connection: sqlite3.Connection, token: str | None) -> bool:
    """Whether a token of that hash lets a maintainer in."""
    return connection.execute("SELECT 1 FROM maintainers WHERE token = ?", (token,)).fetchone() is not None


# Steps and answers


def add_steps(connection: sqlite3.Connection, rater: int, steps: Sequence[Step]) -> None:
    """Keep what a rater will be asked, after what the rater has already."""
    there = connection.execute("SELECT coalesce(max(number), -1) FROM steps WHERE rater = ?", (rater,)).fetchone()[0]
    connection.executemany(
        "INSERT INTO steps (rater, number, kind, item, condition, turn, word) VALUES (?, ?, ?, ?, ?, ?, ?)",
        [(rater, number, *step) for number, step in enumerate(steps, start=there + 1)],
    )
    connection.executemany(
        "DELETE FROM returned WHERE (item, condition, turn) = (?, ?, ?)",
        [(step.item, step.condition, step.turn) for step in steps if step.kind is Kind.ITEM],
    )


def place_of(connection: sqlite3.Connection, rater: int, number: int) -> RaterStep | None:
    """A step of a rater with what was typed there, or None if there is no such step."""
    wanted = f"SELECT {_STEP} FROM steps WHERE rater = ? AND number = ?"  # noqa: S608 - our own names
    row = connection.execute(wanted, (rater, number)).fetchone()
    return None if row is None else _place(row)


def places_of(connection: sqlite3.Connection, rater: int | None = None) -> list[RaterStep]:
    """The steps of a rater, or of everybody, in their order."""
    wanted = f"SELECT {_STEP} FROM steps WHERE rater = ? OR ? IS NULL ORDER BY rater, number"  # noqa: S608
    return [_place(row) for row in connection.execute(wanted, (rater, rater))]


def save(connection: sqlite3.Connection, rater: int, number: int, response: Response) -> bool:
    """Keep what a rater typed; False where the same or something newer is there already."""
    changed = connection.execute(
        "UPDATE steps SET texts = ?, unread = ?, seconds = ?, done = ?, revision = ?"
        " WHERE rater = ? AND number = ? AND revision < ?",
        (
            *(canonical_json(values) for values in (response.texts, response.unread)),
            *(response.seconds, int(response.done), response.revision),
            *(rater, number, response.revision),
        ),
    )
    return changed.rowcount > 0


def wanted_slots(connection: sqlite3.Connection, frozen: Frozen) -> list[Viewing]:
    """The answers that the study wants and that nobody has given or is to give."""
    held = {
        Viewing(*row)
        for row in connection.execute("SELECT item, condition, turn FROM steps WHERE kind = ?", (Kind.ITEM,))
    }
    return [slot for slot in frozen.slots() if slot not in held]


def returned_slots(connection: sqlite3.Connection) -> list[Viewing]:
    """The answers that somebody was to give or had given, and that nobody has now: what drop-outs left."""
    return [Viewing(*row) for row in connection.execute("SELECT * FROM returned ORDER BY item, condition, turn")]


def give_back(connection: sqlite3.Connection, rater: int, *, everything: bool) -> int:
    """Take steps from a rater, so that their items are wanted again: those that are not done, or all; how many."""
    unfinished = "" if everything else " AND done = 0"
    connection.execute(
        "INSERT INTO returned SELECT item, condition, turn FROM steps"  # noqa: S608
        f" WHERE rater = ? AND kind = ?{unfinished}",
        (rater, Kind.ITEM),
    )
    return connection.execute(f"DELETE FROM steps WHERE rater = ?{unfinished}", (rater,)).rowcount  # noqa: S608


# Causes of errors


def put_causes(connection: sqlite3.Connection, maintainer: str, causes: Mapping[Wrong, str]) -> None:
    """Keep what a maintainer says of wrong texts, in place of what that maintainer said before.

    Args:
        connection: Of a transaction that writes.
        maintainer: A name.
        causes: By item, place and typed text.
    """
    connection.execute("DELETE FROM causes WHERE maintainer = ?", (maintainer,))
    rows = [(maintainer, *about, cause) for about, cause in causes.items()]
    connection.executemany("INSERT INTO causes VALUES (?, ?, ?, ?, ?)", rows)


def causes_of(connection: sqlite3.Connection) -> dict[str, dict[Wrong, str]]:
    """By maintainer, what each of them says of wrong texts."""
    found: dict[str, dict[Wrong, str]] = {}
    for maintainer, item, place, typed, cause in connection.execute("SELECT * FROM causes ORDER BY maintainer"):
        found.setdefault(maintainer, {})[item, place, typed] = cause
    return found


def drop_causes(connection: sqlite3.Connection, kept: Collection[Wrong]) -> None:
    """Forget what was said of all texts but these."""
    for maintainer, causes in causes_of(connection).items():
        put_causes(connection, maintainer, {about: cause for about, cause in causes.items() if about in kept})


def _rater(row: sqlite3.Row) -> Rater:
    values = {name: row[name] for name in row.keys()}  # noqa: SIM118 - a row's iterator gives values
    return Rater(**values | {"phase": RaterState(row["phase"])})


def _place(row: sqlite3.Row) -> RaterStep:
    step = Step(Kind(row["kind"]), row["item"], row["condition"], row["turn"], row["word"])
    response = None
    if row["texts"] is not None:
        texts, unread = (tuple(json.loads(row[name])) for name in ("texts", "unread"))
        response = Response(texts, unread, row["seconds"], bool(row["done"]), row["revision"])
    return RaterStep(row["rater"], row["number"], step, response)
