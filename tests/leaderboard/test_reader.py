"""Visible figures: all of public sets, the allowed ones of hidden sets, and never two rankings as one."""

import dataclasses
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.leaderboard.common import Facts, MakeBoard, Place
from tests.leaderboard.examples import EACH_DATABASE
from vcrgen.data.views import View
from vcrgen.leaderboard import pages as board_pages
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.commands import quote
from vcrgen.leaderboard.page_records import ModelPage, PairwiseComparison, RankedModel, Track
from vcrgen.leaderboard.settings import SetSettings
from vcrgen.leaderboard.site import names
from vcrgen.leaderboard.site.board_pages import BOARD_PAGES
from vcrgen.leaderboard.site.listing import WHOLE, TableRequest
from vcrgen.leaderboard.site.render import Pages
from vcrgen.leaderboard.site.tables import navigation
from vcrgen.leaderboard.store.comparisons import compare_models, model_pairs, public_hidden_gaps
from vcrgen.leaderboard.store.log import record
from vcrgen.leaderboard.store.models import model_page, submission_cells
from vcrgen.leaderboard.store.reader import BoardReader
from vcrgen.leaderboard.store.sets import change_set, get_set
from vcrgen.scorer.answer_key import AnswerKey

EASY, TEI = ("easy", "stacked"), ("easy", "tei")
Cover = Callable[[str, Mapping[str, str]], None]


def look(board: Board, what: Callable[[BoardReader], Any]) -> Any:
    with board.reading() as connection:
        return what(BoardReader(board.settings, connection))


def track_of(board: Board, *wanted: str) -> Track:
    tracks: list[Track] = look(board, lambda views: views.tracks())
    (found,) = [t for t in tracks if (t.set, t.mode, t.view.value) == wanted]
    return found


def rows_of(board: Board, *wanted: str) -> list[RankedModel]:
    table = look(board, lambda views: views.table(track_of(board, *wanted)))
    return [row for ranking in table.rankings for row in ranking.rows]


def test_an_empty_board_has_its_tables(board: Board) -> None:
    tracks = look(board, lambda views: views.tracks())
    assert [(t.set, t.mode, t.view.value, t.hidden) for t in tracks] == [
        ("public", "easy", "stacked", False),
        ("public", "hard", "stacked", False),
        ("hidden-en", "mixed", "stacked", True),
    ]
    assert [t.step for t in tracks] == [0.0, 0.0, 0.2]
    assert all(look(board, lambda views, t=t: views.table(t).rankings) == () for t in tracks)
    site = look(board, lambda views: views.site(live=False))
    assert site.models == () and site.settings.title == "Test board" and site.updated is not None and not site.live
    for nothing in (lambda views: public_hidden_gaps(views), lambda views: model_pairs(views)):
        assert look(board, nothing) == []
    assert look(board, lambda views: model_page(views, "0" * 12)) is None
    assert look(board, lambda views: compare_models(views, "0" * 12, "1" * 12)) is None


def test_a_public_table(scored: Board, public_key: AnswerKey) -> None:
    spans = sum(len(question.spans) for question in public_key.questions)
    right = sum(len(question.spans) for question in public_key.questions[::2])
    for mode in ("easy", "hard"):
        for view in (View.STACKED, View.TEI):
            rows = rows_of(scored, "public", mode, view.value)
            assert [(row.facts.model, row.rank, row.worst_rank) for row in rows] == [
                ("Right", 1, 1),
                ("Half", 2, 3),
                ("Wrong", 2, 3),
            ]
            assert [row.scores[view]["exact"].value for row in rows] == [1.0, pytest.approx(right / spans), 0.0]
            for row in rows:
                assert set(row.scores) == {View.STACKED, View.TEI}
                gap = row.difference and row.difference["exact"]
                assert gap and gap.value == 0.0 and -0.25 < gap.low == -gap.high < 0, "eight images tell little"


def test_a_hidden_table_is_rounded(scored: Board, hidden_key: AnswerKey) -> None:
    rows = rows_of(scored, "hidden-en", "mixed", "stacked")
    assert [(row.facts.model, row.rank, row.worst_rank) for row in rows] == [
        ("Right", 1, 2),
        ("Half", 1, 3),
        ("Wrong", 2, 3),
    ]
    for row in rows:
        for estimates in [*row.scores.values(), *([row.difference] if row.difference else [])]:
            for estimate in estimates.values():
                for value in (estimate.value, estimate.low, estimate.high):
                    assert value * 5 == pytest.approx(round(value * 5))
    assert [set(row.scores) for row in rows] == [{View.STACKED, View.TEI}] * 2 + [{View.STACKED}]
    assert [row.difference is None for row in rows] == [False, False, True]
    assert [row.facts.model for row in rows_of(scored, "hidden-en", "mixed", "tei")] == ["Right", "Half"]


def page_of(board: Board, entry: str) -> ModelPage:
    page: ModelPage | None = look(board, lambda views: model_page(views, entry))
    assert page is not None
    return page


def test_a_models_page_breaks_public_scores_down_and_hidden_ones_not(scored: Board, facts: Facts) -> None:
    runs = {run.set: run for run in page_of(scored, facts("Half").entry).runs}
    assert set(runs) == {"public", "hidden-en"}
    assert len(runs["public"].cells) == 4 and set(runs["public"].differences) == {"easy", "hard"}
    for cell in runs["public"].cells:
        assert sum(cell.outcomes.values()) == cell.track.spans and cell.outcomes["exact"] > 0
        assert {group.by for group in cell.groups} >= {"characters"} and (cell.rank, cell.worst_rank, cell.models) == (
            2,
            3,
            3,
        )
    assert len(runs["hidden-en"].cells) == 2 and set(runs["hidden-en"].differences) == {"mixed"}
    for cell in runs["hidden-en"].cells:
        assert cell.outcomes == {} and cell.groups == () and cell.rank == 1


def compare(board: Board, a: str, b: str) -> tuple[PairwiseComparison, ...]:
    page = look(board, lambda views: compare_models(views, a, b))
    assert (page.a.entry, page.b.entry) == (a, b)
    parts: tuple[PairwiseComparison, ...] = page.comparisons
    return parts


def test_comparisons_are_the_same_from_either_side(scored: Board, facts: Facts) -> None:
    right, half = facts("Right").entry, facts("Half").entry
    forth, back = compare(scored, right, half), compare(scored, half, right)
    assert [part.track for part in forth] == [part.track for part in back]
    assert [(part.track.set, part.track.mode, part.track.view.value) for part in forth] == [
        ("public", "easy", "stacked"),
        ("public", "easy", "tei"),
        ("public", "hard", "stacked"),
        ("public", "hard", "tei"),
        ("hidden-en", "mixed", "stacked"),
        ("hidden-en", "mixed", "tei"),
    ]
    for one, other in zip(forth, back, strict=True):
        assert (one.a, one.b) == (other.b, other.a) and one.p == other.p
        assert (one.only_a, one.only_b) == (other.only_b, other.only_a)
        for metric, estimate in one.difference.items():
            turned = other.difference[metric]
            assert estimate.value == pytest.approx(-turned.value) and estimate.value > 0
            assert (estimate.low, estimate.high) == (pytest.approx(-turned.high), pytest.approx(-turned.low))
        # On the hidden set half of eight images is too little to tell.
        said = "No difference" if one.track.hidden else "Right recovers more than Half"
        assert said in one.conclusion and said in other.conclusion
    for part in forth:
        assert (part.p is None, part.only_a is None, part.only_b is None) == (part.track.hidden,) * 3
        if not part.track.hidden:
            exact = part.difference["exact"].value * part.track.spans
            assert part.only_b == 0 and part.only_a == pytest.approx(exact)
        else:
            assert not any(char.isdigit() for char in part.conclusion.replace("95 %", ""))


def test_a_model_is_compared_with_others_only_where_both_are(scored: Board, facts: Facts) -> None:
    right, wrong = facts("Right").entry, facts("Wrong").entry
    views = [part.track.view for part in compare(scored, right, wrong) if part.track.hidden]
    assert views == [View.STACKED]
    assert look(scored, lambda views: compare_models(views, right, right)) is None
    assert look(scored, lambda views: compare_models(views, right, "0" * 12)) is None


def test_models_that_cannot_be_told_apart(board: Board, place: Place, facts: Facts) -> None:
    for model in ("A", "B"):
        place(board, model, {EASY: [0.5] * 20})
    (part,) = compare(board, facts("A").entry, facts("B").entry)
    exact = part.difference["exact"]
    assert (exact.value, exact.low, exact.high) == pytest.approx((0, 0, 0), abs=1e-6) and part.p == 1.0
    assert "recovered exactly the same spans" in part.conclusion


def test_runs_from_before_a_set_was_changed_are_compared_by_their_own_spans(
    board: Board, place: Place, facts: Facts
) -> None:
    """The set has fewer spans today than the 256 that these runs were scored on."""
    for model, hits in (("A", bytes(31) + b"\x07"), ("B", b"\x80" + bytes(31))):
        place(board, model, {EASY: [0.5] * 20}, signature="metric:made|seed:0|answers:older", hits=hits)
    (part,) = compare(board, facts("A").entry, facts("B").entry)
    assert part.track.spans < 256 and (part.only_a, part.only_b) == (3, 1)
    assert "8 images resampled" in part.conclusion


def test_gaps_between_the_public_and_the_hidden_set(scored: Board) -> None:
    """Once for each model: the hidden set beside the mean of the public set's easy and hard modes."""
    gaps = look(scored, lambda views: public_hidden_gaps(views))
    assert [(gap.facts.model, gap.hidden.set) for gap in gaps].count(("Half", "hidden-en")) == 1
    assert {gap.facts.model for gap in gaps} == {"Right", "Half", "Wrong"} and len(gaps) == 3
    losses = [gap.difference.value for gap in gaps]
    assert losses == sorted(losses)
    for gap in gaps:
        assert [track.mode for track in gap.public] == ["easy", "hard"]
        assert {track.view for track in (*gap.public, gap.hidden)} == {View.STACKED}
        assert gap.hidden_score.value * 5 == pytest.approx(round(gap.hidden_score.value * 5))
        assert gap.difference.value == pytest.approx(gap.hidden_score.value - gap.public_score.value)
        assert gap.difference.low <= gap.difference.value <= gap.difference.high


@EACH_DATABASE
def test_a_gap_weighs_easy_and_hard_alike(board: Board, place: Place) -> None:
    means = {EASY: [0.7, 0.9, 0.8, 0.8], ("hard", "stacked"): [0.5, 0.3, 0.4, 0.4]}
    place(board, "A", means)
    place(board, "A", {("mixed", "stacked"): [0.4] * 4}, set_name="hidden-en")
    (gap,) = look(board, lambda views: public_hidden_gaps(views))
    assert gap.public_score.value == pytest.approx(0.6)
    assert (gap.public_score.low, gap.public_score.high) == pytest.approx((0.6, 0.6), abs=1e-3), (
        "the modes are resampled alike"
    )
    assert gap.difference.value == pytest.approx(gap.hidden_score.value - 0.6)


def test_the_largest_loss_comes_first(board: Board, place: Place) -> None:
    for model, hidden in (("A", 0.5), ("B", 0.0), ("C", 1.0)):
        place(board, model, {EASY: [0.6] * 4, ("hard", "stacked"): [0.4] * 4})
        place(board, model, {("mixed", "stacked"): [hidden] * 4}, set_name="hidden-en")
    assert [gap.facts.model for gap in look(board, lambda views: public_hidden_gaps(views))] == ["B", "A", "C"]


def test_what_is_not_alike_has_no_gap(board: Board, place: Place) -> None:
    place(board, "A", {EASY: [0.5] * 20})
    place(board, "A", {("mixed", "stacked"): [0.5] * 20}, set_name="hidden-en")
    assert look(board, lambda views: public_hidden_gaps(views)) == [], "there is no hard mode"


@pytest.fixture
def cover(board: Board) -> Cover:
    """Give a set of the board other covers, by mode."""

    def change(name: str, covers: Mapping[str, str]) -> None:
        with board.writing() as connection:
            change_set(connection, replace(get_set(connection, name), covers=covers))
            record(connection, actor="a test", what="noted", subject=name, facts={})

    return change


def test_a_hidden_set_is_compared_in_the_modes_of_its_own_covers(board: Board, place: Place, cover: Cover) -> None:
    """The default hidden set has bars of 4 and of 8 bits: white rows of a public set are not like them."""
    cover("hidden-en", {"bits-4": "bars", "bits-8": "bars"})
    cover("public", {"easy": "rows", "hard": "rows", "bits-4": "bars", "bits-8": "bars"})
    place(board, "A", {("mixed", "stacked"): [0.5] * 20}, set_name="hidden-en")
    place(board, "A", {EASY: [0.9] * 20, ("hard", "stacked"): [0.9] * 20, ("bits-4", "stacked"): [0.6] * 20})
    assert look(board, lambda views: public_hidden_gaps(views)) == []
    place(board, "A", {("bits-4", "stacked"): [0.6] * 20, ("bits-8", "stacked"): [0.2] * 20})
    (gap,) = look(board, lambda views: public_hidden_gaps(views))
    assert [track.mode for track in gap.public] == ["bits-4", "bits-8"]
    assert gap.public_score.value == pytest.approx(0.4)


ALIKE = [  # covers of a public and of a hidden set, and the modes in which they are compared
    ({"easy": "stain", "hard": "stain"}, {"easy": "rows", "hard": "rows"}, None),
    ({"bits-4": "blots"}, {"bits-4": "bars"}, None),
    ({"bits-8": "bars"}, {"bits-4": "bars"}, None),
    ({"easy": "stain", "hard": "rows"}, {"easy": "rows", "hard": "rows"}, None),
    ({"easy": "stain", "hard": "stain"}, {"easy": "stain", "hard": "stain"}, ["easy", "hard"]),
    ({"ink-0.27": "rows", "ink-0.48": "rows"}, {"easy": "rows", "hard": "rows"}, ["ink-0.48", "ink-0.27"]),
    ({"ink-0.30": "rows", "ink-0.48": "rows"}, {"easy": "rows", "hard": "rows"}, None),
    ({}, {"easy": "rows", "hard": "rows"}, ["easy", "hard"]),
]


def test_modes_are_compared_by_what_their_covers_are(board: Board, place: Place, cover: Cover) -> None:
    """One name makes no two kinds of covers alike, nor two names one kind unlike; VCR-WIKI has white rows."""
    modes = {mode for public, _, _ in ALIKE for mode in public}
    place(board, "A", {("mixed", "stacked"): [0.5] * 20}, set_name="hidden-en")
    place(board, "A", {(mode, "stacked"): [0.9] * 20 for mode in modes})
    for public, hidden, compared in ALIKE:
        cover("public", public)
        cover("hidden-en", hidden)
        gaps = look(board, lambda views: public_hidden_gaps(views))
        assert [[track.mode for track in gap.public] for gap in gaps] == ([compared] if compared else []), public


def test_the_log_names_no_account_of_the_machine(scored: Board) -> None:
    actors = {line.actor for line in look(scored, lambda views: views.events())}
    assert "maintainer" in actors and not [actor for actor in actors if actor.startswith("maintainer ")]


def test_a_model_on_one_set_only_has_no_gap(board: Board, place: Place) -> None:
    place(board, "A", {EASY: [0.5] * 20})
    place(board, "B", {("mixed", "stacked"): [0.5] * 20}, set_name="hidden-en")
    assert look(board, lambda views: public_hidden_gaps(views)) == []


def test_pairs_are_those_of_one_ranking(board: Board, place: Place, facts: Facts) -> None:
    for model, value in (("A", 0.9), ("B", 0.7), ("C", 0.5)):
        place(board, model, {EASY: [value] * 20})
    place(board, "D", {EASY: [0.9] * 20}, signature="metric:other|seed:0")
    place(board, "E", {TEI: [0.9] * 20})
    entry = {model: facts(model).entry for model in "ABCDE"}
    expected = [tuple(sorted((entry[a], entry[b]))) for a, b in ("AB", "AC", "BC")]
    assert look(board, lambda views: model_pairs(views)) == expected


@EACH_DATABASE
def test_scores_of_another_signature_are_another_ranking(board: Board, place: Place) -> None:
    place(board, "Old", {EASY: [0.9] * 20}, signature="metric:made|seed:0")
    place(board, "New", {EASY: [0.1] * 20}, signature="metric:made|seed:1")
    table = look(board, lambda views: views.table(track_of(board, "public", *EASY)))
    assert [(r.signature, [(row.facts.model, row.rank, row.worst_rank) for row in r.rows]) for r in table.rankings] == [
        ("metric:made|seed:1", [("New", 1, 1)]),
        ("metric:made|seed:0", [("Old", 1, 1)]),
    ]
    assert len({ranking.short for ranking in table.rankings}) == 2


REPORTED = """source,data,language,mode,view,model,exact
Paper,VCR-wiki,en,easy,stacked,Quoted easy,50
Paper,VCR-wiki,en,hard,stacked,Quoted hard,40
Paper,VCR-wiki,en,easy,tei,Quoted tei,30
Paper,VCR-wiki,zh,easy,stacked,Quoted zh,20
Paper,VCR-hidden,en,mixed,stacked,Quoted mixed,10
Other table,VCR-wiki,en,easy,stacked,Quoted easy,50
"""


@EACH_DATABASE
def test_quoted_rows_stand_beside_the_ranks_of_their_own_table(board: Board, place: Place, tmp_path: Path) -> None:
    place(board, "A", {EASY: [0.1] * 20, TEI: [0.1] * 20})
    file = tmp_path / "q.csv"
    file.write_text(REPORTED)
    assert quote(board, [file]) == 6 and quote(board, [file]) == 0
    shown = look(
        board,
        lambda views: {
            (t.set, t.mode, t.view.value): [row.model for row in views.table(t).reported] for t in views.tracks()
        },
    )
    assert shown == {
        ("public", "easy", "stacked"): ["Quoted easy"],
        ("public", "easy", "tei"): ["Quoted tei"],
        ("public", "hard", "stacked"): ["Quoted hard"],
        ("hidden-en", "mixed", "stacked"): ["Quoted mixed"],
    }
    (row,) = rows_of(board, "public", *EASY)
    assert (row.facts.model, row.rank, row.worst_rank) == ("A", 1, 1)
    assert len(look(board, lambda views: views.reported())) == 6
    assert [facts.model for facts in look(board, lambda views: views.site(live=True)).models] == ["A"]


def test_the_front_page_is_the_first_table_with_models(board: Board, place: Place) -> None:
    front = look(board, lambda views: views.front_track())
    assert (front.set, front.mode) == ("public", "easy")  # nobody stands anywhere
    place(board, "A", {("hard", "stacked"): [0.1] * 20})
    place(board, "B", {("hard", "stacked"): [0.2] * 20, ("hard", "tei"): [0.2] * 20})
    front = look(board, lambda views: views.front_track())
    assert (front.set, front.mode, front.view.value) == ("public", "hard", "stacked")
    with board.reading() as connection:
        reader = BoardReader(board.settings, connection)
        page = board_pages.page_of(Pages(reader.site(live=True)), reader, "index.html")
        site = reader.site(live=True)
    assert page is not None and "No model stands here yet" not in page
    counts = {(t.mode, t.view.value): count for t, count in site.models_by_track.items() if t.set == "public"}
    assert counts == {("easy", "stacked"): 0, ("hard", "stacked"): 2, ("hard", "tei"): 1}
    easy = next(track for track in site.tracks if track.mode == "easy")
    modes = dict(navigation(site, easy))["Mode"]
    assert [(link.text, link.is_here, link.models) for link in modes] == [("easy", True, 0), ("hard", False, 2)]
    (links,) = (links for name, links in navigation(site, front) if name == "Set")
    assert [link.models for link in links] == [2, 0] and "board-public-hard-tei.html" in page


def test_sets_are_called_by_their_titles(board: Board, place: Place) -> None:
    place(board, "A", {EASY: [0.1] * 20})
    sets = (SetSettings(name="public", data="d", title="Photos <of> 2026"), SetSettings(name="hidden-en", data="k"))
    titled = dataclasses.replace(board, settings=board.settings.model_copy(update={"sets": sets}))
    with titled.reading() as connection:
        reader = BoardReader(titled.settings, connection)
        pages = Pages(reader.site(live=True))
        shown = [board_pages.page_of(pages, reader, name) or "" for name in ("index.html", "about.html")] + [
            pages.submit({}, [])
        ]
    assert all("Photos &lt;of&gt; 2026" in page and "hidden-en" in page for page in shown)
    assert '<option value="public">Photos &lt;of&gt; 2026' in shown[2]


def test_cells_of_a_submission(board: Board, place: Place) -> None:
    first = place(board, "A", {EASY: [0.5] * 20, TEI: [0.5] * 20})
    cells = look(board, lambda views: submission_cells(views, first.id))
    assert [(cell.track.mode, cell.track.view.value, cell.rank, cell.models) for cell in cells] == [
        ("easy", "stacked", 1, 1),
        ("easy", "tei", 1, 1),
    ]
    place(board, "A", {EASY: [0.6] * 20})
    for gone in (first.id, "0" * 32):
        assert look(board, lambda views, gone=gone: submission_cells(views, gone)) == []


def test_every_line_of_the_history_is_on_a_page_of_a_service(board: Board) -> None:
    """The newest thousand lines were all that could be seen."""
    with board.writing() as connection:
        for number in range(names.EXPORTED_EVENTS + 30):
            record(connection, actor="a test", what="noted", subject=f"line-{number}", facts={})
    row = BOARD_PAGES[names.HISTORY]
    with board.reading() as connection:
        queries = BoardReader(board.settings, connection)
        events = queries.events()
        live, exported = (Pages(queries.site(live=kind)) for kind in (True, False))
        assert "line-0<" in live.page(row, events, TableRequest(page=11))
        assert "line-0<" in live.page(row, events, TableRequest(search="line-0"))
        text = exported.page(row, events, WHOLE)
    assert f"Here are the newest 1000 of {len(events)} lines." in text
    assert "line-1029<" in text and "line-29<" not in text


def test_limits_are_those_of_the_settings(make_board: MakeBoard) -> None:
    own = {"hidden_scores_per_day": 7, "failed_files_per_day": 8}
    limits = look(make_board(**own), lambda views: views.site(live=True)).settings
    found = {name: getattr(limits, name) for name in ("file_mb", "files_per_day", *own)}
    assert found == {"file_mb": 64, "files_per_day": 20, **own}


def test_what_is_shown_of_a_set_is_not_where_it_lies(scored: Board, hidden: Path, public: Path) -> None:
    from vcrgen.leaderboard.tables import export

    tables = look(scored, lambda views: [views.table(t) for t in views.tracks()])
    text = export(tables, "json")
    assert json.loads(text)["tables"] and str(hidden) not in text and str(public) not in text
