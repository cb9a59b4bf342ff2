"""A board as one file, and back: between databases, whole or not at all."""

import errno
import gzip
import io
import json
import shutil
import stat
import tarfile
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.leaderboard.common import Drain, Facts, Hand, MakeBoard, Place, Submit
from vcrgen.core.errors import DatabaseError, LeaderboardError, OutputError
from vcrgen.data.views import View
from vcrgen.leaderboard import backup as backups
from vcrgen.leaderboard.backup import backup, restore
from vcrgen.leaderboard.board import Board, open_board
from vcrgen.leaderboard.commands import give_token, remove
from vcrgen.leaderboard.export import export_tables
from vcrgen.leaderboard.new_board import settings_of
from vcrgen.leaderboard.store import results, submissions, teams
from vcrgen.leaderboard.store.log import check_log, read_log
from vcrgen.leaderboard.store.models import model_page
from vcrgen.leaderboard.store.reader import BoardReader
from vcrgen.leaderboard.store.schema import metadata
from vcrgen.report.published.results import ReportedResult
from vcrgen.scorer.answer_key import AnswerKey

Members = list[tuple[tarfile.TarInfo, bytes]]
EASY = ("easy", "stacked")


def rows(board: Board) -> dict[str, list[Any]]:
    with board.reading() as connection:
        return {
            table.name: [tuple(row) for row in connection.execute(table.select().order_by(*table.primary_key.columns))]
            for table in metadata.sorted_tables
        }


@pytest.mark.parametrize(("source", "target"), [("sqlite", "pg"), ("pg", "sqlite")])
def test_a_board_moves_from_one_database_to_another(
    source: str,
    target: str,
    make_board: MakeBoard,
    request: pytest.FixtureRequest,
    hand: Hand,
    facts: Facts,
    submit: Submit,
    drain: Drain,
    public_key: AnswerKey,
    hidden_key: AnswerKey,
    tmp_path: Path,
) -> None:
    def database(kind: str) -> str:
        return request.getfixturevalue("postgres")() if kind == "pg" else ""

    board = make_board(database=database(source), with_reported=True, files_per_day=7)
    titled = [settings_of(one).model_copy(update={"title": f"Title of {one.name}"}) for one in board.sets]
    board = replace(board, settings=board.settings.model_copy(update={"sets": tuple(titled)}))
    half = submit(board, hand(public_key, right=2), facts("观海 🜁", "Lab", size="7B", released="2026-01-31"))
    submit(board, hand(public_key, right=1), facts("Right"))
    submit(board, hand(hidden_key, right=2), facts("Right"), set_name="hidden-en")
    submit(board, hand(public_key, right=2, note="same"), facts("Removed"))
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"question_id": "nobody", "output": "\\u0000"}\n')
    submit(board, bad, facts("Failed"))
    assert drain(board) == 5
    with board.reading() as connection:
        (gone,) = [one for one in submissions.list_submissions(connection) if one.facts.model == "Removed"]
    remove(board, gone.id, "a reason")
    token = give_token(board, "Lab", "label")
    submit(board, hand(public_key, right=3), facts("Waiting"))

    backup(board, tmp_path / "board.tar.gz")
    moved = restore(tmp_path / "board.tar.gz", tmp_path / "moved", database=database(target), data=[])
    before, after = rows(board), rows(moved)
    events = after.pop("events")
    assert (
        events[:-1] == before.pop("events")
        and (events[-1].what if hasattr(events[-1], "what") else events[-1][3]) == "restored"
    )
    assert after == before
    for form in ("md", "csv", "json", "latex"):
        assert export_tables(moved, form) == export_tables(board, form)
    with board.reading() as one, moved.reading() as other:
        assert check_log(read_log(other)) == len(events)
        for entry in (half.facts.entry, gone.facts.entry):
            assert model_page(BoardReader(moved.settings, other), entry) == model_page(
                BoardReader(board.settings, one), entry
            )
        assert replace(BoardReader(moved.settings, other).site(live=True), updated=None, head="") == replace(
            BoardReader(board.settings, one).site(live=True), updated=None, head=""
        )
        assert teams.team_of(other, token) == "Lab"
    assert moved.settings.model_dump(exclude={"database"}) == board.settings.model_dump(exclude={"database"})
    assert open_board(tmp_path / "moved").sets == board.sets
    for path in (board.folder / "files").rglob("*"):
        if path.is_file():
            assert (moved.folder / path.relative_to(board.folder)).read_bytes() == path.read_bytes()

    # and life goes on: what waited is scored, and new numbers follow the old ones
    submit(moved, hand(public_key, right=4), facts("New"))
    assert drain(moved) == 2
    with moved.writing() as connection:
        results.add_reported(
            connection, [ReportedResult(source="P", language="en", mode="easy", view=View.TEI, model="Q", exact=0.5)]
        )
    new = rows(moved)
    for table in ("runs", "reported_results"):
        assert [row[0] for row in new[table]] == list(range(1, len(new[table]) + 1))
    assert len(new["runs"]) == len(before["runs"]) + 2
    with moved.reading() as connection:
        assert check_log(read_log(connection)) == len(events) + 3


@pytest.fixture(scope="module")
def packed(board_in: MakeBoard, place: Place, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The backup of a board with two scored submissions; not to be changed."""
    folder = tmp_path_factory.mktemp("backup")
    board = board_in(folder / "board")
    for model, value in (("A", 0.5), ("B", 0.75)):
        place(board, model, {EASY: [value] * 20})
    backup(board, folder / "board.tar.gz")
    board.engine.dispose()
    return folder / "board.tar.gz"


@pytest.fixture
def made(packed: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copy2(packed, tmp_path / "board.tar.gz"))


def test_only_its_owner_can_read_a_backup_and_what_is_made_of_it(made: Path, tmp_path: Path) -> None:
    restored = restore(made, tmp_path / "new", database="", data=[])
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (made, restored.folder, restored.folder / "board.yaml")]
    assert modes == [0o600, 0o700, 0o600]


def test_members_are_looked_at_one_at_a_time(tmp_path: Path) -> None:
    """The headers of half a million files of nothing pack to 4 MB."""
    members = [(member("backup.json"), json.dumps({"format": backups.FORMAT}).encode())]
    write_members(tmp_path / "many.tar.gz", [*members, *((member(f"files/{name:064x}"), b"") for name in range(5000))])
    with tarfile.open(tmp_path / "many.tar.gz") as archive:
        tracemalloc.start()
        backups._check_members(archive, tmp_path / "many.tar.gz")
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < 3 << 19


def test_a_full_disk_is_no_fault_of_a_backup(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(backups, "_insert_rows", full)
    with pytest.raises(OSError, match="No space left"):
        restore(made, tmp_path / "new", database="", data=[])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["board.tar.gz"]


def test_nothing_is_overwritten(made: Path, board: Board, tmp_path: Path) -> None:
    content = made.read_bytes()
    with pytest.raises(OutputError, match="is there already; name a new file"):
        backup(board, made)
    assert made.read_bytes() == content
    before = rows(board)
    with pytest.raises(LeaderboardError, match="is there and not empty; name a new folder"):
        restore(made, board.folder, database="", data=[])
    assert rows(board) == before
    with pytest.raises(OutputError, match="cannot be written: no such file or directory"):
        backup(board, tmp_path / "nowhere" / "b.tar.gz")
    with pytest.raises(LeaderboardError, match="The database holds a board already"):
        restore(made, tmp_path / "new", database=f"sqlite:///{board.folder}/board.sqlite3", data=[])
    assert rows(board) == before


def test_a_backup_that_cannot_be_restored_is_none(
    board: Board, place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file is restored once before it is called a backup."""
    place(board, "A", {EASY: [0.5] * 20})
    real = backups.as_json_value
    monkeypatch.setattr(backups, "as_json_value", lambda value: "AAAA" if isinstance(value, bytes) else real(value))
    with pytest.raises(LeaderboardError, match="the log"):
        backup(board, tmp_path / "board.tar.gz")
    assert not list(tmp_path.glob("board.tar.gz*"))


def test_a_backup_holds_no_password(postgres: Callable[[], str], make_board: MakeBoard, tmp_path: Path) -> None:
    board = make_board(database=postgres().replace("vcr@", "vcr:open-sesame@"))
    backup(board, tmp_path / "b.tar.gz")
    assert b"open-sesame" not in gzip.decompress((tmp_path / "b.tar.gz").read_bytes())


def test_a_set_may_be_elsewhere(made: Path, public: Path, tmp_path: Path) -> None:
    shutil.copytree(public, tmp_path / "copy")
    restored = restore(made, tmp_path / "new", database="", data=[f"public:{tmp_path / 'copy'}"])
    assert restored.sets[0].path == str(tmp_path / "copy")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (["public"], "A set is named as NAME:PATH"),
        (["public:/no/such/folder"], "The set 'public' cannot be used"),
        (["publik:{public}"], "there is no set 'publik'"),
        (["hidden-en:{another}/key"], "The data of 'hidden-en' at .* is not that of the set on the board"),
        (["public:{another}/key"], "The data of 'public' at .* is not that of the set on the board"),
    ],
)
def test_a_wrong_place_of_a_set_is_said(
    data: list[str], message: str, made: Path, public: Path, another: Path, tmp_path: Path
) -> None:
    places = [text.format(public=public, another=another) for text in data]
    with pytest.raises(LeaderboardError, match=message):
        restore(made, tmp_path / "new", database="", data=places)
    with pytest.raises(LeaderboardError, match="is no board"):
        open_board(tmp_path / "new")


def read_members(file: Path) -> Members:
    with tarfile.open(file, "r:gz") as archive:
        found = []
        for member in archive:
            content = archive.extractfile(member)
            assert content is not None
            found.append((member, content.read()))
        return found


def write_members(file: Path, members: Members) -> None:
    with tarfile.open(file, "w:gz") as archive:
        for member, content in members:
            if member.isreg():
                member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


def edited(members: Members, name: str, change: Callable[[bytes], bytes]) -> Members:
    assert [info for info, _ in members if info.name == name]
    return [(info, change(content) if info.name == name else content) for info, content in members]


def with_head(**more: Any) -> Callable[[Members], Members]:
    return lambda members: edited(
        members, "backup.json", lambda content: json.dumps({**json.loads(content), **more}).encode()
    )


def in_file(members: Members) -> Members:
    name = next(info.name for info, _ in members if info.name.startswith("files/"))
    return edited(members, name, lambda content: content + b" ")


def sparse(name: str, size: int, holes: str = "0,0") -> tuple[tarfile.TarInfo, bytes]:
    """A member that stores nothing and says that it has so many bytes."""
    info = member(name)
    info.pax_headers = {"GNU.sparse.size": str(size), "GNU.sparse.numblocks": "0", "GNU.sparse.map": holes}
    return info, b""


def commented(info: tarfile.TarInfo, text: str) -> tarfile.TarInfo:
    info.pax_headers = {"comment": text}
    return info


def with_row(members: Members, table: str, **values: Any) -> Members:
    """The first row of a table has other values."""

    def change(content: bytes) -> bytes:
        first, rest = content.split(b"\n", 1)
        return json.dumps(json.loads(first) | values).encode() + b"\n" + rest

    return edited(members, f"tables/{table}.jsonl", change)


CHANGES: dict[str, tuple[Callable[[Members], Members], str]] = {
    "no head": (lambda members: members[1:], "is no backup of a board"),
    "another order": (lambda members: members[::-1], "is no backup of a board"),
    "another format": (with_head(format="other"), "is no backup of a board"),
    "a head of rubbish": (lambda m: edited(m, "backup.json", lambda _: b"{"), "is no backup of a board"),
    "a head that nests": (lambda m: edited(m, "backup.json", lambda _: b"[" * 100_000), "is no backup of a board"),
    "a head that is a list": (lambda m: edited(m, "backup.json", lambda _: b"[]"), "is no backup of a board"),
    "no settings": (with_head(settings=None), "is damaged"),
    "wrong settings": (with_head(settings={"file_mb": -1}), "is damaged"),
    "settings that are unknown": (with_head(settings={"no_such_key": 1}), "is damaged"),
    "another version": (with_head(schema="9999"), "is of another version of vcrgen"),
    "a way out": (lambda m: [*m, (member("../out"), b"x")], "holds '../out', which no backup does"),
    "a way out below": (lambda m: [*m, (member("files/../../out"), b"x")], "which no backup does"),
    "an absolute path": (lambda m: [*m, (member("/tmp/out"), b"x")], "which no backup does"),
    "a table that is none": (lambda m: [*m, (member("tables/other.jsonl"), b"")], "which no backup does"),
    "a link": (
        lambda m: [*m, (member("files/" + "0" * 64, tarfile.SYMTYPE, "/etc/passwd"), b"")],
        "which no backup does",
    ),
    "a hard link": (
        lambda m: [*m, (member("files/" + "0" * 64, tarfile.LNKTYPE, "backup.json"), b"")],
        "which no backup",
    ),
    "a folder": (lambda m: [*m, (member("files", tarfile.DIRTYPE), b"")], "which no backup does"),
    "a device": (lambda m: [*m, (member("files/" + "0" * 64, tarfile.CHRTYPE), b"")], "which no backup does"),
    "another name": (lambda m: [*m, (member("files/" + "0" * 64), b"x")], "is not what its name says"),
    "a changed file": (in_file, "is not what its name says"),
    "a missing file": (lambda m: [one for one in m if not one[0].name.startswith("files/")], "is missing"),
    "a missing table": (
        lambda m: [one for one in m if one[0].name != "tables/cells.jsonl"],
        "the table cells is missing",
    ),
    "nothing but a head": (lambda m: m[:1], "is missing"),
    "a changed event": (
        lambda m: edited(m, "tables/events.jsonl", lambda content: content.replace(b'"accepted"', b'"refused"')),
        "of the log was changed",
    ),
    "a missing event": (
        lambda m: edited(m, "tables/events.jsonl", lambda content: content.split(b"\n", 1)[1]),
        "of the log was changed",
    ),
    "a row of rubbish": (lambda m: edited(m, "tables/runs.jsonl", lambda content: b"{\n"), "is damaged: table runs"),
    "a row that is a list": (
        lambda m: edited(m, "tables/runs.jsonl", lambda content: b"[]\n"),
        "is damaged: table runs",
    ),
    "a row without a column": (
        lambda m: edited(m, "tables/runs.jsonl", lambda _: b'{"id": 1}\n'),
        "is damaged: table runs",
    ),
    "a row twice": (lambda m: edited(m, "tables/sets.jsonl", lambda content: content * 2), "cannot be used"),
    "a file of holes": (lambda m: [*m, sparse("files/" + "0" * 64, 1 << 29)], "which no backup does"),
    "a table of holes": (lambda m: [*m, sparse("tables/runs.jsonl", 1 << 29)], "which no backup does"),
    "holes that are none": (lambda m: [*m, sparse("files/" + "0" * 64, 1, "x")], "cannot be read as a backup"),
    "a file that unpacks": (
        lambda m: [*m, (member("files/" + "0" * 64), bytes(9 << 20))],
        "unpacks to more than 4 MiB",
    ),
    "a table that unpacks": (lambda m: [*m, (member("tables/runs.jsonl"), bytes(9 << 20))], "unpacks to more than 4"),
    "a header that unpacks": (
        lambda m: [*m, (commented(member("files/" + "0" * 64), "x" * (9 << 20)), b"x")],
        "unpacks to more than 4 MiB",
    ),
    "a lifecycle that is none": (lambda m: with_row(m, "sets", lifecycle=[]), "of the log says"),
    "a row that is too long": (lambda m: with_row(m, "runs", result={"x": "y" * (1 << 16)}), "is damaged: table runs"),
    "a name that is too long": (lambda m: with_row(m, "submissions", model="M" * 81), "is damaged: table submissions"),
    "a text that is too long": (lambda m: with_row(m, "sets", signature="M" * 3000), "is damaged: table sets"),
    "a name that is a list": (lambda m: with_row(m, "submissions", model=["M"]), "is damaged: table submissions"),
    "rows of nothing": (
        lambda m: edited(m, "tables/cells.jsonl", lambda content: content.replace(b'"run":1,', b'"run":77,')),
        "cannot be used",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_backup_is_refused_and_makes_no_board(
    change: str, made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, limit in {"FREE_BYTES": 4 << 20, "MAX_ROW": 1 << 16, "MAX_TEXT": 2000}.items():
        monkeypatch.setattr(backups, name, limit)
    how, message = CHANGES[change]
    write_members(tmp_path / "changed.tar.gz", how(read_members(made)))
    with pytest.raises((DatabaseError, LeaderboardError)) as caught:
        restore(tmp_path / "changed.tar.gz", tmp_path / "a" / "new", database="", data=[])
    assert message in str(caught.value) and "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists() and not (tmp_path / "a" / "out").exists()
    assert not (tmp_path / "a" / "new").exists()


def test_an_unchanged_backup_that_was_packed_anew_is_taken(made: Path, tmp_path: Path) -> None:
    write_members(tmp_path / "same.tar.gz", read_members(made))
    assert len(restore(tmp_path / "same.tar.gz", tmp_path / "new", database="", data=[]).sets) == 2


def test_nothing_is_stored_of_an_archive_that_is_too_large(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of it is looked at first, so a bomb behind good members fills no disk."""
    stored: list[str] = []
    monkeypatch.setattr(backups, "new_board", lambda *_: stored.append("a board"))
    monkeypatch.setattr(backups, "FREE_BYTES", 4 << 20)
    bomb = (member("files/" + "0" * 64), bytes(9 << 20))
    write_members(tmp_path / "changed.tar.gz", [*read_members(made), bomb])
    with pytest.raises(LeaderboardError, match=r"unpacks to more than 4 MiB.*nothing was restored"):
        restore(tmp_path / "changed.tar.gz", tmp_path / "new", database="", data=[])
    assert not stored


@pytest.mark.parametrize("kind", ["empty", "text", "gzip of text", "png", "missing", "folder"])
def test_what_is_no_archive_is_said(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "file"
    contents = {"empty": b"", "text": b"hello", "gzip of text": gzip.compress(b"hello" * 1000), "png": b"\x89PNG\r\n"}
    if kind in contents:
        file.write_bytes(contents[kind])
    elif kind == "folder":
        file.mkdir()
    with pytest.raises(LeaderboardError, match=r"cannot be read as a backup|is no backup of a board"):
        restore(file, tmp_path / "new", database="", data=[])
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("share", [0.02, 0.3, 0.5, 0.7, 0.9, 0.999])
@pytest.mark.parametrize("how", ["truncated", "overwritten"])
def test_a_damaged_backup_is_a_sentence(how: str, share: float, made: Path, tmp_path: Path) -> None:
    content = made.read_bytes()
    at = int(len(content) * share)
    made.write_bytes(content[:at] if how == "truncated" else content[:at] + bytes(40) + content[at + 40 :])
    (tmp_path / "new").mkdir()
    with pytest.raises(LeaderboardError) as caught:
        restore(made, tmp_path / "new", database="", data=[])
    assert "\n" not in str(caught.value) and not any((tmp_path / "new").iterdir())
    made.write_bytes(content)
    assert len(restore(made, tmp_path / "new", database="", data=[]).sets) == 2
