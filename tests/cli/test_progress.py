"""What a long job shows of itself where there is no terminal."""

import io
from collections import Counter

import pytest
from rich.console import Console

from vcrgen.cli import progress
from vcrgen.cli.progress import ConsoleWatcher


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The lines of a job of ten items that each take 20 s."""
    clock = iter(range(0, 10_000, 20))
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    return []


@pytest.mark.parametrize(
    ("note", "expected"),
    [
        ("", "1/10 steps, 3.0 steps/min, about 180 s left, 1 built, 0 set aside"),
        ("loss 0.412", "180 s left, loss 0.412"),
    ],
)
def test_slow_items_are_counted_by_the_minute_and_a_note_stands_beside_them(
    shown: list[str], note: str, expected: str
) -> None:
    lines = io.StringIO()
    watcher = ConsoleWatcher(Console(file=lines, width=200), unit="steps")
    watcher.begin(10, 0)
    if note:
        watcher.note(note)
    watcher.advance(1, 1, Counter())
    assert expected in lines.getvalue()
