"""Scoring one file of outputs, in a process of its own with limits on time and memory.

A file is scored as a whole or rejected, and never a word of an answer is in what a team is told. The process is forked
from one that has read the answers, and nothing comes back from it but a `ScoringOutcome`.
"""

from __future__ import annotations

import errno
import hashlib
import json
import math
import multiprocessing as mp
import os
import signal
import threading
import time
import traceback
import unicodedata
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from typing import Any

from vcrgen.core.errors import LeaderboardError, PredictionError, VcrgenError
from vcrgen.core.files import is_disk_full
from vcrgen.core.plurals import pluralize
from vcrgen.data.views import View
from vcrgen.leaderboard.records import NO_MODE, TestSet
from vcrgen.scorer.clean import LONGEST_OUTPUT
from vcrgen.scorer.options import ScoreOptions
from vcrgen.scorer.output_matcher import STRICT, problem_name
from vcrgen.scorer.predictions import PredictionFile, open_predictions
from vcrgen.scorer.records import UNSTATED, CellName
from vcrgen.scorer.results import Estimate, RunResult
from vcrgen.scorer.run import open_session as scoring_session
from vcrgen.scorer.session import BaseScoringSession, Validation
from vcrgen.scorer.span_session import Session
from vcrgen.stats.sign_flips import flipped_sums
from vcrgen.web.log import log_line

LONG_RATIO = 3.0  # of outputs to answers: from here on they may be lists of guesses
_UNSEEN = ("Mn", "Me", "Cf")  # marks on letters, and characters that show nothing
MAX_ATTEMPTS = 3  # of a file whose process ends badly each time
POLL_SECONDS = 0.2
FULL_EXIT = 75  # exit code of a process that has no room for a temporary file (EX_TEMPFAIL)
Triple = tuple[float, float, float]  # value, low, high
Triples = Mapping[str, Triple]  # by metric, as shares


@dataclass(frozen=True, slots=True, kw_only=True)
class CellOutcome:
    """One cell of a task."""

    mode: str  # or whatever else the axis of the task is
    view: str
    estimates: Triples
    difference: Triples | None  # of the two views that the task compares, at the first of them
    means: Mapping[str, bytes]  # of each shown metric its mean and those over the resamples: a `BootstrapMean` as bytes
    flips: bytes  # sums of the metric that ranks in every sign flip, as little-endian float32
    hits: bytes  # a bit for each unit, the first one highest: whether it is right


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringOutcome:
    """Scores, or why there are none."""

    problems: tuple[str, ...] = ()  # sentences for the team; with any, there is nothing else
    signature: str = ""  # of the scores
    result: Mapping[str, Any] | None = None  # everything the scorer says, as JSON values
    cells: tuple[CellOutcome, ...] = ()  # what ranks and comparisons need
    outputs: bytes | None = None  # fingerprints of the outputs, for hidden sets
    scores_disclosed: int = 1  # figures that the key gave for it

    def to_bytes(self) -> bytes:
        """The outcome as JSON, so that nothing which crosses processes is ever executed; bytes are in base64."""
        return json.dumps(asdict(self), default=lambda value: b64encode(value).decode()).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> ScoringOutcome:
        """The inverse of `to_bytes`."""
        values = json.loads(data)
        for cell in values["cells"]:
            cell["flips"], cell["hits"] = b64decode(cell["flips"]), b64decode(cell["hits"])
            cell["means"] = {metric: b64decode(packed) for metric, packed in cell["means"].items()}
            for name in ("estimates", "difference"):
                cell[name] = cell[name] and {metric: tuple(triple) for metric, triple in cell[name].items()}
        outputs = values["outputs"]
        read = {
            "problems": tuple(values["problems"]),
            "cells": tuple(CellOutcome(**cell) for cell in values["cells"]),
            "outputs": None if outputs is None else b64decode(outputs),
        }
        return cls(**values | read)


class WorkerStopped(Exception):
    """The worker was asked to stop while it was scoring."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringTask:
    """Input of a process that scores one file."""

    set: TestSet
    file: Path
    shown_as: str  # what messages call the file
    split: str = ""  # the split of the key that is scored; empty for the whole
    view: View | None = None  # the only view that is scored; None for all
    earlier: tuple[bytes, ...] = ()  # fingerprints of what the team submitted before
    left: int | None = None  # figures that the team may ask of the key; None for any number
    memory: int  # bytes that scoring may take


def score_in_subprocess(task: ScoringTask, *, seconds: float, stop: Callable[[], bool]) -> ScoringOutcome | None:
    """Score a file in another process, within a time in seconds.

    Returns:
        The outcome; None if the process broke off.

    Raises:
        WorkerStopped: ``stop``, which is asked several times a second, said so.
        OSError: The process found no room for a temporary file, or ``stop`` none for what it writes.
    """
    # Windows has no fork: there each process reads the answers for itself.
    context: Any = mp.get_context("fork" if "fork" in mp.get_all_start_methods() else "spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_subprocess_main, args=(task, theirs, os.getpid()), daemon=True)
    process.start()
    theirs.close()
    try:
        # What counts is the time that was waited, not that of a clock: while this machine or this process stands still,
        # the clock goes on and nobody reads the answer.
        left = seconds
        while not ours.poll(step := min(POLL_SECONDS, left)):
            left -= step
            if left <= 0:
                return ScoringOutcome(
                    problems=(f"Scoring took longer than {seconds:g} seconds, the most this board gives.",)
                )
            if stop():
                raise WorkerStopped
        return ScoringOutcome.from_bytes(ours.recv_bytes())
    except (EOFError, OSError) as problem:  # it died before it had answered, or while it did
        if is_disk_full(problem):
            raise  # of `stop`, not of the file that is scored
        process.join(POLL_SECONDS)
        if process.exitcode == FULL_EXIT:
            raise OSError(errno.ENOSPC, "the disk of temporary files is full") from None
        return None
    finally:
        process.kill()
        process.join()
        ours.close()


def _subprocess_main(task: ScoringTask, pipe: Pipe, parent: int) -> None:
    """In the process of its own."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_die_with, args=(parent,), daemon=True).start()
    session = session_of(task.set)
    split_session = session_of(task.set, task.split, task.view) if task.split else None
    other_splits = [split for split in task.set.lifecycle.splits if task.split and split != task.split]
    others = [session_of(task.set, split, task.view) for split in other_splits]
    limit_memory(task.memory)
    try:
        outcome = score_file(
            session,
            task.file,
            shown_as=task.shown_as,
            split_session=split_session,
            other_splits=others,
            earlier=task.earlier,
            left=task.left,
        )
    except MemoryError:
        outcome = ScoringOutcome(problems=("Scoring this file takes more memory than this board gives.",))
    except Exception as fault:  # its text could quote an answer: say what and where, and break off
        places = [f"{frame.filename}:{frame.lineno}" for frame in traceback.extract_tb(fault.__traceback__)]
        log_line("fault in scoring", kind=type(fault).__name__, places=places)
        os._exit(FULL_EXIT if is_disk_full(fault) else 1)
    pipe.send_bytes(outcome.to_bytes())


def _die_with(parent: int) -> None:
    """Do not outlive the worker: nobody would read the outcome, and the lock would stay."""
    while os.getppid() == parent:
        time.sleep(POLL_SECONDS)
    os._exit(1)


def limit_memory(more: int) -> None:
    """Let this process take ``more`` bytes beyond what it has, where the system can hold it to that."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except (ImportError, OSError):
        return
    limit = pages * os.sysconf("SC_PAGE_SIZE") + more
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def session_of(test_set: TestSet, split: str = "", view: View | None = None) -> BaseScoringSession:
    """The session of a set or of a part of it: read once, and found again by processes that are forked."""
    return _session(test_set.name, test_set.path, split, view, test_set.protocol)


@cache
def _session(name: str, path: str, split: str, view: View | None, protocol: str | None) -> BaseScoringSession:
    return open_session(name, Path(path), split=split, view=view, protocol=protocol)


def open_session(
    name: str, path: Path, *, split: str = "", view: View | None = None, protocol: str | None = None
) -> BaseScoringSession:
    """Answers and scorer of a set; every answer tokenised, so that processes which are forked share that.

    Args:
        name: What the set is called on the board.
        split: The split of a hidden set to score; empty for the whole.
        view: The only view to score; None for all.
        protocol: That of the scores; None for the default of the task.

    Raises:
        LeaderboardError: The answers cannot be read.
    """
    try:
        session = scoring_session(path, ScoreOptions(subset=split or None, view=view and view.value, protocol=protocol))
        session.preload()
    except VcrgenError as problem:
        raise LeaderboardError(f"The set {name!r} cannot be used: {problem}") from None
    return session


def score_file(
    session: BaseScoringSession,
    file: Path,
    *,
    shown_as: str,
    split_session: BaseScoringSession | None = None,
    other_splits: Sequence[BaseScoringSession] = (),
    earlier: Sequence[bytes] = (),
    left: int | None = None,
) -> ScoringOutcome:
    """Score a file of outputs.

    Args:
        session: The whole set, for which the file has to be complete.
        shown_as: What messages call it.
        split_session: The split of a hidden set that is scored; None for the whole set.
        other_splits: The other splits. They are scored as well, and nothing is kept of it, so that the time does not
            tell in which split a question is.
        earlier: Of a hidden set, the fingerprints of the files that the team submitted before.
        left: How many figures the team may still ask of the key; None for any number.

    Returns:
        Scores, or the problems: the file cannot be read, is not complete, asks for more than is left, or (hidden sets)
        says what one of before said.
    """
    scored = split_session or session
    try:
        opened = open_predictions(file, name=shown_as)
        check = session.validate(opened)
        problems = tuple(_problems(session, check, opened, scored.options.view))
        scores_disclosed = 1 if scored.options.view else len(check.cells)
        if not problems and left is not None and scores_disclosed > left:
            problems = (
                f"The file holds {pluralize(scores_disclosed, 'view')}, each of which discloses a score; your team has "
                f"{left} left.",
            )
        outputs = fingerprint(session, opened) if session.key.hidden and not problems else None
        if outputs is not None and outputs in earlier:
            problems = (
                "All outputs are those of a file that your team submitted before. A hidden set scores them once.",
            )
        if problems:
            return ScoringOutcome(problems=problems)
        result, *others = [part.score(opened) for part in (scored, *other_splits)]
        cells = [cell for scores in (result, *others) for cell in scores.cells]
        if unranked := [cell for cell in cells if session.task.main_metrics[0] not in cell.metrics]:
            where = ", ".join(dict.fromkeys(f"{cell.view} {cell.variant}" for cell in unranked))
            return ScoringOutcome(problems=(f"The file has no outputs of {where}; the board ranks by what they say.",))
        ratio = {"length_ratio": length_ratio(session, opened)} if isinstance(session, Session) else {}
    except PredictionError as problem:
        return ScoringOutcome(problems=(_printable_problem(problem, file, shown_as),))
    return ScoringOutcome(
        signature=str(result.signature),
        result=_finite(result.as_json() | ratio),
        cells=tuple(_cells(result)),
        outputs=outputs,
        scores_disclosed=scores_disclosed,
    )


def check_file(session: BaseScoringSession, file: Path, *, shown_as: str, view: str | None) -> tuple[str, ...]:
    """What would keep a file from being scored, as `score_file` words it; answers are not read.

    ``view`` is the only one that the set scores, if there is one.
    """
    try:
        opened = open_predictions(file, name=shown_as)
        return tuple(_problems(session, session.validate(opened), opened, view))
    except PredictionError as problem:
        return (_printable_problem(problem, file, shown_as),)


def _printable_problem(problem: PredictionError, file: Path, shown_as: str) -> str:
    """A problem for pages, for JSON and for maintainers' terminals; it may quote the file."""
    text = str(problem).replace(str(file), shown_as)
    return "".join(char if char.isprintable() else "\ufffd" for char in text)


def length_ratio(session: Session, opened: PredictionFile) -> float | None:
    """How many times as long as the answers of all questions the answers of a file are, in its longest view.

    All questions count, whichever are scored and whichever have an output, so that it tells nothing of single ones.
    """
    length = sum(len(text) for question in session.key.questions for text in question.answers)
    lengths = Counter[CellName]()
    for prediction, _, cell in session.matched_outputs(opened):
        lengths[cell] += len(session.scorer.answer_part(prediction.output or "").text)
    return round(max(lengths.values(), default=0) / length, 1) if length else None


def fingerprint(session: BaseScoringSession, file: Path | PredictionFile) -> bytes:
    """A digest of all outputs of a file; a file that says the same in another form has the same.

    Only letters and digits count: not their case, nor accents, nor the form in which Unicode writes them.
    """
    marks = []
    for kind, row, said in session.searched_texts(file):
        text = " ".join([kind, str(row), *_words(said)])
        marks.append(hashlib.blake2b(text.encode("utf-8", "surrogatepass")).digest())
    return hashlib.blake2b(b"".join(sorted(marks)), digest_size=32).digest()


def _words(text: str) -> list[str]:
    plain = (
        char for char in unicodedata.normalize("NFKD", text).casefold() if unicodedata.category(char) not in _UNSEEN
    )
    return "".join(char if char.isalnum() else " " for char in plain).split()


def _problems(
    session: BaseScoringSession, check: Validation, opened: PredictionFile, view: str | None
) -> Iterator[str]:
    """Yield the reasons why a file is not scored: it is not complete, or has outputs that nobody reads to the end."""
    yield from _incompleteness(session, check, view)
    lengths = ((row.prediction.place, len(row.prediction.output or "")) for row in session.matched_outputs(opened))
    if places := [place for place, length in lengths if length > LONGEST_OUTPUT]:
        listing = ", ".join(places[:3]) + (", …" if len(places) > 3 else "")
        yield (
            f"Outputs of more than {LONGEST_OUTPUT:,} characters: {len(places)} ({listing}). Leave thinking out: it is "
            "not scored."
        )


def _incompleteness(session: BaseScoringSession, check: Validation, view: str | None) -> Iterator[str]:
    """Yield the reasons why a file is not complete; ``view`` is one that it has to hold."""
    for kind in STRICT:
        if kind in check.problems:
            count, places = check.problems[kind]
            head = problem_name(kind).rpartition(" (")[0]
            more = ", …" if count > len(places) else ""
            yield f"{head[0].upper()}{head[1:]}: {count} ({', '.join(places)}{more})."
    if len(session.key.variants) > 1 and any(mode == UNSTATED for mode, _ in check.cells):
        stated = " or ".join(f'"mode": "{mode}"' for mode in session.key.variants)
        several = "both" if len(session.key.variants) == 2 else "several"
        yield f"The set has {several} modes, and some outputs do not say theirs: add {stated}."
    for seen in dict.fromkeys(seen for _, seen in check.cells if seen not in session.task.board_views):
        why = "for which no image was shown, are not ranked: leave them out of the file."
        yield f"Outputs of the view {seen.value!r}, {why}"
    if view is not None and not any(view == seen for _, seen in check.cells):
        yield f"The file holds no outputs of the view {view!r}, by which this set is scored."


def _cells(result: RunResult) -> Iterator[CellOutcome]:
    import numpy as np

    task = result.task
    differences = {row.variant: row.metrics for row in result.differences if row.of == task.contrast_name}
    for cell in result.cells:
        metrics = [metric for metric in task.main_metrics if metric in cell.metrics]
        resamples = result.resamples[cell.variant, cell.view]
        ranking = resamples.scores[task.main_metrics[0]]
        flipped = flipped_sums(resamples.per_cluster(ranking)[0][:, None], seed=resamples.seed, unit=resamples.cluster)
        paired = differences.get(cell.variant) if cell.view is task.view_contrast[0] else None
        yield CellOutcome(
            mode=NO_MODE if cell.variant == UNSTATED else cell.variant,
            view=cell.view.value,
            estimates={metric: _triple(cell.metrics[metric]) for metric in metrics},
            difference=None
            if paired is None
            else {metric: _triple(paired[metric]) for metric in metrics if metric in paired},
            means={metric: resamples.means[metric].to_bytes() for metric in metrics},
            flips=flipped[0].astype("<f4").tobytes(),
            hits=np.packbits(ranking == 1).tobytes(),
        )


def _triple(estimate: Estimate) -> Triple:
    return estimate.value, estimate.low, estimate.high


def _finite(value: Any) -> Any:
    """JSON values without NaN, which databases refuse: the interval of a group that a resample can miss."""
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
