"""Progress of a long job where there is no terminal."""

import io
from collections import Counter

import pytest
from rich.console import Console

from vcrgen.core import console_progress
from vcrgen.core.console_progress import ConsoleProgress, open_progress


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The lines of a job of ten items that each take 20 s."""
    clock = iter(range(0, 10_000, 20))
    monkeypatch.setattr(console_progress.time, "monotonic", lambda: next(clock))
    return []


@pytest.mark.parametrize(
    ("note", "expected"),
    [
        ("", "1 of 10 steps, 3.0/min, 3.0 min left"),
        ("loss 0.412", "3.0 min left, loss 0.412"),
    ],
)
def test_slow_items_are_counted_by_the_minute_and_a_note_stands_beside_them(
    shown: list[str], note: str, expected: str
) -> None:
    lines = io.StringIO()
    listener = ConsoleProgress(Console(file=lines, width=40), unit="steps")
    listener.begin(10, 0)
    if note:
        listener.note(note)
    listener.advance(1, 1, Counter())
    assert expected in lines.getvalue()


def test_rejections_are_told_beside_a_note_and_no_time_is_left_where_nothing_is_done(shown: list[str]) -> None:
    lines = io.StringIO()
    listener = ConsoleProgress(Console(file=lines, width=40), unit="items", kept="made")
    listener.begin(10, 0)
    listener.note("12 replies, cost 0.5")
    listener.advance(0, 0, Counter())
    listener.advance(2, 1, Counter(filtered=1))
    first, second = lines.getvalue().splitlines()
    assert first == "0 of 10 items, 12 replies, cost 0.5"
    assert second.endswith(" min left, 12 replies, cost 0.5, 1 made, 1 rejected (filtered 1)")


@pytest.mark.parametrize(
    ("total", "resumed", "done", "expected"),
    [
        (10_000, 0, 1700, "1,700 of 10,000 pairs, 85/s, 1.6 min left, 240 MB"),
        (10_000, 300, 60, "360 of 10,000 pairs, 3.0/s, 53.6 min left, 240 MB"),
        (20_000, 0, 20, "20 of 20,000 pairs, 1.0/s, 5.5 h left, 240 MB"),
        (20, 0, 20, "20 of 20 pairs, 1.0/s, 240 MB"),  # nothing is left
        (0, 0, 1700, "1,700 pairs, 85/s, 240 MB"),  # nobody knows of how many
    ],
)
def test_the_line_has_rate_time_left_and_size_as_far_as_they_are_known(
    shown: list[str], total: int, resumed: int, done: int, expected: str
) -> None:
    lines = io.StringIO()
    listener = ConsoleProgress(Console(file=lines, width=40))
    listener.begin(total, resumed)
    listener.note("240 MB")
    listener.advance(done, done, Counter())
    assert lines.getvalue().splitlines()[-1] == expected


def test_rates_and_times_left_are_of_the_last_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 600 items, a hundred at once; then nothing for two minutes, and ten in a minute."""
    now = [1000.0]
    monkeypatch.setattr(console_progress.time, "monotonic", lambda: now[0])
    lines, bar = io.StringIO(), io.StringIO()
    listener = ConsoleProgress(Console(file=lines, width=40))
    console = Console(file=bar, width=120, force_terminal=True, color_system=None)
    on_terminal = ConsoleProgress(console)
    for each in (listener, on_terminal):
        each.begin(600, 0)
    for pause, done in ((10, 100), (120, 0), (15, 5), (15, 5)):
        now[0] += pause
        for each in (listener, on_terminal):
            each.advance(done, done, Counter())
        console.print(on_terminal._bar.get_renderable())
    assert [line.partition(", 100 built")[0].partition(" pairs, ")[2] for line in lines.getvalue().splitlines()][
        :2
    ] == [
        "10/s, 50 s left",
        "",
    ]
    assert "110 of 600 pairs, 10.0/min, 49.0 min left" in lines.getvalue().splitlines()[-1]
    shown = bar.getvalue().splitlines()
    assert "10/s" in shown[0] and "0:00:50" in shown[0] and "-:--:--" in shown[1] and "0:49:00" in shown[3]


@pytest.mark.parametrize(("total", "still"), [(40, "28 of 40 open, "), (0, "")])
def test_what_is_waited_for_is_a_line_with_what_is_open(total: int, still: str) -> None:
    lines = io.StringIO()
    listener = ConsoleProgress(Console(file=lines, width=40))
    listener.begin(total, 0)
    listener.advance(12, 11, Counter(no_image=1))
    listener.waiting("the server is busy (429: [red]slow)", "next try in 8 s, 5 of 40 tries")
    assert lines.getvalue() == f"the server is busy (429: [red]slow), {still}next try in 8 s, 5 of 40 tries\n"


@pytest.mark.parametrize("width", [60, 80])
def test_a_bar_stands_in_one_line_of_a_narrow_terminal(width: int) -> None:
    """The rate and the reasons took a second line, which stayed when the bar moved on."""
    page = io.StringIO()
    console = Console(file=page, width=width, force_terminal=True, color_system=None)
    listener = ConsoleProgress(console)
    listener.begin(5000, 0)
    listener.stage("building")
    listener.advance(1200, 1140, Counter(no_maskable_ngram=40, duplicate=20))
    console.print(listener._bar.get_renderable())
    (line,) = page.getvalue().splitlines()
    assert "building" in line and "1200/5000" in line and len(line) <= width


def test_from_python_every_step_is_logged_and_shown_unless_progress_is_false(
    capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="vcrgen")
    for shown, printed in ((True, "Note: The disk is slow.\n"), (False, "")):
        caplog.clear()
        with open_progress(shown, doing="scoring", unit="outputs", kept="read") as listener:
            listener.stage("reading the answers")
            listener.warn("The disk is slow.")
        assert caplog.messages == ["reading the answers", "The disk is slow."]
        assert capfd.readouterr() == ("", printed)
    with open_progress(listener) as same:
        assert same is listener


def test_a_long_stage_is_said_when_it_begins_and_so_is_what_follows(shown: list[str]) -> None:
    """And no other stage, as most of them take a moment."""
    lines = io.StringIO()
    listener = ConsoleProgress(Console(file=lines, width=40), doing="training", unit="steps")
    listener.stage("reading the pairs")
    listener.stage("loading the model", is_long=True)
    assert lines.getvalue() == "loading the model ...\n"
    listener.stage("")
    listener.begin(10, 0)
    assert lines.getvalue() == "loading the model ...\ntraining 10 steps ...\n"
    before = io.StringIO()
    ConsoleProgress(Console(file=before), doing="scoring").begin(10, 0)
    assert before.getvalue() == ""
