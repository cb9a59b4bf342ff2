"""A whole run: pictures -> reader -> a file of outputs, which a killed run goes on with."""

from __future__ import annotations

import glob
import hashlib
import json
import warnings
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Protocol

from filelock import FileLock, Timeout
from PIL import Image

from vcrgen.dataset.pictures import Choice, Picture, Pictures, load_picture
from vcrgen.errors import DatasetError, ImageProblem, OutputError
from vcrgen.files import canonical_json, fsync

Key = tuple[str, str, str | None]
"""Question id, view and mode: what an output is of."""


class Engine(Protocol):
    """What reads pictures, one at a time; the same picture gives the same text.

    Attributes:
        model: Name and version, for the file of outputs.
        facts: What the text depends on, as JSON's values.
    """

    model: str
    facts: Mapping[str, Any]

    def read(self, image: Image.Image, lang: str) -> str:
        """The text of an image; raises :class:`ImageProblem` where it cannot be read."""


class Watcher:
    """Told how a run goes on; this one keeps silent."""

    def begin(self, total: int, done: int) -> None:
        """Called once with pictures to read and pictures that an earlier run has read."""

    def advance(self, aside: int) -> None:
        """Called after every picture with the number of those that were set aside so far."""


@dataclass(slots=True, kw_only=True)
class Result:
    """What became of a run.

    Attributes:
        path: The file of outputs.
        model: Name and version of what read the pictures.
        outputs: Lines in the file.
        aside: Pictures set aside, by reason.
        example: The first picture that was set aside, and why; for people.
    """

    path: Path
    model: str
    outputs: int = 0
    aside: Counter[str] = field(default_factory=Counter)
    example: str = ""

    def set_aside(self, picture: Picture, problem: ImageProblem) -> None:
        """Count a picture that cannot be read."""
        self.aside[problem.reason.value] += 1
        self.example = self.example or f"{picture.question_id}, {picture.view.label}: {problem.detail}"


def run_baseline(
    pictures: Pictures,
    choice: Choice,
    *,
    out: Path,
    make_engine: Callable[[], Engine],
    workers: int = 1,
    watcher: Watcher | None = None,
) -> Result:
    """Read pictures and write what was read, in the scorer's form; the file appears whole or not at all.

    Outputs are kept in a hidden file beside ``out`` as they are made. After a kill the same call goes on with it; the
    outputs are the same for any number of workers.

    Args:
        pictures: What to read.
        choice: What they were chosen by.
        out: A new file, JSON Lines.
        make_engine: Makes a reader; called once a worker.
        workers: Pictures read at a time, each by a thread with a reader of its own.
        watcher: Told of the progress.

    Raises:
        DatasetError: The dataset is damaged, or not one of its pictures can be read.
        OutputError: The file is there already, or cannot be written.
        PipelineError: The reader is not installed.
    """
    watcher = watcher or Watcher()
    if out.exists():
        raise OutputError(f"{out} is there already; choose another --out, or remove it.")
    engines: SimpleQueue[Engine] = SimpleQueue()
    first = make_engine()
    for engine in (first, *(make_engine() for _ in range(workers - 1))):
        engines.put(engine)

    def read(picture: Picture) -> str:
        image = load_picture(picture)
        engine = engines.get()
        try:
            return engine.read(image, picture.lang)
        finally:
            engines.put(engine)

    result = Result(path=out, model=first.model)
    identity = [pictures.identity, asdict(choice), first.facts]
    with _readable_disk_errors(out), _locked(out), _unfinished(out, identity) as partial, warnings.catch_warnings():
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # too many pixels are judged by load_picture
        done = _recover(partial)
        result.outputs = done.total()
        watcher.begin(pictures.total, result.outputs)
        with (
            partial.open("a", encoding="utf-8", newline="\n", buffering=1) as lines,
            ThreadPoolExecutor(workers) as pool,
        ):
            for picture, future in _submit(pool, read, _without(pictures.stream(), done), ahead=workers):
                try:
                    output = future.result()
                except ImageProblem as problem:
                    result.set_aside(picture, problem)
                else:
                    lines.write(_line(picture, first.model, output))
                    result.outputs += 1
                watcher.advance(result.aside.total())
        _finish(partial, result, str(pictures.dataset))
    return result


def _submit(
    pool: ThreadPoolExecutor, read: Callable[[Picture], str], pictures: Iterable[Picture], *, ahead: int
) -> Iterator[tuple[Picture, Future[str]]]:
    """Pictures with their outputs to come, in order; only a few pictures are in memory at a time."""
    waiting: deque[tuple[Picture, Future[str]]] = deque()
    for picture in pictures:
        waiting.append((picture, pool.submit(read, picture)))
        if len(waiting) > ahead:
            yield waiting.popleft()
    yield from waiting


def _line(picture: Picture, model: str, output: str) -> str:
    row = {"question_id": picture.question_id, "view": picture.view.value}
    if picture.mode is not None:
        row["mode"] = picture.mode
    return json.dumps(row | {"model": model, "output": output}, ensure_ascii=False) + "\n"


@contextmanager
def _unfinished(out: Path, identity: list[Any]) -> Iterator[Path]:
    """The file of an unfinished run; the name says of what, so that no run goes on with another's outputs."""
    key = hashlib.sha256(canonical_json(identity).encode("utf-8")).hexdigest()[:16]
    partial = out.with_name(f".{out.name}.{key}.partial")
    partial.touch()
    try:
        yield partial
    finally:
        if partial.exists() and not partial.stat().st_size:
            partial.unlink()  # nothing to go on with


def _recover(partial: Path) -> Counter[Key]:
    """What an earlier run has made, after everything from the first torn line on has been cut off."""
    done: Counter[Key] = Counter()
    with partial.open("r+b") as lines:
        end = 0
        for line in lines:
            key = _key(line)
            if key is None:
                break
            done[key] += 1
            end += len(line)
        lines.truncate(end)
    return done


def _key(line: bytes) -> Key | None:
    """What a line is of, or None where it is torn: it has no end, or (after a crash of the machine) no content."""
    if not line.endswith(b"\n"):
        return None
    try:
        row = json.loads(line)
        question_id, view, mode, output = row["question_id"], row["view"], row.get("mode"), row["output"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    whole = all(isinstance(text, str) for text in (question_id, view, mode or "", output))
    return (question_id, view, mode) if whole else None


def _without(pictures: Iterable[Picture], done: Counter[Key]) -> Iterator[Picture]:
    """Pictures that have no output yet."""
    for picture in pictures:
        key: Key = (picture.question_id, picture.view.value, picture.mode)
        if done[key]:
            done[key] -= 1
        else:
            yield picture


def _finish(partial: Path, result: Result, dataset: str) -> None:
    """Make the unfinished file the finished one."""
    out = result.path
    if not result.outputs:
        why = f"the first: {result.example}" if result.example else "there is none"
        raise DatasetError(f"Not one picture of {dataset} can be read ({why}); copy or build the dataset again.")
    fsync(partial)
    partial.replace(out)
    fsync(out.parent)
    # Runs with other options into this file will not go on any more.
    for other in out.parent.glob(f".{glob.escape(out.name)}.*.partial"):
        other.unlink()


@contextmanager
def _locked(out: Path) -> Iterator[None]:
    """Only one run at a time writes to a file."""
    out.parent.mkdir(parents=True, exist_ok=True)
    file = out.with_name(f".{out.name}.lock")
    file.touch()  # in a folder that cannot be written, the lock itself would look like one that is taken
    try:
        with FileLock(file).acquire(timeout=0):
            try:
                yield
            finally:
                file.unlink(missing_ok=True)
    except Timeout:
        raise OutputError(f"Another run is writing to {out}; wait for it or choose another --out.") from None


@contextmanager
def _readable_disk_errors(out: Path) -> Iterator[None]:
    """A full disk or a folder without permission is the user's to mend, and said in a sentence."""
    try:
        yield
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise OutputError(
            f"{out} cannot be written: {why}; mend that and run the same command again to go on."
        ) from None
