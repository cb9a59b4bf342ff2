"""Hidden sets: nothing that the board says tells an answer, a guess, or an exact score."""

import csv
import io
import itertools
import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from tests.leaderboard.common import Run, events
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.commands import score_waiting
from vcrgen.leaderboard.disclosure import rounding_step
from vcrgen.leaderboard.export import export_site, export_tables
from vcrgen.leaderboard.store.schema import cells
from vcrgen.scorer.answer_key import AnswerKey

Lines = list[dict[str, Any]]


def as_lines(*lines: Any) -> bytes:
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def complete(key: AnswerKey, output: Callable[[int], str], **more: Any) -> Lines:
    return [
        {"question_id": question.question_id, "view": view, "output": output(number), **more}
        for view in ("stacked", "tei")
        for number, question in enumerate(key.questions)
    ]


def answers_of(key: AnswerKey) -> list[list[str]]:
    return [list(question.answers) for question in key.questions]


def vlmevalkit(key: AnswerKey, answers: list[list[str]], **more: Any) -> bytes:
    """A table in the form that holds answers beside the outputs."""
    out = io.StringIO()
    writer = csv.DictWriter(out, ["index", "question_id", "view", "prediction", "answer", *more])
    writer.writeheader()
    for view in ("stacked", "tei"):
        for number, question in enumerate(key.questions):
            cells = {"index": number, "question_id": question.question_id, "view": view, "prediction": f"word {number}"}
            writer.writerow({**cells, "answer": json.dumps(answers[number]), **more})
    return out.getvalue().encode()


def lmms(key: AnswerKey, answers: list[list[str]]) -> bytes:
    lines = (
        {
            "doc_id": key.row_of(question.question_id),
            "target": json.dumps(answers[number]),
            "view": "stacked",
            "resps": [[f"word {number}"]],
            "doc": {"question_id": question.question_id, "crossed_text": answers[number]},
        }
        for number, question in enumerate(key.questions)
    )
    return as_lines(*lines)


def shuffled(key: AnswerKey) -> list[list[str]]:
    """Answers that are all wrong, of the same shape."""
    return [[f"quite another text {n}" for n, _ in enumerate(answers)] for answers in answers_of(key)]


def one_right(key: AnswerKey) -> list[list[str]]:
    wrong = shuffled(key)
    return [answers_of(key)[0], *wrong[1:]]


def files_with_a_guess(key: AnswerKey, guess: str) -> dict[str, bytes]:
    """Files that hold a text where an answer could be looked for."""
    one = key.questions[0].question_id
    good = complete(key, lambda number: f"word {number}")
    reported = json.dumps(guess)
    return {
        "as id": as_lines({"question_id": guess, "output": "x"}),
        "as one id of many": as_lines(*good, {"question_id": guess, "output": "x"}),
        "as model": as_lines(*complete(key, lambda number: f"word {number}", model=guess)),
        "as models": as_lines({**good[0], "model": guess}, {**good[1], "model": "y"}),
        "as view": as_lines({**good[0], "view": guess}),
        "as mode": as_lines({**good[0], "mode": guess}),
        "as key": as_lines({"question_id": one, guess: "x"}),
        "as answers": as_lines(*({**each, "answers": [guess], "crossed_text": [guess]} for each in good)),
        "in a broken line": f'{{"question_id": "{one}", "output": {reported}'.encode(),
        "after a line": as_lines(*good) + guess.encode(),
        "as a table's head": f"index,{guess.replace(',', '')}\n1,x\n".encode(),
        "as an object": as_lines({"question_id": one, "output": {guess: guess}}),
        "as a lmms target": as_lines({"doc_id": 0, "target": guess, "resps": [["x"]]}),
        "as a literal": f'index,prediction,answer\n0,x,"[{guess.replace(chr(34), "")}"\n'.encode(),
    }


def everything(desk: Any, folder: Path, run: Run) -> str:
    """All that anybody can see of a board, without what only whoever knows a submission's id sees.

    And what maintainers are told on the command line.
    """
    paths = [
        "/",
        "/history.html",
        "/gap.html",
        "/compare.html",
        "/board.csv",
        "/board.json",
        "/board.md",
        "/board.latex",
    ]
    index = desk.client.get("/").text + desk.client.get("/history.html").text
    paths += sorted({f"/{name}" for name in re.findall(r"(?:board|model)-[\w-]+\.html", index)})
    entries = sorted(set(re.findall(r"model-([0-9a-f]{12})", index)))
    paths += [f"/compare-{a}-{b}.html" for a, b in itertools.pairwise(entries)]
    said = [desk.client.get(path).text for path in paths]
    export_site(desk.board, folder)
    said += [file.read_text("utf-8") for file in folder.rglob("*") if file.is_file()]
    said += [export_tables(desk.board, form) for form in ("md", "csv", "latex", "json")]
    said += map(str, run("leaderboard", "log", desk.board.folder))
    said += [repr(line) for line in events(desk.board)]
    return "\n".join(said)


def leaked(key: AnswerKey, text: str, sent: bytes) -> list[str]:
    """Answers of at least eight characters in a text that were not in what a team sent."""
    known = sent.decode("utf-8", "replace").casefold()
    plain = text.casefold()
    texts = [answer for question in key.questions for answer in question.answers if len(answer) >= 8]
    assert len(texts) > 3
    return [each for each in texts if each.casefold() in plain and each.casefold() not in known]


def test_no_answer_is_ever_said(
    make_board: Any, open_desk: Any, hidden_key: AnswerKey, tmp_path: Path, capfd: Any, run: Run
) -> None:
    board = make_board(
        hidden_scores_per_day=1000, hidden_scores_lifetime=1000, failed_files_per_day=1000, requests_per_minute=10_000
    )
    desk = open_desk(board)
    answer = next(text for texts in answers_of(hidden_key) for text in texts if len(text) >= 8)
    files = {name: (content, content) for name, content in files_with_a_guess(hidden_key, answer).items()}
    everywhere = as_lines(*complete(hidden_key, lambda number: " ".join(hidden_key.questions[number].answers)))
    files["all right"] = (everywhere, b"")
    files["table with answers"] = (vlmevalkit(hidden_key, answers_of(hidden_key)), b"")
    files["log with answers"] = (lmms(hidden_key, answers_of(hidden_key)), b"")
    sent = {name: desk.api(content, set="hidden-en", model=name) for name, (content, _) in files.items()}
    assert {name: each.status_code for name, each in sent.items() if each.status_code != 202} == {}
    assert score_waiting(board) == len(files)
    statuses = {}
    for name, response in sent.items():
        found = desk.status(response)
        statuses[name] = found["status"]
        told = json.dumps(found, ensure_ascii=False) + desk.client.get(response.json()["page"]).text
        assert leaked(hidden_key, told, files[name][1]) == [], name
    assert statuses["all right"] == "scored" and {*statuses.values()} == {"scored", "failed"}
    logged = "".join(capfd.readouterr())
    seen = everything(desk, tmp_path / "site", run)
    logged += "".join(capfd.readouterr())
    assert leaked(hidden_key, seen + logged, b"") == []
    board.engine.dispose()


# What is sent along: the answers, one of them, wrong ones.
@pytest.mark.parametrize("make", [vlmevalkit, lmms], ids=["table", "log"])
def test_answers_that_are_sent_along_tell_nothing(
    make: Callable[[AnswerKey, list[list[str]]], bytes], make_board: Any, open_desk: Any, hidden_key: AnswerKey
) -> None:
    told = []
    for number, answers in enumerate((answers_of(hidden_key), shuffled(hidden_key), one_right(hidden_key))):
        board = make_board(f"board{number}")
        desk = open_desk(board)
        response = desk.api(make(hidden_key, answers), set="hidden-en")
        assert response.status_code == 202
        score_waiting(board)
        found = desk.status(response)
        told.append({name: found[name] for name in ("status", "problems", "scores")})
        board.engine.dispose()
    assert told[0] == told[1] == told[2]


def test_right_and_wrong_guesses_fail_alike(make_board: Any, open_desk: Any, hidden_key: AnswerKey) -> None:
    board = make_board(
        hidden_scores_per_day=1000, hidden_scores_lifetime=1000, failed_files_per_day=1000, requests_per_minute=10_000
    )
    right = next(text for texts in answers_of(hidden_key) for text in texts if len(text) >= 8)
    wrong = right[0] + "".join("q" if char.isalpha() else char for char in right[1:])  # keys are named in order
    told = []
    for team, guess in (("Right", right), ("Wrong", wrong)):
        desk = open_desk(board, team=team)
        files = files_with_a_guess(hidden_key, guess)
        sent = {name: desk.api(content, set="hidden-en", model=name) for name, content in files.items()}
        assert score_waiting(board) == len(files)
        statuses = {name: desk.status(response) for name, response in sent.items()}
        told.append(
            {
                name: (found["status"], re.sub(r"\d+", "0", " ".join(found["problems"]).replace(guess, "GUESS")))
                for name, found in statuses.items()
            }
        )
    for name in told[0]:
        assert told[0][name] == told[1][name], name
    board.engine.dispose()


def test_copies_in_other_forms_are_refused(make_board: Any, open_desk: Any, hidden_key: AnswerKey) -> None:
    board = make_board(hidden_scores_per_day=10)
    desk = open_desk(board)
    rng = random.Random(0)
    lines = complete(hidden_key, lambda number: f"guess {rng.random()}")
    near = [{**lines[0], "output": hidden_key.questions[0].answers[0]}, *lines[1:]]
    spaced = [{**line, "output": f"  {line['output'].upper()} "} for line in lines]
    far = complete(hidden_key, lambda number: f"another guess {rng.random()}")
    sent = [
        desk.api(as_lines(*each), set="hidden-en", model=f"M{n}") for n, each in enumerate((lines, near, spaced, far))
    ]
    assert score_waiting(board) == 4
    found = [desk.status(response) for response in sent]
    assert [each["status"] for each in found] == ["scored", "scored", "failed", "scored"]
    assert "a file that your team submitted before" in found[2]["problems"][0] and found[2]["scores"] == []
    other = open_desk(board, team="Another team")
    response = other.api(as_lines(*spaced), set="hidden-en")
    score_waiting(board)
    assert other.status(response)["status"] == "scored", "teams are not compared with each other"
    board.engine.dispose()


def test_scores_of_hidden_sets_are_rounded_everywhere(
    make_board: Any, open_desk: Any, hand: Any, hidden_key: AnswerKey, public_key: AnswerKey, tmp_path: Path
) -> None:
    board: Board = make_board(hidden_scores_per_day=10)
    desk = open_desk(board)
    sent = [desk.api(hand(hidden_key, right=n, note=f"n{n}"), set="hidden-en", model=f"M{n}") for n in (2, 3)]
    sent += [desk.api(hand(public_key, right=n), model=f"M{n}") for n in (2, 3)]
    assert score_waiting(board) == 4
    hidden_set = next(one for one in board.sets if one.hidden)
    step = rounding_step(hidden=True, spans=hidden_set.spans)
    with board.reading() as connection:
        stored = connection.execute(select(cells.c.estimates).where(cells.c.set == "hidden-en")).scalars()
        exact = [value for estimates in stored for value in estimates.values()]
    unrounded = {abs(n) for triple in exact for n in triple if abs(n / step - round(n / step)) > 1e-6}
    assert len(unrounded) > 3
    texts = {f"{n:.6f}"[:7] for n in unrounded} | {f"{100 * n:.4f}"[:6] for n in unrounded}

    told = [cell for response in sent[:2] for cell in desk.status(response)["scores"]]
    assert len(told) == 4
    for cell in told:
        for metric in ("exact", "jaccard"):
            for value in cell[metric].values():
                assert abs(value / step - round(value / step)) < 1e-9, cell
    with_hidden = [
        table for table in json.loads(desk.client.get("/board.json").text)["tables"] if table["track"]["hidden"]
    ]
    assert with_hidden
    seen = [json.dumps(with_hidden), json.dumps(told)]
    seen += [desk.client.get(response.json()["page"]).text for response in sent[:2]]
    index = desk.client.get("/").text
    seen += [desk.client.get(f"/{name}").text for name in set(re.findall(r"board-hidden-en-\w+-\w+\.html", index))]
    seen += [line for line in desk.client.get("/board.csv").text.splitlines() if "hidden-en" in line]
    for text in seen:
        assert [number for number in texts if number in text] == []
    export_site(board, tmp_path / "site")
    for file in (tmp_path / "site").glob("board-hidden-en-*.html"):
        assert [number for number in texts if number in file.read_text("utf-8")] == []
    board.engine.dispose()
