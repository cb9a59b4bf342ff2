"""Progress of a long job: a bar on a terminal and in a notebook, a line now and then elsewhere.

Builds and scores show it from Python as from the command line, so it stands below both.
"""

import time
from collections import Counter, deque
from contextlib import AbstractContextManager, nullcontext
from datetime import timedelta
from types import TracebackType
from typing import Any, Self

from rich import progress
from rich.console import Console
from rich.table import Column
from rich.text import Text

from vcrgen.core.plurals import pluralize
from vcrgen.core.progress import SILENT, ProgressListener

LINE_SECONDS = 10.0
RATE_SECONDS = 60  # that rates are taken over
NOTEBOOK_SECONDS = 0.25  # between two states of a bar in a notebook


def open_progress(progress: bool | ProgressListener, **words: str) -> AbstractContextManager[ProgressListener]:
    """The listener of a job that is called from Python.

    Args:
        progress: True shows the progress on the standard error or in a notebook, False nothing; or who is told of it.
        **words: As of `ConsoleProgress`.
    """
    if isinstance(progress, ProgressListener):
        return nullcontext(progress)
    return ConsoleProgress(Console(stderr=True), **words) if progress else nullcontext(SILENT)


class ConsoleProgress(ProgressListener):
    """Shows progress, rate, remaining time, a note, and the numbers of kept and rejected items if any was rejected.

    Args:
        doing: The activity, in a word.
        unit: The items, in the plural.
        kept: The participle for kept items.
    """

    def __init__(self, console: Console, *, doing: str = "building", unit: str = "pairs", kept: str = "built") -> None:
        self._console, self._doing, self._unit, self._word = console, doing, unit, kept
        self._done = self._total = self._kept = 0
        self._rejected: Counter[str] = Counter()
        self._note = ""
        self._after_long_stage = False
        self._said = False  # that an earlier run left something
        self._last_line = time.monotonic()
        self._rate = _LastMinute(self._last_line)
        whole = [Column(no_wrap=True) for _ in range(5)]  # where a terminal is narrow the bar shrinks, then the detail
        columns = (
            progress.SpinnerColumn(table_column=whole[0]),
            progress.TextColumn("{task.description}"),
            progress.BarColumn(bar_width=20),
            progress.MofNCompleteColumn(table_column=whole[1]),
            _Rate(self._rate, whole[2]),
            progress.TimeElapsedColumn(table_column=whole[3]),
            _Left(self._rate, whole[4]),
            _Detail(),
        )
        has_bar = console.is_terminal and not console.is_jupyter
        self._bar = progress.Progress(*columns, console=console, transient=True, disable=not has_bar)
        self._task = self._bar.add_task("starting", total=None, detail="")
        self._notebook = _NotebookBar(self._bar) if console.is_jupyter else None

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()
        if self._notebook:
            self._notebook.show()

    def begin(self, total: int, done: int) -> None:
        """Show the number of items, and of those that an earlier run finished."""
        super().begin(total, done)
        self._total, self._done = total, done
        if done and not self._said:
            self._console.print(f"Going on with an earlier run: {done:,} of {total:,} {self._unit} are done.")
        if self._after_long_stage:
            self._print_step(f"{self._doing} {total:,} {self._unit}")
        self._last_line = time.monotonic()
        self._rate.begin(self._last_line)
        self._bar.reset(self._task, total=total or None, completed=done, description=self._doing)

    def resume(self, replies: int) -> None:
        """Say that an earlier run got replies."""
        self._said = True
        self._console.print(f"Going on with an earlier run: it has {pluralize(replies, 'reply', 'replies')}.")

    def advance(self, done: int, kept: int, rejected: Counter[str], /) -> None:
        """Show more finished items; without a terminal, every :data:`LINE_SECONDS` at most."""
        self._done += done
        self._kept += kept
        self._rejected.update(rejected)
        self._bar.update(self._task, advance=done, detail=self._detail())
        now = time.monotonic()
        self._rate.add(now, done)
        if self._notebook:
            self._notebook.show_at(now)
        elif not self._console.is_terminal and now - self._last_line >= LINE_SECONDS:
            self._last_line = now
            self._print_line(now)

    def _print_step(self, text: str) -> None:
        """Without a terminal, say what begins."""
        if not self._console.is_terminal and not self._notebook:
            self._console.print(f"{text} ...", soft_wrap=True, markup=False, highlight=False)

    def _print_line(self, now: float) -> None:
        rate = self._rate.at(now)
        parts = [f"{self._done:,} of {self._total:,} {self._unit}" if self._total else f"{self._done:,} {self._unit}"]
        if rate:
            parts.append(_shown_rate(rate))
        if rate and self._total > self._done:
            parts.append(f"{_shown_time((self._total - self._done) / rate)} left")
        self._console.print(", ".join(filter(None, [*parts, self._detail()])), soft_wrap=True)

    def _detail(self) -> str:
        """The note, and the numbers of kept and rejected items with the two most frequent reasons."""
        top = ", ".join(f"{reason} {count:,}" for reason, count in self._rejected.most_common(2))
        counts = f"{self._kept:,} {self._word}, {self._rejected.total():,} rejected" + (f" ({top})" if top else "")
        # Without rejected items, the kept ones are the finished ones.
        return ", ".join(part for part in (self._note, counts if self._rejected else "") if part)

    def stage(self, text: str, /, *, is_long: bool = False) -> None:
        """Show a stage of the job."""
        super().stage(text)
        if is_long:
            self._print_step(text)
            self._after_long_stage = True
        self._bar.update(self._task, description=text or self._doing)

    def note(self, text: str, /) -> None:
        """Show a figure beside the count, from the next item on."""
        self._note = text

    def waiting(self, what: str, until: str, /) -> None:
        """Print what is waited for, and how many items are open."""
        super().waiting(what, until)
        still = f"{self._total - self._done:,} of {self._total:,} open" if self._total else ""
        line = ", ".join(filter(None, (what, still, until)))
        self._console.print(line, soft_wrap=True, markup=False, highlight=False)

    def warn(self, text: str, /) -> None:
        """Print a sentence."""
        super().warn(text)
        self._console.print(f"Note: {text}", soft_wrap=True, markup=False, highlight=False)


def _shown_rate(rate: float) -> str:
    """Return a rate a second, or a minute if it is below 1."""
    return f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.1f}/s" if rate >= 1 else f"{60 * rate:.1f}/min"


def _shown_time(seconds: float) -> str:
    """Return a time in seconds, minutes or hours."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.1f} min" if seconds < 3600 else f"{seconds / 3600:,.1f} h"


class _NotebookBar:
    """A bar in the output of a notebook's cell, drawn anew in its place."""

    def __init__(self, bar: progress.Progress) -> None:
        from IPython.display import display

        self._bar, self._last = bar, time.monotonic()
        self._handle: Any = display(self._drawn(), display_id=True)

    def show_at(self, now: float) -> None:
        """Draw the bar if it has stood for a while."""
        if now - self._last >= NOTEBOOK_SECONDS:
            self._last = now
            self.show()

    def show(self) -> None:
        """Draw the bar."""
        self._handle.update(self._drawn())

    def _drawn(self) -> Any:
        return self._bar.make_tasks_table(self._bar.tasks)


class _LastMinute:
    """The rate of items over the last minute, or since the job began; it falls while nothing is done."""

    def __init__(self, now: float) -> None:
        self.begin(now)

    def begin(self, now: float) -> None:
        """Begin anew."""
        self._began = now
        self._seconds = deque[tuple[int, int]](maxlen=RATE_SECONDS)  # of each second in which some were, how many

    def add(self, now: float, done: int) -> None:
        """Count items."""
        second = int(now)
        if self._seconds and self._seconds[-1][0] == second:
            done += self._seconds.pop()[1]
        self._seconds.append((second, done))

    def at(self, now: float) -> float:
        """Items a second."""
        done = sum(count for second, count in self._seconds if second > now - RATE_SECONDS)
        return done / max(min(now - self._began, RATE_SECONDS), 1.0)


class _Rate(progress.ProgressColumn):
    def __init__(self, rate: _LastMinute, column: Column) -> None:
        super().__init__(column)
        self._rate = rate

    def render(self, task: progress.Task) -> Text:
        rate = self._rate.at(time.monotonic())
        return Text(_shown_rate(rate) if rate else "", style="progress.data.speed")


class _Left(_Rate):
    def render(self, task: progress.Task) -> Text:
        rate = self._rate.at(time.monotonic())
        still = task.remaining
        left = str(timedelta(seconds=round(still / rate))) if rate and still is not None else "-:--:--"
        return Text(left, style="progress.remaining")


class _Detail(progress.ProgressColumn):
    def render(self, task: progress.Task) -> Text:
        return Text(task.fields["detail"], no_wrap=True, overflow="ellipsis")
