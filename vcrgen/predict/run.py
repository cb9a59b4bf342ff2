"""A whole run: the pictures of a dataset -> a model -> a file of outputs. A killed run goes on where it was."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from PIL import Image

from vcrgen.dataset.pictures import Choice, Picture, Pictures
from vcrgen.errors import DatasetError, OutputError
from vcrgen.files import atomic_path, canonical_json, output_errors
from vcrgen.models.base import Model, Request, RequestProblem
from vcrgen.models.run import read_reply, send
from vcrgen.records import Reason
from vcrgen.work.ledger import Ledger
from vcrgen.work.lock import locked
from vcrgen.work.watcher import Watcher


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictResult:
    """What became of a run."""

    path: Path  # the file of outputs
    model: str  # name and version of the model
    outputs: int  # lines in the file
    aside: Counter[str]  # pictures set aside, by reason
    example: str  # the first picture that was set aside, and why; for people


def run_baseline(
    pictures: Pictures,
    choice: Choice,
    *,
    out: Path,
    make_model: Callable[[], Model],
    workers: int = 1,
    watcher: Watcher | None = None,
) -> PredictResult:
    """Send pictures to a model and write what it replied, in the scorer's form; the file appears whole or not at all.

    Replies are kept in a hidden folder beside ``out`` as they come. After a kill the same call goes on with them; the
    file has the same bytes for any number of workers.

    Args:
        pictures: What the model is shown.
        choice: What they were chosen by.
        out: A new file, JSON Lines.
        make_model: Makes the model; called once a worker.
        workers: Requests at a time.
        watcher: Told of the progress.

    Raises:
        DatasetError: The dataset is damaged, or not one of its pictures can be read.
        OutputError: The file is there already, or cannot be written.
        PipelineError: The model is not installed.
    """
    _check_new(out)
    models = [make_model() for _ in range(workers)]
    identity = canonical_json([pictures.identity, asdict(choice), models[0].facts])
    key = hashlib.sha256(identity.encode("utf-8")).hexdigest()[:16]
    with output_errors(out), _replies_folder(out) as folder, warnings.catch_warnings():
        _check_new(out)  # a run that has just ended may have written it
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # a model judges what is too large for it
        with Ledger(folder / f"{key}.jsonl") as ledger:
            run = _PredictRun(pictures, ledger)
            run.ask(models, watcher or Watcher())
            result = run.write(out, models[0].name)
        # Those of runs with other options, too: they will not go on any more.
        for file in folder.glob("*.jsonl"):
            file.unlink()
    return result


def _check_new(out: Path) -> None:
    if out.exists():
        raise OutputError(f"{out} is there already; choose another --out, or remove it.")


@contextmanager
def _replies_folder(out: Path) -> Iterator[Path]:
    """The folder beside a file of outputs in which unfinished runs keep their replies; gone when there are none."""
    folder = out.with_name(f".{out.name}.unfinished")
    busy = OutputError(f"Another run is writing to {out}; wait for it or choose another --out.")
    try:
        with locked(folder / "lock", busy):
            yield folder
    finally:
        with suppress(OSError):
            folder.rmdir()


class _PredictRun:
    """The pictures of one run, in the dataset's order, and what became of each.

    Args:
        pictures: What the model is shown.
        ledger: The replies.
    """

    def __init__(self, pictures: Pictures, ledger: Ledger) -> None:
        self._pictures = pictures
        self._ledger = ledger
        self._lines: list[dict[str, str]] = []  # what a line of the outputs begins with
        # By number of the line:
        self._keys: dict[int, str] = {}  # of the reply in the ledger
        self._aside: dict[int, tuple[str, str]] = {}  # reason, and the words for people

    def ask(self, models: Sequence[Model], watcher: Watcher) -> None:
        """Bring the ledger to hold a reply for every picture, but for those that are set aside."""
        earlier = len(self._ledger)
        watcher.begin(self._pictures.total, earlier)
        for (number, picture), outcome in send(self._requests(watcher), models, self._ledger):
            if isinstance(outcome, RequestProblem):
                self._set_aside(number, picture, outcome, watcher)
                continue
            self._keys[number] = outcome
            if len(self._keys) > earlier:
                watcher.advance(1, 1, Counter())

    def _requests(self, watcher: Watcher) -> Iterator[tuple[tuple[int, Picture], Request]]:
        for number, picture in enumerate(self._pictures.stream()):
            line = {"question_id": picture.question_id, "view": picture.view.value}
            self._lines.append(line if picture.mode is None else line | {"mode": picture.mode})
            if picture.data is None:
                self._set_aside(number, picture, RequestProblem(Reason.NO_IMAGE, picture.problem), watcher)
            else:
                yield (number, picture), Request(images=(picture.data,), language=picture.lang)

    def _set_aside(self, number: int, picture: Picture, problem: RequestProblem, watcher: Watcher) -> None:
        self._aside[number] = problem.reason, f"{picture.question_id}, {picture.view.label}: {problem.detail}"
        watcher.advance(1, 0, Counter([problem.reason]))

    def write(self, out: Path, model: str) -> PredictResult:
        """Write the outputs in the dataset's order.

        Raises:
            DatasetError: There is none.
        """
        example = self._aside[min(self._aside)][1] if self._aside else ""
        if not self._keys:
            why = f"the first: {example}" if example else "there is none"
            dataset = self._pictures.dataset
            raise DatasetError(f"Not one picture of {dataset} can be read ({why}); copy or build the dataset again.")
        with atomic_path(out) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
            for number, key in sorted(self._keys.items()):
                row = self._lines[number] | {"model": model, "output": read_reply(self._ledger, key).text}
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
        aside = Counter(reason for reason, _ in self._aside.values())
        return PredictResult(path=out, model=model, outputs=len(self._keys), aside=aside, example=example)
