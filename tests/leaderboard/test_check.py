"""`vcrgen leaderboard check`: each attack is run on a board as it should be, and on one that was made weak for it."""

import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from tests.bloom.conftest import made_set, row
from tests.leaderboard.test_attack import SET, make_world, write_key
from vcrgen.config.build import BuildConfig, load_build_config
from vcrgen.config.hidden import HiddenOptions
from vcrgen.errors import LeaderboardError, SourceError
from vcrgen.hidden.mcq import make_hidden_mcq
from vcrgen.leaderboard.attacks import checks
from vcrgen.leaderboard.attacks.checks import HOLDS, LIMITED, NOT_RUN, WEAK, Finding, check_board
from vcrgen.leaderboard.attacks.report import check_document
from vcrgen.leaderboard.board import Board, init_board
from vcrgen.leaderboard.rotation import make_lifecycle
from vcrgen.leaderboard.settings import Settings
from vcrgen.predict.strip_attack import read_strips
from vcrgen.report.document import render
from vcrgen.scorer.answer_key import AnswerKey
from vcrgen.scorer.mcq.text_only import items_with_keys
from vcrgen.tasks.bloom import ChoiceItem, ChoiceQuestion
from vcrgen.tasks.opening import open_task_dataset
from vcrgen.work.progress import SILENT

Check = Callable[..., Mapping[str, Finding]]


@pytest.fixture
def check(tmp_path: Path) -> Check:
    """Attack a board of one hidden set in some ways; findings by the name of the attack."""

    def run(
        *attacks: str,
        feedback: str = "ladder",
        protocol: str | None = None,
        key: Path | None = None,
        against: BuildConfig | None = None,
        known: Sequence[ChoiceItem] = (),
        **limits: Any,
    ) -> Mapping[str, Finding]:
        key = key or write_key(make_world(40, 55, 4, 0), tmp_path / "key")
        lifecycle = make_lifecycle(feedback=feedback)
        board = init_board(
            tmp_path / "board",
            [f"{SET}:{key}"],
            Settings(**limits),
            with_reported=False,
            lifecycle=lifecycle,
            protocol=protocol,
        )
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(checks, "ATTACKS", {name: checks.ATTACKS[name] for name in attacks})
            try:
                return {one.attack: one for one in check_board(board, SILENT, against=against, known=known)}
            finally:
                board.engine.dispose()

    return run


def png_of(pixels: Any) -> bytes:
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "PNG")
    return out.getvalue()


def verdicts(found: Mapping[str, Finding]) -> dict[str, str]:
    return {name: one.verdict for name, one in found.items()}


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Attack with fewer files, simulations, pairs and rounds, and time an output that is read sooner."""
    for name, value in {"MOST_FILES": 15, "SIMULATIONS": 4, "CLOCK_PAIRS": 6, "CLOCK_ROUNDS": 2}.items():
        monkeypatch.setattr(checks, name, value)
    monkeypatch.setattr("vcrgen.stats.bootstrap.RESAMPLES", 1000)  # the attacker takes them for the board's
    monkeypatch.setattr(checks, "HEAVY", checks.HEAVY[: len(checks.HEAVY) // 3])
    monkeypatch.setattr(checks, "search_key", partial(checks.search_key, chains=6, sweeps=60))


def test_scores_of_a_ladder_do_not_disclose_the_final_split(check: Check) -> None:
    found = check("scores")
    assert found["scores, 1 team: final split"].verdict == found["scores, 10 teams: final split"].verdict == HOLDS
    assert {found[f"scores, {who}: feedback split"].verdict for who in ("1 team", "10 teams")} <= {HOLDS, LIMITED}
    assert {one.chance for one in found.values()} == {0.25}
    assert sum(one.count for one in found.values()) == 2 * 55


def test_instant_feedback_is_weak(check: Check) -> None:
    found = check("scores", feedback="instant", hidden_scores_per_day=15, hidden_scores_lifetime=15)
    assert verdicts(found) == {"scores, 1 team: whole set": WEAK}


def test_the_clock_does_not_tell_splits_apart(check: Check) -> None:
    found = check("clock")
    assert verdicts(found) == {"clock, time of scoring": HOLDS, "clock, moment of the answer": HOLDS}


def test_a_split_that_is_not_read_shows_by_the_clock(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vcrgen.stats.bootstrap.RESAMPLES", 10)  # their seconds are the same for both splits
    real = checks.score_file

    def score(whole: Any, file: Path, *, split_session: Any, other_splits: Any, **more: Any) -> Any:
        for _ in range(5):  # a reader that is slow, as the machine that runs the test may be noisy
            split_session.score(file)
        return real(whole, file, split_session=split_session, **more)

    monkeypatch.setattr(checks, "score_file", score)
    found = check("clock", ladder_minutes=0)
    assert verdicts(found) == {"clock, time of scoring": WEAK, "clock, moment of the answer": WEAK}


def test_with_instant_feedback_there_are_no_splits_to_tell_apart(check: Check) -> None:
    assert verdicts(check("clock", feedback="instant")) == {"clock": NOT_RUN}


def test_lists_of_guesses_win_what_is_known(check: Check) -> None:
    found = check("lists of guesses")
    assert set(verdicts(found).values()) == {LIMITED}
    assert found["lists: 2 guesses a span"].wins == 1 and found["lists: 16 guesses a span"].wins < 0.45  # type: ignore[operator]


def test_lists_of_guesses_win_without_a_length_budget(check: Check) -> None:
    found = check("lists of guesses", protocol="paper")
    assert found["lists: 16 guesses a span"].verdict == WEAK and found["lists: 16 guesses a span"].wins == 1


def test_pictures_are_found_among_their_own_pairs(check: Check, hidden: Path) -> None:
    pairs = load_build_config(None, {"source": str(hidden.with_name("pairs.parquet"))})
    found = check("pictures", key=hidden / "key", against=pairs)
    assert set(verdicts(found).values()) == {WEAK} and {one.wins for one in found.values()} == {1.0}


def test_pictures_are_not_found_among_others(check: Check, hidden: Path, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    pictures = [png_of(rng.integers(256, size=(60, 80, 3), dtype=np.uint8)) for _ in range(20)]
    rows = {"image": pa.array(pictures, pa.binary()), "caption": ["nothing of it"] * len(pictures)}
    pq.write_table(pa.table(rows), tmp_path / "strangers.parquet")
    strangers = load_build_config(None, {"source": str(tmp_path / "strangers.parquet")})
    found = check("pictures", key=hidden / "key", against=strangers)
    assert set(verdicts(found).values()) == {HOLDS} and {one.wins for one in found.values()} == {0.0}


def test_known_pairs_that_cannot_be_read_are_told_before_any_attack(check: Check, tmp_path: Path) -> None:
    (tmp_path / "junk.parquet").write_bytes(b"junk")
    junk = load_build_config(None, {"source": str(tmp_path / "junk.parquet")})
    with pytest.raises(SourceError, match="junk"):
        check("lists of guesses", against=junk)


def test_pictures_are_not_searched_without_pairs(check: Check, hidden: Path) -> None:
    assert verdicts(check("pictures", key=hidden / "key")) == {"search by perceptual hash": NOT_RUN}


def test_white_rows_are_read_from_their_pixels(check: Check, hidden: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "read_strips", lambda strips: read_strips(strips, font="lato"))  # the set's own
    found = check("pixels", key=hidden / "key")
    assert verdicts(found) == {"pixels: template baseline": WEAK}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An MCQ benchmark of 120 items, each with a question of its own."""
    rows = [row(number, question_en=f"How many boats has harbour {number}?") for number in range(120)]
    return made_set(tmp_path_factory.mktemp("source") / "set", rows)


@pytest.fixture
def questions(source: Path, tmp_path: Path) -> Callable[..., Path]:
    """The key of a hidden set of a source."""

    def make(data: Path = source) -> Path:
        options = HiddenOptions(config=BuildConfig(source="-"), items=60, feedback=0.5)
        out = tmp_path / "hidden-questions"
        make_hidden_mcq(open_task_dataset(data), options, out=out, secret_file=tmp_path / "secret.key")
        return out / "key"

    return make


def test_each_attack_on_questions_is_run_or_says_why_not(check: Check, questions: Callable[..., Path]) -> None:
    found = check(*checks.ATTACKS, key=questions(), ladder_minutes=10)
    assert list(found) == [
        *(f"scores, {who}: {split} split" for who in ("1 team", "10 teams") for split in ("feedback", "final")),
        "clock, time of scoring",
        "clock, moment of the answer",
        "lists: all options",
        "search by perceptual hash",
        "search by question",
        "pixels: template baseline",
        "texts without pictures",
    ]
    not_run = {name for name, one in found.items() if one.verdict == NOT_RUN}
    assert not_run == {"search by perceptual hash", "search by question", "pixels: template baseline"}
    assert all(found[name].note for name in not_run)
    assert found["scores, 10 teams: final split"].verdict == HOLDS
    assert found["lists: all options"].verdict == HOLDS
    assert found["texts without pictures"].verdict == HOLDS


@pytest.mark.parametrize(("ours", "verdict", "wins"), [(True, WEAK, 1.0), (False, HOLDS, 0.25)])
def test_questions_are_found_in_their_source_only(
    ours: bool, verdict: str, wins: float, check: Check, source: Path, questions: Callable[..., Path]
) -> None:
    known = items_with_keys(open_task_dataset(source))
    others = [replace(item, questions={"en": ChoiceQuestion("Another?", tuple("abcd"))}) for item in known]
    found = check("questions", key=questions(), known=known if ours else others)["search by question"]
    assert (found.verdict, found.wins, found.chance, found.count) == (verdict, wins, 0.25, 60)


def test_right_options_that_are_longest_are_read(check: Check, questions: Callable[..., Path], tmp_path: Path) -> None:
    rows = [row(number, languages=["en"]) for number in range(120)]
    for number, each in enumerate(rows):
        each["options_en"] = [f"{'very ' * (at == number % 4)}odd {at}" for at in range(4)]
    data = made_set(tmp_path / "long", rows, ["en"])
    found = check("texts", key=questions(data))["texts without pictures"]
    assert (found.verdict, found.wins) == (WEAK, 1.0) and "longest option" in found.note


def test_spans_have_no_options_to_attack(check: Check) -> None:
    found = check("questions", "texts")
    assert set(verdicts(found).values()) == {NOT_RUN} and all("no options" in one.note for one in found.values())


def test_a_board_is_only_read_and_nothing_of_the_key_is_said(
    board: Board, hidden_key: AnswerKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(checks.ATTACKS, "pixels")  # which takes long

    def state() -> dict[str, bytes]:
        files = sorted(file for file in board.folder.rglob("*") if file.is_file() and "sqlite3-" not in file.name)
        return {str(file): file.read_bytes() for file in files}

    before = state()
    found = check_board(board, SILENT)
    assert state() == before
    assert {one.set for one in found} == {SET}
    document = check_document("a board", found)
    for form in ("md", "json", "html", "csv", "latex"):
        text = render(document, form)
        for question in hidden_key.questions:
            assert question.question_id not in text
            assert not any(len(answer) > 4 and answer in text for answer in question.answers)


def test_a_board_without_hidden_sets_is_refused(board: Board) -> None:
    with pytest.raises(LeaderboardError, match="no hidden set 'public' with a secret key"):
        check_board(board, SILENT, name="public")


def test_the_command_says_what_is_weak(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "ATTACKS", {"lists of guesses": checks.ATTACKS["lists of guesses"]})
    key = write_key(make_world(20, 25, 4, 0), tmp_path / "key")
    for protocol, code in (("vcrgen", 0), ("paper", 1)):
        board = tmp_path / protocol
        assert run("leaderboard", "init", board, "--data", f"{SET}:{key}", "--protocol", protocol)[0] == 0
        done, out, _ = run("leaderboard", "check", board, "--format", "json")
        assert done == code
        assert len(json.loads(out)["tables"][0]["rows"]) == 3
        page = tmp_path / f"{protocol}.html"
        assert run("leaderboard", "check", board, "--out", page)[0] == code
        assert "lists: 16 guesses a span" in page.read_text()
