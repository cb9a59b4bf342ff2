"""A run: pictures of a dataset -> a model -> a file of outputs. A killed run can be resumed."""

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

from vcrgen.core.errors import DatasetError, OutputError
from vcrgen.core.files import atomic_path, canonical_json, output_errors
from vcrgen.core.ledger import Ledger
from vcrgen.core.lock import locked
from vcrgen.core.progress import ProgressListener
from vcrgen.core.records import RejectReason
from vcrgen.data.pictures import Picture, Pictures, PictureSelection
from vcrgen.data.tasks.bloom import in_dataset_order
from vcrgen.data.views import View
from vcrgen.models.base import Model, Reply, ReplyOutcome, Request, RequestProblem, VisionModel
from vcrgen.models.logprobs import split_at_line_ends
from vcrgen.models.predict.questions import QuestionPicture
from vcrgen.models.run import read_reply, reply_ids, send
from vcrgen.models.threads import ModelPool


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictResult:
    """The result of a run."""

    path: Path  # file of outputs
    model: str  # name and version
    outputs: int  # lines in the file
    rejected: Counter[str]  # pictures by reason
    example: str  # the first rejected picture and the reason, for people


def run_baseline(
    pictures: Pictures,
    choice: PictureSelection,
    *,
    out: Path,
    make_model: Callable[[], VisionModel],
    workers: int = 1,
    listener: ProgressListener | None = None,
) -> PredictResult:
    """Send pictures to a model and write its replies in the scorer's form; the file appears whole or not at all.

    Replies are kept in a hidden folder beside ``out``, from which the same call resumes. The file has the same bytes
    for any number of workers.

    Args:
        out: A new file, JSON Lines.
        make_model: Makes the model; called once for each worker.
        workers: Requests under way at a time.

    Raises:
        DatasetError: The dataset is damaged, or not one of its pictures can be read.
        OutputError: The file is there already, or cannot be written.
        PipelineError: The model is not installed.
    """
    _check_new(out)
    model, listener = ModelPool(make_model, workers), listener or ProgressListener()
    identity = canonical_json([pictures.identity, asdict(choice), model.facts])
    key = hashlib.sha256(identity.encode("utf-8")).hexdigest()[:16]
    with guard_output(out), _replies_folder(out) as folder:
        _check_new(out)  # a run that has just ended may have written it
        with Ledger(folder / f"{key}.jsonl", listener.warn) as ledger:
            run = PictureRun(pictures, _picture_alone, ledger)
            run.ask(model, listener)
            if not run.lines:
                why = f"the first: {run.example}" if run.example else "there is none"
                data = pictures.dataset
                raise DatasetError(f"Not one picture of {data} can be read ({why}); copy or build the dataset again.")
            outputs = sum(1 for _ in write_outputs(out, run.lines, ledger, model.name))
        # Those of runs with other options, too: they cannot be resumed any more.
        for file in folder.glob("*.jsonl*"):
            file.unlink()
    return PredictResult(path=out, model=model.name, outputs=outputs, rejected=run.reasons, example=run.example)


def _picture_alone(picture: Picture) -> Request:
    assert picture.data is not None
    return Request(images=(picture.data,), language=picture.lang)


def _check_new(out: Path) -> None:
    if out.exists():
        raise OutputError(f"{out} is there already; choose another --out, or remove it.")


class OutputLine(NamedTuple):
    """The picture of a line of outputs."""

    question_id: str
    view: View
    mode: str | None
    lang: str | None = None  # of an MCQ benchmark, where a question is asked in several languages
    rotation: int | None = None  # of an MCQ benchmark: the order of the options; None for others

    @classmethod
    def of(cls, picture: Picture) -> OutputLine:
        """Line of a picture; of a question with its language and rotation in place of the mode."""
        if isinstance(picture, QuestionPicture):
            return cls(picture.question_id, picture.view, None, picture.lang, picture.rotation)
        return cls(picture.question_id, picture.view, picture.mode)

    def to_json(self, model: str, reply: Reply) -> dict[str, Any]:
        """Line with the reply and, unless it is complete, its outcome; without fields that are None."""
        line: dict[str, Any] = {"question_id": self.question_id, "view": self.view.value}
        others = {"mode": self.mode, "lang": self.lang, "rotation": self.rotation}
        line |= {name: value for name, value in others.items() if value is not None}
        line |= {"model": model, "output": reply.text}
        if reply.outcome in (ReplyOutcome.TRUNCATED, ReplyOutcome.FILTERED):
            line["outcome"] = reply.outcome.value
        if reply.spans:
            line["spans"] = list(reply.spans)
        if reply.thinking:
            line["thinking"] = reply.thinking
        if reply.candidate_logprobs and self.rotation is None:
            line["logprobs"] = split_at_line_ends(reply.candidate_logprobs[0])
        elif reply.candidate_logprobs:  # of options, whose tokens would only repeat the dataset's texts
            line["logprobs"] = [[value for _, value in tokens] for tokens in reply.candidate_logprobs]
        if self.rotation is not None and any(value is not None for value in reply.label_logprobs):
            line["label_logprobs"] = in_dataset_order(reply.label_logprobs, self.rotation)
        return line


@contextmanager
def guard_output(out: Path) -> Iterator[None]:
    """Report errors of the disk with ``out``, and leave it to models to reject large pictures, in a block."""
    with output_errors(out), warnings.catch_warnings():
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)
        yield


@contextmanager
def _replies_folder(out: Path) -> Iterator[Path]:
    """Open the folder of replies of unfinished runs; it is removed when empty."""
    folder = out.with_name(f".{out.name}.unfinished")
    busy = OutputError(f"Another run is writing to {out}; wait for it or choose another --out.")
    try:
        with locked(folder / "lock", busy):
            yield folder
    finally:
        with suppress(OSError):
            folder.rmdir()


class PictureRun:
    """The pictures of one run in the dataset's order, with their replies or problems.

    Args:
        pictures: The pictures.
        to_request: Makes the request of a picture.
        ledger: The replies.

    Attributes:
        rejected: Pictures without a reply, by number, with the type of the problem and a sentence.
        retries: Failed tries of requests without a reply, by reason.
        prompt: The first request, without the image's bytes, for the run's record.
        unanswered: Ids of these requests; several pictures may share one.
    """

    def __init__(self, pictures: Pictures, to_request: Callable[[Picture], Request], ledger: Ledger) -> None:
        self._pictures, self._to_request, self._ledger = pictures, to_request, ledger
        self._lines: list[OutputLine] = []
        self._keys: dict[int, str] = {}  # of the replies in the ledger, by number of the picture
        self._unreported: Counter[str] = Counter()  # rejected since the last call of the listener
        self.rejected: dict[int, tuple[str, str]] = {}
        self.retries: Counter[str] = Counter()
        self.unanswered: set[str] = set()
        self.prompt: dict[str, Any] = {}
        self.refused = 0  # pictures whose requests the server refuses

    def ask(
        self,
        model: Model,
        listener: ProgressListener,
        *,
        may_send: Callable[[], bool] = lambda: True,
        retry_refused: bool = False,
        on_outcome: Callable[[Reply | RequestProblem], None] = lambda outcome: None,
    ) -> None:
        """Add a reply for every picture to the ledger, but for rejected ones.

        Args:
            may_send: Called before each request; false ends the run.
            retry_refused: Send requests again that were refused.
            on_outcome: Receives each new reply or problem.
        """
        first: int | None = None  # number of the first picture that needs a request
        if there := sum(1 for _ in reply_ids(self._ledger)):  # of any pictures: those of a failed one may follow
            listener.resume(there)

        def begin(number: int) -> None:
            nonlocal first
            first = number
            listener.begin(self._pictures.total, number - len(self.rejected))
            self._report(listener)

        def may() -> bool:
            if first is None:
                begin(len(self._lines) - 1)
            return may_send()

        for number, key, outcome in send(
            self._requests(), model, self._ledger, may_send=may, retry_refused=retry_refused, listener=listener
        ):
            if outcome is not None:
                on_outcome(outcome)
            if isinstance(outcome, RequestProblem):
                self.refused += outcome.refused
                self.retries.update(outcome.retries)
                self.unanswered.add(key)
                self._reject(number, outcome)
            else:
                self._keys[number] = key
                if first is not None and number >= first:
                    listener.advance(1, 1, Counter())
            if first is not None:
                self._report(listener)
        if first is None:
            begin(len(self._lines))

    def _report(self, listener: ProgressListener) -> None:
        if self._unreported:
            listener.advance(self._unreported.total(), 0, self._unreported)
            self._unreported = Counter()

    def _requests(self) -> Iterator[tuple[int, Request]]:
        for number, picture in enumerate(self._pictures.stream()):
            self._lines.append(OutputLine.of(picture))
            try:
                if picture.problem:
                    raise RequestProblem(RejectReason.NO_IMAGE, picture.problem)
                request = self._to_request(picture)
            except RequestProblem as problem:
                self._reject(number, problem)
            else:
                words = {"system": request.system, "text": request.text}
                self.prompt = self.prompt or {**words, "images": len(request.images)}
                yield number, request

    def _reject(self, number: int, problem: RequestProblem) -> None:
        line = self._lines[number]
        self.rejected[number] = problem.reason, f"{line.question_id}, {line.view.label}: {problem.detail}"
        self._unreported[problem.reason] += 1

    @property
    def lines(self) -> list[tuple[OutputLine, str]]:
        """Line of each picture that has a reply, in the dataset's order, and the reply's key."""
        return [(self._lines[number], key) for number, key in sorted(self._keys.items())]

    @property
    def reasons(self) -> Counter[str]:
        """Count rejected pictures by reason, in the order of their first pictures."""
        return Counter(reason for _, (reason, _) in sorted(self.rejected.items()))

    @property
    def example(self) -> str:
        """Return a sentence about the first rejected picture; empty if there is none."""
        return self.rejected[min(self.rejected)][1] if self.rejected else ""


def write_outputs(out: Path, lines: Iterable[tuple[OutputLine, str]], ledger: Ledger, model: str) -> Iterator[Reply]:
    """Write a line for each reply, in the order given, and yield the replies.

    The file appears when all replies were taken.
    """
    with atomic_path(out) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        for line, key in lines:
            reply = read_reply(ledger, key)
            file.write(json.dumps(line.to_json(model, reply), ensure_ascii=False) + "\n")
            yield reply
