"""MCQ benchmarks on a board: scored, ranked, shown and exported beside sets of Visual Caption Restoration."""

import dataclasses
import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from tests.bloom.conftest import made_set, png, row
from tests.leaderboard.common import Drain, Facts, Submit
from vcrgen.core.errors import ConfigError
from vcrgen.data.key import PUBLIC_NOTE, SCENES_NOTE
from vcrgen.leaderboard.board import Board, check_overall
from vcrgen.leaderboard.new_board import describe_set, init_board
from vcrgen.leaderboard.samples import SampleFolder
from vcrgen.leaderboard.scoring import check_file, fingerprint, score_file
from vcrgen.leaderboard.settings import Settings
from vcrgen.leaderboard.site import names
from vcrgen.leaderboard.site.board_pages import BOARD_PAGES
from vcrgen.leaderboard.site.render import Pages
from vcrgen.leaderboard.store.comparisons import compare_models, public_hidden_gaps
from vcrgen.leaderboard.store.log import record
from vcrgen.leaderboard.store.models import model_page
from vcrgen.leaderboard.store.reader import BoardReader
from vcrgen.leaderboard.store.schema import sets
from vcrgen.leaderboard.store.sets import change_set, register_set
from vcrgen.leaderboard.tables import FORMATS, export
from vcrgen.scorer.options import ScoreOptions
from vcrgen.scorer.run import open_session
from vcrgen.scorer.session import BaseScoringSession

ITEMS = 120


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pictures = [{"bytes": png(f"#{40 + 2 * number:02x}4080"), "path": None} for number in range(ITEMS // 4)]
    rows = [row(number, image=pictures[number // 4]) for number in range(ITEMS)]
    return made_set(tmp_path_factory.mktemp("questions") / "set", rows)


@pytest.fixture(scope="module")
def session(questions: Path) -> BaseScoringSession:
    return open_session(questions, ScoreOptions())


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
def ranked_board(board: Board, questions: Path) -> Board:
    """The board with both sets of Visual Caption Restoration, and a multiple-choice benchmark."""
    with board.writing() as connection:
        register_set(connection, describe_set("bloom", questions))
    return board


def test_samples_of_a_question_set(questions: Path, tmp_path: Path) -> None:
    test_set, folder = describe_set("bloom", questions), SampleFolder(tmp_path)
    folder.write(test_set, most=1 << 20)
    read = folder.read(test_set)
    assert read is not None and read.item is not None
    assert read.item.picture.startswith("data:image/jpeg") and "\nB. " in read.item.question
    session = open_session(questions, ScoreOptions())
    row = session.key.row_of(read.item.question_id)
    assert row is not None and read.item.answers == session.key.question(row).answers
    example, template = (folder.file(f"{kind}-bloom.jsonl") for kind in ("example", "template"))
    assert check_file(session, example, shown_as="example", view=None) == ()
    (problem,) = check_file(session, template, shown_as="template", view=None)
    assert problem.startswith("Null instead of an output")


def test_models_are_ranked_on_a_question_set(
    ranked_board: Board, tmp_path: Path, facts: Facts, submit: Submit, drain: Drain
) -> None:
    logprobs = [[-1.0, -2.0], [-2.0], [-3.0], [-4.0]]
    for name, right in (("Strong", 0.9), ("Middle", 0.85), ("Weak", 0.3)):
        file = outputs(tmp_path / f"{name}.jsonl", right, views=("image", "text-only"), logprobs=logprobs)
        submit(ranked_board, file, facts(name, f"Team {name}"), set_name="bloom")
    assert drain(ranked_board) == 3
    with ranked_board.reading() as connection:
        views = BoardReader(ranked_board.settings, connection)
        tracks = [track for track in views.tracks() if track.set == "bloom"]
        assert [(track.language, track.mode, track.view.value) for track in tracks] == [
            ("en", "en", "image"),
            ("en", "en", "text-only"),
            ("ar", "ar", "image"),
            ("ar", "ar", "text-only"),
        ]
        table = views.table(tracks[0])
        site = views.site(live=True)
        (ranking,) = table.rankings
        assert [(each.facts.model, each.rank) for each in ranking.rows][2] == ("Weak", 3)
        assert ranking.rows[0].rank == 1 and set(ranking.rows[0].scores[tracks[0].view]) == {"rae", "lbs"}
        assert ranking.rows[0].difference is not None
        entries = [each.facts.entry for each in ranking.rows]
        page = Pages(site).board(table)
        model = model_page(views, entries[0])
        versus = compare_models(views, entries[0], entries[2])
        assert model is not None and versus is not None
        told = {form: export(views.tables(), form) for form in FORMATS}
        pages = [
            page,
            Pages(site).model(model),
            Pages(site).compare(versus),
            Pages(site).page(BOARD_PAGES[names.ABOUT]),
        ]
    assert "Ranked by RAE on Image: 120 questions" in page and "Image − Text only" in page
    assert "by sign flips of the same pictures" in page
    assert re.search("RAE by (leaf|category)", pages[1]) and "the right option" in pages[1]
    assert "gets more items right than" in pages[2] and "Only A got right" in pages[2]
    assert "guessing gives 25 %" in pages[3]
    assert '"task": "bloom"' in told["json"] and "RAE (Image)" in told["md"] and "over 120 questions" in told["md"]
    # The tables of the other task, here of white rows, say nothing of questions.
    assert json.loads(told["json"])["tables"][0]["track"].keys() == {
        "set",
        "hidden",
        "language",
        "mode",
        "view",
        "questions",
        "spans",
        "step",
        "lifecycle",
        "settled_by_pixels",
    }


def test_a_set_of_drawn_scenes_says_so_and_leads_no_ranking(board: Board, questions: Path) -> None:
    """It stands last among the tables, in no overall score, and says that answers can be taken from public scenes."""
    drawn = describe_set("drawn", questions)
    drawn = dataclasses.replace(drawn, hidden=True, signature=f"{drawn.signature}|pictures:drawn")
    other_key = drawn.signature.replace("data:", "data:other").replace(":drawn", ":public")
    public = dataclasses.replace(drawn, name="photos", signature=other_key)
    with board.writing() as connection:
        names_before = [test_set.name for test_set in board.sets]
        change_set(
            connection, dataclasses.replace(board.sets[0], signature=f"{board.sets[0].signature}|pictures:drawn")
        )
        connection.execute(sets.update().values(number=sets.c.number + 2))
        for number, test_set in enumerate((drawn, public)):
            register_set(connection, test_set)
            connection.execute(sets.update().where(sets.c.name == test_set.name).values(number=number))
        record(connection, actor="a test", what="sets", subject="board", facts={})
    with board.reading() as connection:
        reader = BoardReader(board.settings, connection)
        tables = {table.track.set: table for table in reader.tables()}
        pages = Pages(reader.site(live=True))
        told = {name: pages.board(table) for name, table in tables.items()}
        exported = export(list(tables.values()), "md")
    assert list(tables) == ["photos", *names_before, "drawn"]
    assert "drawn scenes</span>" in told["drawn"] and SCENES_NOTE.split(":")[1] in told["drawn"]
    assert "public pictures</span>" in told["photos"] and PUBLIC_NOTE.split(":")[1] in told["photos"]
    assert SCENES_NOTE not in told[names_before[0]]  # a set of pairs, which nobody can rebuild
    assert SCENES_NOTE.split(".")[0] in exported
    named = dataclasses.replace(board, settings=board.settings.model_copy(update={"overall": ("drawn",)}))
    with pytest.raises(ConfigError, match="overall names 'drawn', whose answers can be taken from public questions"):
        check_overall(named, named.sets)


def test_a_board_of_question_sets_says_nothing_of_covered_texts(questions: Path, tmp_path: Path) -> None:
    board = init_board(tmp_path / "board", [f"bloom:{questions}"], Settings(title="Questions"), with_reported=False)
    with board.reading() as connection:
        page = Pages(BoardReader(board.settings, connection).site(live=True)).page(BOARD_PAGES[names.ABOUT])
    board.engine.dispose()
    for text in ("cover", "paper-v2", "Exact match", "stacked", "caption", "resamples images", "Modes"):
        assert text not in page.partition("<main")[2], text
    for text in (
        "A model has to choose it",
        "<code>image</code> for Image, <code>text-only</code> for Text only",
        "every language and view",
        "bloom-v5",
        "120 questions",
        "resamples pictures",
    ):
        assert text in page, text


def test_the_about_page_has_the_languages_of_sets_and_modes_of_those_that_have_them(
    questions: Path, dataset: Path, tmp_path: Path
) -> None:
    sets = [f"bloom:{questions}", f"vcr:{dataset}"]
    board = init_board(tmp_path / "board", sets, Settings(title="Both"), with_reported=False)
    with board.reading() as connection:
        page = Pages(BoardReader(board.settings, connection).site(live=True)).page(BOARD_PAGES[names.ABOUT])
    board.engine.dispose()
    table = page.partition('aria-label="Sets"')[2].partition("</table>")[0]
    cells = [re.findall("<t[hd][^>]*>(.*?)</t[hd]>", row) for row in table.split("<tr>")[1:]]
    assert [row[1:5] for row in cells] == [
        ["Name in files", "Answers", "Language", "Modes"],
        ["<code>bloom</code>", "public", "en, ar", ""],
        ["<code>vcr</code>", "public", "en", "easy, hard"],
    ]


def test_a_set_in_many_languages(board: Board, tmp_path: Path) -> None:
    languages = ("en", "ar", "zh", "fr", "es", "pt", "ru", "de", "hi", "ja", "ko")
    texts = {f"question_{lang}": "?" for lang in languages} | {f"options_{lang}": list("wxyz") for lang in languages}
    made = made_set(tmp_path / "set", [row(number, **texts) for number in range(4)], languages)
    with board.writing() as connection:
        register_set(connection, describe_set("many", made))
    with board.reading() as connection:
        tracks = BoardReader(board.settings, connection).tracks()
    assert [track.language for track in tracks if track.set == "many"] == list(languages)


def test_what_a_question_set_refuses(session: BaseScoringSession, tmp_path: Path) -> None:
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


def test_a_copy_in_other_words_is_a_copy(session: BaseScoringSession, tmp_path: Path) -> None:
    plain = outputs(tmp_path / "a.jsonl", 0.7)
    wordy = tmp_path / "b.jsonl"
    rows = [json.loads(line) for line in plain.read_text().splitlines()]
    for number, line in enumerate(rows):
        line["output"] = f"I have looked {number} times. The answer is ({line['output'].lower()})."
    wordy.write_text("\n".join(map(json.dumps, rows)))
    other = outputs(tmp_path / "c.jsonl", 0.7, seed=1)
    marks = [fingerprint(session, file) for file in (plain, wordy, other)]
    assert marks[0] == marks[1] != marks[2]


def test_a_model_that_knows_the_public_questions_is_named(
    questions: Path, tmp_path: Path, facts: Facts, submit: Submit, drain: Drain
) -> None:
    data = [f"open:{questions}", f"secret:{questions}"]
    board = init_board(tmp_path / "board", data, Settings(), with_reported=False)
    for name, secret in (("Honest", 0.6), ("Trained", 0.3)):
        for test_set, right in (("open", 0.6), ("secret", secret)):
            file = outputs(tmp_path / f"{name}-{test_set}.jsonl", right, seed=len(name))
            submit(board, file, facts(name, name), set_name=test_set)
    assert drain(board) == 4
    with board.writing() as connection:
        change_set(connection, dataclasses.replace(describe_set("secret", questions), hidden=True))
        views = BoardReader(board.settings, connection)
        gaps, site = public_hidden_gaps(views), views.site(live=True)
    assert {(gap.facts.model, gap.hidden.mode, gap.is_drop) for gap in gaps} == {
        (name, lang, name == "Trained") for name in ("Honest", "Trained") for lang in ("en", "ar")
    }
    page = Pages(site).page(BOARD_PAGES["gap.html"], gaps)
    assert "2 of 4 comparisons are better on the public set by more than chance" in page
    assert page.count("better on the public set by more than chance</small>") == 2
    assert "Public <small>RAE" in page and "easily and half hard" not in page
    assert "Multiple-choice benchmark</span>" in page and "Visual Caption Restoration" not in page
    board.engine.dispose()
