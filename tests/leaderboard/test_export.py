"""A board as files, and not a word of a hidden set's answers in any of them."""

import json
from pathlib import Path

import pytest

from tests.leaderboard.common import Facts, Hand, Place, Run, Submit
from vcrgen.core.errors import OutputError
from vcrgen.data.reader import open_dataset
from vcrgen.data.tasks.vcr import VCR
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.commands import remove
from vcrgen.leaderboard.export import KINDS, export_site, export_tables
from vcrgen.leaderboard.store import submissions
from vcrgen.leaderboard.store.schema import events
from vcrgen.leaderboard.worker import Worker
from vcrgen.scorer.answer_key import AnswerKey

EASY = ("easy", "stacked")


def texts(folder: Path) -> dict[str, str]:
    """The content of all files but pictures."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".png")
    return {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in files}


def holding_answers(key: AnswerKey, folder: Path) -> list[Path]:
    """Files that are rejected or scored, and hold answers wherever a format has room for a text."""
    repository = {
        str(number): {
            "res_stacked_image": " ".join(q.answers),
            "crossed_text": list(q.answers),
            "question_id": q.question_id,
        }
        for number, q in enumerate(key.questions)
    }
    table = [
        {"index": n, "question_id": q.question_id, "answer": list(q.answers), "prediction": q.answers[0]}
        for n, q in enumerate(key.questions)
    ]
    first = key.questions[0]
    broken = [
        [{"question_id": first.question_id, "output": first.answers[0], "view": "stacked"}],
        [{"question_id": first.question_id, "output": [first.answers[0], "x"]}],
        [{"question_id": first.question_id, "output": {"text": first.answers[0]}}],
    ]
    files = []
    for number, value in enumerate([repository, table, dict(list(repository.items())[:2])]):
        files.append(folder / f"answers-{number}.json")
        files[-1].write_text(json.dumps(value))
    for number, lines in enumerate(broken):
        files.append(folder / f"broken-{number}.jsonl")
        files[-1].write_text("".join(json.dumps(line) + "\n" for line in lines))
    files.append(folder / "cut.jsonl")
    files[-1].write_text('{"question_id": "x", "output": "' + first.answers[0])
    return files


def test_nothing_that_a_board_shows_holds_an_answer_of_a_hidden_set(
    board: Board,
    hand: Hand,
    facts: Facts,
    submit: Submit,
    public_key: AnswerKey,
    hidden_key: AnswerKey,
    run: Run,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    public = next(test_set.path for test_set in board.sets if test_set.name == "public")
    captions = "\n".join(row["caption"].casefold() for _, row in open_dataset(public, VCR).rows(["caption"]))
    secrets = [a for q in hidden_key.questions for a in q.answers if len(a) >= 8 and a.casefold() not in captions]
    assert len(secrets) >= 8
    for right, model in ((1, "Right"), (2, "Half"), (0, "Wrong")):
        submit(board, hand(hidden_key, right=right, note=model), facts(model), set_name="hidden-en")
        submit(board, hand(public_key, right=right, note=model), facts(model))
    for number, file in enumerate(holding_answers(hidden_key, tmp_path)):
        submit(board, file, facts(f"Holds answers {number}", f"Team {number}"), set_name="hidden-en")
    worker = Worker(board)  # with its own log, on standard error
    with worker.exclusive(wait=5):
        while worker.score_next():
            pass
    with board.reading() as connection:
        handed_in = submissions.list_submissions(connection)
        told = [repr(row) for row in connection.execute(events.select())]
    statuses = [one.status.value for one in handed_in]
    assert statuses.count("scored") >= 7 and statuses.count("failed") >= 4
    remove(
        board, next(one.id for one in handed_in if one.facts.model == "Wrong" and one.set == "hidden-en"), "a reason"
    )
    export_site(board, tmp_path / "site")
    pages = texts(tmp_path / "site")
    shown = {f"site/{name}": text for name, text in pages.items()}
    shown |= {form: export_tables(board, form) for form in KINDS if form != "site"}
    shown |= {command: "".join(map(str, run("leaderboard", command, board.folder))) for command in ("log", "list")}
    shown |= {"problems": repr([one.problems for one in handed_in]), "events": "\n".join(told)}
    shown |= {"standard error": "".join(capfd.readouterr())}
    assert set(shown) >= {"md", "csv", "latex", "json", "log", "list", "site/index.html", "site/board.json"}
    assert "scored" in shown["standard error"] or "scored" in shown["log"]
    assert [path.name for path in (tmp_path / "site").glob("view-*")] == ["view-public"]
    items = json.loads(pages["view-public/data/0000.js"].partition(",")[2].removesuffix(");\n"))
    assert len(items) == min(len(public_key), 50) and {
        len({result["run"] for result in item["results"]}) for item in items
    } == {3}
    assert "Half (" in pages["view-public/index.html"]
    assert 'href="view-public/index.html"' in pages["set-public.html"]
    assert "view-" not in pages["set-hidden-en.html"]
    assert "Holds answers 0" in shown["json"] and "Right" in shown["list"]
    for name, text in shown.items():
        folded = text.casefold()
        found = [answer for answer in secrets if answer.casefold() in folded]
        assert not found, f"{name} holds {len(found)} answers"


def test_a_site_is_a_folder_of_pages_and_tables(board: Board, place: Place, facts: Facts, tmp_path: Path) -> None:
    for model, value in (("A", 0.5), ("B", 0.75)):
        place(board, model, {EASY: [value] * 20})
    count = export_site(board, tmp_path / "site")
    pages = texts(tmp_path / "site")
    first, second = sorted((facts("A").entry, facts("B").entry))
    assert len(pages) == count and set(pages) == {
        ".vcrgen-site",
        ".nojekyll",
        "index.html",
        "gap.html",
        "history.html",
        "reported.html",
        "about.html",
        "compare.html",
        "board-public-easy-stacked.html",
        "board-public-hard-stacked.html",
        "board-hidden-en-mixed-stacked.html",
        "set-public.html",
        "template-public.jsonl",
        "example-public.jsonl",
        "set-hidden-en.html",
        "template-hidden-en.jsonl",
        "example-hidden-en.jsonl",
        f"model-{first}.html",
        f"model-{second}.html",
        f"compare-{first}-{second}.html",
        "board.csv",
        "board.json",
    }
    for form in ("csv", "json"):
        assert pages[f"board.{form}"] == export_tables(board, form)
    assert str(tmp_path) not in "".join(pages.values())


def test_an_export_is_replaced_as_a_whole(board: Board, place: Place, tmp_path: Path) -> None:
    one = place(board, "A", {EASY: [0.5] * 20})
    export_site(board, tmp_path / "site")
    before = texts(tmp_path / "site")
    export_site(board, tmp_path / "site")
    assert texts(tmp_path / "site") == before
    remove(board, one.id, "a reason")
    export_site(board, tmp_path / "site")
    assert f"model-{one.facts.entry}.html" in before
    assert f"model-{one.facts.entry}.html" not in texts(tmp_path / "site")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["board", "site"]


@pytest.mark.parametrize("there", ["file", "folder"])
def test_what_is_something_else_stays(there: str, board: Board, tmp_path: Path) -> None:
    target = tmp_path / "site"
    if there == "file":
        target.write_text("mine")
    else:
        target.mkdir()
        (target / "mine.txt").write_text("mine")
    with pytest.raises(OutputError, match="holds something else; choose a new or an empty folder"):
        export_site(board, target)
    assert (target if there == "file" else target / "mine.txt").read_text() == "mine"


@pytest.mark.parametrize("place_of_fault", ["export.write_text", "set_views._outputs"])
def test_an_export_that_fails_leaves_the_last_one(
    place_of_fault: str, board: Board, place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place(board, "A", {EASY: [0.5] * 20})
    export_site(board, tmp_path / "site")
    before = texts(tmp_path / "site")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(f"vcrgen.leaderboard.{place_of_fault}", full)
    with pytest.raises(OutputError, match="cannot be written: the disk is full"):
        export_site(board, tmp_path / "site")
    assert texts(tmp_path / "site") == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["board", "site"]


def test_the_folder_where_one_is_may_be_the_target(
    board: Board, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert export_site(board, Path()) > 5
    assert (tmp_path / "here" / "index.html").is_file()
