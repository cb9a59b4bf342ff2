"""``vcrgen leaderboard``: every command as its help shows it, and one sentence for every mistake."""

import errno
import json
import re
import shlex
from pathlib import Path

import pytest
import typer
import yaml

from tests.leaderboard.common import Guess, Hand, Place, Run
from tests.pages import Page
from vcrgen.cli.leaderboard import leaderboard
from vcrgen.leaderboard.board import Board, open_board
from vcrgen.leaderboard.store import submissions
from vcrgen.scorer.answer_key import AnswerKey
from vcrgen.scorer.answers import load_answers

DOCS = Path(__file__).resolve().parents[2] / "docs" / "leaderboard-service.md"
COMMANDS = [
    "init",
    "apply",
    "publish-key",
    "serve",
    "submit",
    "add",
    "export",
    "import",
    "token",
    "list",
    "remove",
    "choose",
    "close",
    "rescore",
    "log",
    "backup",
    "restore",
    "maintainer",
]


def examples(command: str) -> list[list[str]]:
    (found,) = [one for one in leaderboard.registered_commands if (one.name or one.callback.__name__) == command]  # type: ignore[union-attr]
    assert found.epilog is not None
    return [shlex.split(line)[2:] for line in found.epilog.splitlines() if line.startswith("  vcrgen leaderboard ")]


def test_every_command_is_tested() -> None:
    group = typer.main.get_command(leaderboard)
    assert sorted(group.commands) == sorted(COMMANDS)  # type: ignore[attr-defined]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_an_example(command: str, run: Run) -> None:
    code, out, _ = run("leaderboard", command, "--help")
    assert code == 0 and f"vcrgen leaderboard {command} " in out
    assert all(example[0] == command for example in examples(command))


def test_a_board_from_beginning_to_end(
    run: Run, hand: Hand, public: Path, hidden: Path, public_key: AnswerKey, tmp_path: Path
) -> None:
    """With the words of the help."""

    def example(command: str, number: int = 0) -> list[str]:
        return examples(command)[number]

    def succeed(words: list[str]) -> str:
        code, out, err = run("leaderboard", *words)
        assert code == 0, err
        return out

    Path("data").mkdir()
    Path("data/my-vcr").symlink_to(public)
    Path("hidden-2026").symlink_to(hidden)
    out = succeed(example("init"))
    assert "board is a board" in out and "hidden-en" in out and "vcrgen leaderboard serve board" in out
    hand(public_key, right=2).rename("preds.jsonl")
    out = succeed(example("add"))
    assert "is on the board" in out and out.count("public") == 4 and "VI+TEI" in out
    (tmp_path / "published.csv").write_text("source,language,mode,view,model,exact\nP,en,easy,stacked,M,50\n")
    (tmp_path / "published.csv").rename("published.csv")
    assert succeed(example("import")) == "New rows: 1.\n" and succeed(example("import")) == "New rows: 0.\n"
    code, out, err = run("leaderboard", *example("token"))
    assert code == 0 and re.fullmatch(r"vcr_[\w-]{43}\n", out) and "only time it is shown" in err
    assert "stays valid" not in err
    assert "The team's 1 earlier token stays valid." in run("leaderboard", *example("token"))[2]
    code, out, err = run("leaderboard", "token", "board", "--team", "Taem A")
    assert code == 0 and "Taem A is a new team; did you mean Team A? With --revoke, the token of the new" in err
    code, out, err = run("leaderboard", "token", "board", "--team", "Team", "--revoke")
    assert code == 2 and "The team 'Team' has no valid token; did you mean 'Taem A'?" in err
    code, out, err = run("leaderboard", "token", "board", "--team", "Te\N{CYRILLIC SMALL LETTER A}m A")
    assert code == 0 and "may take it for Team A, as the names look the same" in " ".join(err.split())
    assert "Team A" in succeed(["token", "board"]) and "Tokens that are void now: 2." in succeed(example("token", 1))
    code, out, err = run("leaderboard", *example("maintainer"))
    assert code == 0 and re.fullmatch(r"vcr_maintainer_[\w-]{43}\n", out) and "only time it is shown" in err
    assert "Tokens that are void now: 1." in succeed(example("maintainer", 1))
    assert run("leaderboard", *example("list")) == (0, "", "No submission has the state failed.\n")
    listing = succeed(["list", "board"])
    assert re.fullmatch(r"[0-9a-f]{12}  \d{4}-\d\d-\d\d \d\d:\d\d  scored    public  My VLM, Team A\n", listing)
    assert "files; open index.html" in succeed(example("export")) and Path("site/index.html").is_file()
    latex, command = " ".join(example("export", 1)).split(" > ")
    assert command == "table.tex" and r"\begin{tabular}" in succeed(latex.split())
    assert "1 submission waits to be scored again" in succeed(example("rescore"))
    assert "queued" in succeed(["list", "board"])
    assert "Keep it private" in succeed(example("backup"))
    Path("data").rename("away")
    code, out, err = run("leaderboard", "restore", "board-2026-11-21.tar.gz", "moved")
    assert code == 0 and "moved is restored; sets: public, hidden-en" in out and "serve moved" in out
    assert "The set public is not at " in err and "--data public:PATH" in err and "--data hidden-en" not in err
    Path("away").rename("data")
    assert example("restore") == ["restore", "board-2026-11-21.tar.gz", "board"]
    told = succeed(example("log"))
    assert "the chain is whole" in told and "accepted" in told and "tokens revoked Team A" in told
    hand(public_key, right=1).rename("second.jsonl")
    code, out, err = run("leaderboard", "add", "board", "second.jsonl", "--model", "Second", "--team", "TeamA")
    assert code == 0 and "TeamA is a new team; did you mean Team A? `vcrgen leaderboard remove` takes back" in err
    assert {line.split()[3] for line in succeed(["list", "board"]).splitlines()} == {"scored"}
    code, _, err = run("leaderboard", *example("remove"))
    assert code == 2 and "0 submissions have an id that begins with '5f2c81d0'" in err
    one = listing.split()[0]
    assert "is removed" in succeed(["remove", "board", one, *example("remove")[3:]])
    assert f"{one}  " in succeed(["list", "board", "--status", "removed"])


WALK = re.search(
    r"## A phase from beginning to end\n\n```bash\n(.*?)```\n\n```yaml\n(.*?)```", DOCS.read_text("utf-8"), re.DOTALL
)


def test_a_phase_from_beginning_to_end(
    run: Run, guess: Guess, public: Path, hidden: Path, another: Path, hidden_key: AnswerKey
) -> None:
    """The walk of docs/leaderboard-service.md, line by line."""
    Path("data").mkdir()
    for name, place in (("data/my-vcr", public), ("hidden-2026", hidden), ("hidden-2027", another)):
        Path(name).symlink_to(place)
    guess("a", {"feedback": 3, "final": 2}, ("stacked", "tei")).rename("preds.jsonl")
    assert WALK is not None
    told = []
    for line in WALK[1].splitlines():
        program, *words = shlex.split(line, comments=True)
        if "apply" in words:
            settings = yaml.safe_load(Path("board/board.yaml").read_text("utf-8"))
            Path("board/board.yaml").write_text(yaml.safe_dump(settings | yaml.safe_load(WALK[2])), "utf-8")
        code, out, err = run(*words)
        assert program == "vcrgen" and code == 0, err
        told.append(" ".join(out.split()))
    assert len(told) == 7 and "hidden-2026: 100 % (exact match on VI+TEI of the feedback split" in told[2]
    assert "hidden-2026 is closed; 1 model has its scores on the final split." in told[4]
    assert told[5].startswith("hidden-2026: set retired. hidden-2027: set added. ")
    assert "hidden ladder retired" in told[5] and "hidden ladder open" in told[5]
    answers = [question.answers for question in load_answers(Path("hidden-2026-answers")).questions]
    assert answers == [question.answers for question in hidden_key.questions]


def test_commands_of_the_pages(run: Run, hand: Hand, public: Path, hidden: Path, public_key: AnswerKey) -> None:
    """With a file of people as a study writes it; other tests run the service, studies and the baseline."""
    Path("data").mkdir()
    for name, place in (
        ("data/my-vcr", public),
        ("hidden-2026", hidden),
    ):
        Path(name).symlink_to(place)
    hand(public_key, right=2).rename("preds.jsonl")
    Path("published.csv").write_text("source,language,mode,view,model,exact\nP,en,easy,stacked,M,50\n")
    lines = Page("docs/leaderboard.md").commands
    for line in lines:
        _, *words = shlex.split(line, comments=True)
        if words[0] in ("study", "baseline") or words[1] == "serve" or words[-1] == "pixels.jsonl":
            continue
        code, _, err = run(*words)
        assert code == 0, (line, err)
        if words[1] == "init":
            made = open_board(Path("board"))
            score = {"mode": "easy", "view": "stacked", "raters": 3, "items": 6, "spans": 10, "exact": 0.9, "low": 0.8}
            values = {
                "schema": "vcrgen-human-baseline-1",
                "study": "0" * 16,
                "data": made.sets[0].data,
                "language": "en",
            }
            values |= {"scores": [score | {"high": 1.0, "sd": None}]}
            Path("people.json").write_text(json.dumps(values))
            made.engine.dispose()
    assert len(lines) == 10


def test_sets_of_the_settings_are_put_into_use(run: Run, board: Board, another: Path) -> None:
    code, out, _ = run("leaderboard", "apply", board.folder)
    assert code == 0 and "hidden-en: Its scores are shown at once" in " ".join(out.split()) and "added" not in out
    file = board.folder / "board.yaml"
    more = f"- name: second\n  data: {another / 'key'}\n"
    file.write_text(file.read_text("utf-8").replace("sets:\n", f"sets:\n{more}"), "utf-8")
    code, out, _ = run("leaderboard", "apply", board.folder)
    assert code == 0 and "second: set added." in out and "ladder" in out
    file.write_text(file.read_text("utf-8").replace(more, ""), "utf-8")
    for command in ("apply", "serve"):
        code, out, err = run("leaderboard", command, board.folder)
        assert code == 2 and out == "" and "does not name the set 'second', which is in use" in err


def test_where_one_is_may_be_the_board(run: Run, board: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(board.folder)
    code, out, err = run("leaderboard", "export", ".", "--to", "site")
    assert code == 0, err
    assert (board.folder.with_name("board-site") / "index.html").is_file() and "board-site" in out


def test_a_file_that_is_refused_is_exit_code_1(run: Run, board: Board, hand: Hand, public_key: AnswerKey) -> None:
    file = hand(public_key)
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:-3]))
    code, out, err = run("leaderboard", "add", board.folder, file, "--model", "[bold]M", "--team", "T")
    assert code == 1 and err == ""
    assert "preds.jsonl is rejected:" in out and "Questions without an output: 3 (" in out
    code, out, _ = run("leaderboard", "list", board.folder, "--status", "failed")
    assert code == 0 and "[bold]M, T" in out and "Questions without an output: 3 (" in out


# Of each kind one: the others are tested beside what refuses them.
MISTAKES: dict[str, tuple[str, str]] = {
    "no set": ("init new", "Name the sets that the board scores with --data NAME:PATH"),
    "instant feedback": ("init new --data a:{public} --feedback instant", "or say `unsafe` where you trust"),
    "no database": (
        "init new --data a:{public} --database postgresql+psycopg://u:open-sesame@127.0.0.1:1/n",
        "cannot be used",
    ),
    "a picture": ("add {board} {png} --model M --team T", "p.png, line 1: not UTF-8"),
    "an archive": ("add {board} {zip} --model M --team T --set public", "boards take plain text only"),
    "a missing file": ("add {board} nothing.jsonl --model M --team T", "nothing.jsonl cannot be read"),
    "a folder for a file": ("add {board} . --model M --team T --set public", "cannot be read: Is a directory"),
    "an unknown form": ("export {board} --to pdf", "Unknown form 'pdf'; known: site, md, csv, latex, json"),
    "a table over a folder": ("export {board} --to md --out .", r"\. cannot be written"),
    "a table in no folder": ("export {board} --to md --out no/table.md", "no/table.md cannot be written"),
    "an unknown state": ("list {board} --status done", "Unknown state 'done'; known: held, queued, scoring"),
    "no team": ("token {board} --revoke", "Name the team whose tokens are to be void"),
    "a team that cannot be seen": ("token {board} --team \u200b", "holds the invisible character U.200B"),
    "a table that is not there": ("import {board} nothing.csv", "nothing.csv is not a file"),
    "a table that is none": ("import {board} {png}", "not UTF-8"),
    "no backup": ("restore {png} new", "cannot be read as a backup"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_sentence(
    mistake: str, run: Run, board: Board, place: Place, public: Path, tmp_path: Path
) -> None:
    paths = {"png": tmp_path / "p.png", "zip": tmp_path / "z.zip"}
    paths["png"].write_bytes(b"\x89PNG\r\n\x1a\n" + b"\xff" * 50)
    paths["zip"].write_bytes(b"PK\x03\x04")
    one = place(board, "A", {("easy", "stacked"): [0.5] * 20})
    words, message = MISTAKES[mistake]
    given = words.format(board=board.folder, public=public, **paths)
    code, out, err = run("leaderboard", *shlex.split(given))
    assert code == 2 and out == ""
    assert re.search(message, err), err
    assert err.startswith("Error: ") and err.count("\n") == 1 and "Traceback" not in err and "open-sesame" not in err
    assert not (Path("new") / "board.yaml").exists()
    with board.reading() as connection:
        assert [found.id for found in submissions.list_submissions(connection)] == [one.id]


NO_FOLDER = ("init", "restore", "submit")  # commands that take no board's folder which has to be there


@pytest.mark.parametrize("command", [command for command in COMMANDS if command not in NO_FOLDER])
def test_no_board_is_one_sentence(command: str, run: Run, tmp_path: Path) -> None:
    more = {
        "add": ["p.jsonl", "--model", "M", "--team", "T"],
        "export": ["--to", "md"],
        "import": ["q.csv"],
        "remove": ["ff", "--reason", "r"],
        "backup": ["b.tar.gz"],
        "choose": ["ff"],
        "close": ["hidden-en"],
        "publish-key": ["hidden-en", "--out", "key"],
        "maintainer": ["Ada"],
    }
    code, out, err = run("leaderboard", command, "nowhere", *more.get(command, []))
    assert code == 2 and out == ""
    assert (
        "nowhere is no board (it has no board.yaml); `vcrgen leaderboard init nowhere --data NAME:DATA` makes one."
        in err
    )
    assert not Path("nowhere").exists() and err.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("files_per_days: 3", "Unknown key 'files_per_days'"),
        ("database: rubbish", "is no URL like"),
        ("title: [", "board.yaml"),
    ],
)
def test_wrong_settings_are_one_sentence(text: str, message: str, run: Run, board: Board) -> None:
    (board.folder / "board.yaml").write_text(text)
    code, _, err = run("leaderboard", "list", board.folder)
    assert code == 2 and message in err and "Traceback" not in err


def test_a_changed_log_is_told(run: Run, board: Board) -> None:
    from sqlalchemy import text

    with board.engine.begin() as connection:
        connection.execute(text("DROP TRIGGER events_stay_UPDATE"))
        connection.execute(text("UPDATE events SET actor = 'somebody else' WHERE number = 1"))
    code, out, err = run("leaderboard", "log", board.folder)
    assert code == 2 and "Line 1 of the log was changed" in err and "the chain is whole" not in out
    assert open_board(board.folder).sets


@pytest.mark.parametrize("place", ["vcrgen.leaderboard.board.Vault.store", "vcrgen.leaderboard.commands.score_or_wait"])
def test_a_full_disk_is_one_sentence(
    place: str, board: Board, run: Run, hand: Hand, public_key: AnswerKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was a traceback, or said that the file of outputs cannot be read."""

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "the disk is full", "board.sqlite3")

    monkeypatch.setattr(place, full)
    file = hand(public_key)
    code, out, err = run("leaderboard", "add", board.folder, file, "--model", "M", "--team", "T", "--set", "public")
    assert (code, out) == (2, "")
    assert "The disk of board.sqlite3 is full; free some space and run the same command again." in err
    assert "Traceback" not in err and "cannot be read" not in err
