"""Question sets on a board: scored, ranked, shown and exported beside sets of Visual Caption Restoration."""

import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.bloom.conftest import made_set, png, row
from vcrgen.leaderboard.board import Board, describe_set, enter_set, init_board
from vcrgen.leaderboard.scoring import check_file, fingerprint, near_copy, score_file
from vcrgen.leaderboard.settings import Settings
from vcrgen.leaderboard.site.render import Pages
from vcrgen.leaderboard.tables import FORMATS
from vcrgen.leaderboard.views import Views
from vcrgen.scorer.run import AnySession, Options, open_session

ITEMS = 120


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pictures = [{"bytes": png(f"#{40 + 2 * number:02x}4080"), "path": None} for number in range(ITEMS // 4)]
    rows = [row(number, image=pictures[number // 4]) for number in range(ITEMS)]
    return made_set(tmp_path_factory.mktemp("questions") / "set", rows)


@pytest.fixture(scope="module")
def session(questions: Path) -> AnySession:
    return open_session(questions, Options())


def outputs(file: Path, right: float, *, seed: int = 0, views: tuple[str, ...] = ("image",), **more: Any) -> Path:
    """A complete file of outputs of which so many are right."""
    rng = random.Random(seed)
    with file.open("w") as handle:
        for number in range(ITEMS):
            for lang in ("en", "ar"):
                for view in views:
                    key = number % 4
                    choice = key if rng.random() < right else (key + rng.randrange(1, 4)) % 4
                    line = {"question_id": f"item-{number:03d}", "lang": lang, "view": view, "output": "ABCD"[choice]}
                    handle.write(json.dumps(line | more) + "\n")
    return file


@pytest.fixture
def asked(sqlite_board: Board, questions: Path) -> Board:
    """The board with both sets of Visual Caption Restoration, and a question set."""
    with sqlite_board.writing() as connection:
        enter_set(connection, describe_set("bloom", questions))
    return sqlite_board


def test_models_are_ranked_on_a_question_set(
    asked: Board, tmp_path: Path, facts: Callable[..., Any], submit: Callable[..., Any], drain: Callable[[Board], int]
) -> None:
    logprobs = [[-1.0, -2.0], [-2.0], [-3.0], [-4.0]]
    for name, right in (("Strong", 0.9), ("Middle", 0.85), ("Weak", 0.3)):
        file = outputs(tmp_path / f"{name}.jsonl", right, views=("image", "blind"), logprobs=logprobs)
        submit(asked, file, facts(name, f"Team {name}"), set_name="bloom")
    assert drain(asked) == 3
    with asked.reading() as connection:
        views = Views(asked, connection)
        tracks = [track for track in views.tracks() if track.set == "bloom"]
        assert [(track.language, track.mode, track.view.value) for track in tracks] == [
            ("en", "en", "image"), ("en", "en", "blind"), ("ar", "ar", "image"), ("ar", "ar", "blind"),
        ]  # fmt: skip
        table = views.table(tracks[0])
        site = views.site(live=True)
        (ranking,) = table.rankings
        assert [(each.facts.model, each.rank) for each in ranking.rows][2] == ("Weak", 3)
        assert ranking.rows[0].rank == 1 and set(ranking.rows[0].scores[tracks[0].view]) == {"rae", "lbs"}
        assert ranking.rows[0].difference is not None
        entries = [each.facts.entry for each in ranking.rows]
        page = Pages(site).board(table)
        model = views.model(entries[0])
        versus = views.compare(entries[0], entries[2])
        assert model is not None and versus is not None
        told = {form: write(views.tables()) for form, write in FORMATS.items()}
        pages = [page, Pages(site).model(model), Pages(site).compare(versus), Pages(site).about()]
    assert "Ranked by RAE on Image: 120 questions" in page and "Image − Blind" in page
    assert "on the same resampled pictures" in page
    assert "RAE by leaf" in pages[1] and "the right option" in pages[1]
    assert "gets more items right than" in pages[2] and "Only A got right" in pages[2]
    assert "who guesses has 25 %" in pages[3]
    assert '"task": "bloom"' in told["json"] and "RAE (Image)" in told["md"] and "over 120 questions" in told["md"]
    # The tables of the other task say nothing new.
    assert json.loads(told["json"])["tables"][0]["track"].keys() == {
        "set", "hidden", "language", "mode", "view", "questions", "spans", "step", "phase",
    }  # fmt: skip


def test_a_board_of_question_sets_says_nothing_of_covered_texts(questions: Path, tmp_path: Path) -> None:
    board = init_board(tmp_path / "board", [f"bloom:{questions}"], Settings(title="Questions"), with_quoted=False)
    with board.reading() as connection:
        page = Pages(Views(board, connection).site(live=True)).about()
    board.engine.dispose()
    for text in ("cover", "paper-v2", "Exact match", "stacked", "caption", "resamples images", "Modes"):
        assert text not in page.partition("<main")[2], text
    for text in (
        "A model has to choose it",
        "<code>image</code> for Image, <code>blind</code> for Blind",
        "every language and view",
        "bloom-v1",
        "120 questions",
        "resamples pictures",
    ):
        assert text in page, text


def test_the_about_page_has_the_languages_of_sets_and_modes_of_those_that_have_them(
    questions: Path, dataset: Path, tmp_path: Path
) -> None:
    sets = [f"bloom:{questions}", f"vcr:{dataset}"]
    board = init_board(tmp_path / "board", sets, Settings(title="Both"), with_quoted=False)
    with board.reading() as connection:
        page = Pages(Views(board, connection).site(live=True)).about()
    board.engine.dispose()
    table = page.partition('aria-label="Sets"')[2].partition("</table>")[0]
    cells = [re.findall("<t[hd][^>]*>(.*?)</t[hd]>", row) for row in table.split("<tr>")[1:]]
    assert [row[:4] for row in cells] == [
        ["Set", "Answers", "Language", "Modes"],
        ["bloom", "public", "en, ar", ""],
        ["vcr", "public", "en", "easy, hard"],
    ]


def test_a_set_in_many_languages(board: Board, tmp_path: Path) -> None:
    languages = ("en", "ar", "zh", "fr", "es", "pt", "ru", "de", "hi", "ja", "ko")
    texts = {f"question_{lang}": "?" for lang in languages} | {f"options_{lang}": list("wxyz") for lang in languages}
    made = made_set(tmp_path / "set", [row(number, **texts) for number in range(4)], languages)
    with board.writing() as connection:
        enter_set(connection, describe_set("many", made))
    with board.reading() as connection:
        tracks = Views(board, connection).tracks()
    assert [track.language for track in tracks if track.set == "many"] == list(languages)


def test_what_a_question_set_refuses(session: AnySession, tmp_path: Path) -> None:
    file = outputs(tmp_path / "a.jsonl", 1.0)
    assert check_file(session, file, shown_as="a", view=None) == ()
    lines = file.read_text().splitlines()
    file.write_text("\n".join(lines[:-1]))
    assert "Questions without an output" in check_file(session, file, shown_as="a", view=None)[0]
    without = [json.loads(line) for line in lines]
    for line in without:
        del line["output"]
        line["logprobs"] = [[-1.0], [-2.0], [-3.0], [-4.0]]
    file.write_text("\n".join(map(json.dumps, without)))
    (problem,) = score_file(session, file, shown_as="a").problems
    assert "the board ranks by what they say" in problem and "image en, image ar" in problem


def rule(session: AnySession) -> dict[str, Any]:
    return {"kinds": len(session.kinds), "most": session.task.near_copy}


def test_two_honest_models_that_agree_on_85_percent_pass_and_copies_do_not(session: AnySession) -> None:
    """1,000 pairs of each kind, as long as the test sets that are published, and as short as a few hundred items."""
    rng = np.random.default_rng(0)
    kinds = len(session.kinds)

    def pairs(agreement: float, items: int) -> int:
        refused = 0
        for _ in range(1000):
            ours = rng.integers(1, 5, (kinds, items), dtype=np.uint64)
            same = rng.random((kinds, items)) < agreement
            theirs = np.where(same, ours, (ours % 4) + 1).astype(np.uint64)
            refused += near_copy(ours.tobytes(), theirs.tobytes(), **rule(session))
        return refused

    assert pairs(0.85, 300) == 0 == pairs(0.85, 2000)
    assert pairs(0.98, 300) >= 990 and pairs(0.98, 2000) == 1000


def test_a_copy_in_other_words_is_a_copy(session: AnySession, tmp_path: Path) -> None:
    plain = outputs(tmp_path / "a.jsonl", 0.7)
    wordy = tmp_path / "b.jsonl"
    rows = [json.loads(line) for line in plain.read_text().splitlines()]
    for number, line in enumerate(rows):
        line["output"] = f"I have looked {number} times. The answer is ({line['output'].lower()})."
    wordy.write_text("\n".join(map(json.dumps, rows)))
    other = outputs(tmp_path / "c.jsonl", 0.7, seed=1)
    marks = [fingerprint(session, file) for file in (plain, wordy, other)]
    assert near_copy(marks[0], marks[1], **rule(session)) and not near_copy(marks[0], marks[2], **rule(session))
