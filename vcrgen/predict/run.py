"""A whole run: the pictures of a dataset -> a model -> a file of outputs. A killed run goes on where it was."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image

from vcrgen.dataset.pictures import Choice, Picture, Pictures
from vcrgen.dataset.views import View
from vcrgen.errors import DatasetError, OutputError
from vcrgen.files import atomic_path, canonical_json, output_errors
from vcrgen.models.base import Model, Reader, Reply, ReplyOutcome, Request, RequestProblem
from vcrgen.models.likelihoods import lines_of
from vcrgen.models.run import read_reply, send
from vcrgen.models.threads import Readers
from vcrgen.predict.questions import ChoicePicture
from vcrgen.records import Reason
from vcrgen.tasks.bloom import in_dataset_order
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
    make_model: Callable[[], Reader],
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
    model = Readers(make_model, workers)
    identity = canonical_json([pictures.identity, asdict(choice), model.facts])
    key = hashlib.sha256(identity.encode("utf-8")).hexdigest()[:16]
    with run_into(out), _replies_folder(out) as folder:
        _check_new(out)  # a run that has just ended may have written it
        with Ledger(folder / f"{key}.jsonl") as ledger:
            run = PictureRun(pictures, _picture_alone, ledger)
            run.ask(model, watcher or Watcher())
            if not run.lines:
                why = f"the first: {run.example}" if run.example else "there is none"
                data = pictures.dataset
                raise DatasetError(f"Not one picture of {data} can be read ({why}); copy or build the dataset again.")
            outputs = sum(1 for _ in write_outputs(out, run.lines, ledger, model.name))
        # Those of runs with other options, too: they will not go on any more.
        for file in folder.glob("*.jsonl"):
            file.unlink()
    return PredictResult(path=out, model=model.name, outputs=outputs, aside=run.reasons, example=run.example)


def _picture_alone(picture: Picture) -> Request:
    assert picture.data is not None
    return Request(images=(picture.data,), language=picture.lang)


def _check_new(out: Path) -> None:
    if out.exists():
        raise OutputError(f"{out} is there already; choose another --out, or remove it.")


class OutputLine(NamedTuple):
    """What a line of outputs says of its picture."""

    question_id: str
    view: View
    mode: str | None
    lang: str | None = None  # of a question set, where a question is asked in several languages
    rotation: int | None = None  # of a question set: the order of the options; None for others

    @classmethod
    def of(cls, picture: Picture) -> OutputLine:
        """The line of a picture."""
        if isinstance(picture, ChoicePicture):
            return cls(picture.question_id, picture.view, None, picture.lang, picture.rotation)
        return cls(picture.question_id, picture.view, picture.mode)

    def to_json(self, model: str, reply: Reply) -> dict[str, Any]:
        """The whole line, with what the model answered; with how an answer ended that is not to be taken as it is."""
        line: dict[str, Any] = {"question_id": self.question_id, "view": self.view.value}
        others = {"mode": self.mode, "lang": self.lang, "rotation": self.rotation}
        line |= {name: value for name, value in others.items() if value is not None}
        line |= {"model": model, "output": reply.text}
        if reply.outcome in (ReplyOutcome.CUT, ReplyOutcome.FILTERED):
            line["outcome"] = reply.outcome.value
        if reply.thinking:
            line["thinking"] = reply.thinking
        if reply.likelihoods and self.rotation is None:
            line["logprobs"] = lines_of(reply.likelihoods[0])
        elif reply.likelihoods:  # of options, whose tokens would only repeat the dataset's texts
            line["logprobs"] = [[value for _, value in tokens] for tokens in reply.likelihoods]
        if self.rotation is not None and any(value is not None for value in reply.labels):
            line["letters"] = in_dataset_order(reply.labels, self.rotation)
        return line


@contextmanager
def run_into(out: Path) -> Iterator[None]:
    """For the time of a run: an error of the disk names ``out``, and a model judges which picture is too large."""
    with output_errors(out), warnings.catch_warnings():
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)
        yield


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


class PictureRun:
    """The pictures of one run, in the dataset's order, and what became of each.

    Args:
        pictures: What the model is shown.
        to_request: Makes a request of a picture that has an image.
        ledger: The replies.

    Attributes:
        aside: Of each picture that has no reply, by its number, the reason in a word, and in words for people.
        retries: How often requests that got no reply were sent again, by what had gone wrong.
        unanswered: The ids of these; several pictures may share a request, as a text is the same in all modes.
    """

    def __init__(self, pictures: Pictures, to_request: Callable[[Picture], Request], ledger: Ledger) -> None:
        self._pictures, self._to_request, self._ledger = pictures, to_request, ledger
        self._asked: list[OutputLine] = []
        self._keys: dict[int, str] = {}  # of the replies in the ledger, by number of the picture
        self._untold: Counter[str] = Counter()  # pictures set aside of which the watcher does not know
        self.aside: dict[int, tuple[str, str]] = {}
        self.retries: Counter[str] = Counter()
        self.unanswered: set[str] = set()

    def ask(
        self,
        model: Model,
        watcher: Watcher,
        *,
        may_send: Callable[[], bool] = lambda: True,
        on_reply: Callable[[Reply], None] = lambda reply: None,
    ) -> None:
        """Bring the ledger to hold a reply for every picture, but for those that are set aside.

        Args:
            model: What is asked.
            watcher: Told of the progress.
            may_send: Asked before each request is sent.
            on_reply: Given each new reply.
        """
        first: int | None = None  # number of the first picture that is asked about; what came before it was there

        def begin(number: int) -> None:
            nonlocal first
            first = number
            watcher.begin(self._pictures.total, number - len(self.aside))
            self._tell(watcher)

        def may() -> bool:
            if first is None:
                begin(len(self._asked) - 1)
            return may_send()

        for number, key, outcome in send(self._requests(), model, self._ledger, may_send=may):
            if isinstance(outcome, RequestProblem):
                self.retries.update(outcome.retries)
                self.unanswered.add(key)
                self._set_aside(number, outcome)
            else:
                self._keys[number] = key
                if outcome is not None:
                    on_reply(outcome)
                if first is not None and number >= first:
                    watcher.advance(1, 1, Counter())
            if first is not None:
                self._tell(watcher)
        if first is None:
            begin(len(self._asked))

    def _tell(self, watcher: Watcher) -> None:
        if self._untold:
            watcher.advance(self._untold.total(), 0, self._untold)
            self._untold = Counter()

    def _requests(self) -> Iterator[tuple[int, Request]]:
        for number, picture in enumerate(self._pictures.stream()):
            self._asked.append(OutputLine.of(picture))
            try:
                if picture.problem:
                    raise RequestProblem(Reason.NO_IMAGE, picture.problem)
                request = self._to_request(picture)
            except RequestProblem as problem:
                self._set_aside(number, problem)
            else:
                yield number, request

    def _set_aside(self, number: int, problem: RequestProblem) -> None:
        line = self._asked[number]
        self.aside[number] = problem.reason, f"{line.question_id}, {line.view.label}: {problem.detail}"
        self._untold[problem.reason] += 1

    @property
    def lines(self) -> list[tuple[OutputLine, str]]:
        """Of each picture that has a reply, in the dataset's order, its line and the reply's key in the ledger."""
        return [(self._asked[number], key) for number, key in sorted(self._keys.items())]

    @property
    def reasons(self) -> Counter[str]:
        """How many pictures were set aside for each reason, in the order of the first picture of each."""
        return Counter(reason for _, (reason, _) in sorted(self.aside.items()))

    @property
    def example(self) -> str:
        """The first picture that was set aside, and why; empty where there is none."""
        return self.aside[min(self.aside)][1] if self.aside else ""


def write_outputs(out: Path, lines: Iterable[tuple[OutputLine, str]], ledger: Ledger, model: str) -> Iterator[Reply]:
    """Write a file of outputs: a line for each reply, in the order given. The file appears whole or not at all.

    Args:
        out: The file.
        lines: What the outputs say of a picture, and the key of its reply.
        ledger: The replies.
        model: Name of the model, for the file.

    Yields:
        Each reply when it is written. The file is there when all of them were taken.
    """
    with atomic_path(out) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        for line, key in lines:
            reply = read_reply(ledger, key)
            file.write(json.dumps(line.to_json(model, reply), ensure_ascii=False) + "\n")
            yield reply
