"""Score files against a dataset or key of any task."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from vcrgen.core.errors import VcrgenError
from vcrgen.core.progress import ProgressListener
from vcrgen.data.key import read_key
from vcrgen.data.tasks.bloom import TASK
from vcrgen.data.tasks.opening import is_mcq_dataset
from vcrgen.scorer.answers import hidden_folder
from vcrgen.scorer.evidence import write_evidence
from vcrgen.scorer.options import VIEW_OPTIONS, ScoreOptions
from vcrgen.scorer.predictions import receive
from vcrgen.scorer.results import RunResult
from vcrgen.scorer.session import BaseScoringSession
from vcrgen.scorer.span_session import Session


def open_session(data: Path, options: ScoreOptions) -> BaseScoringSession:
    """The session of a dataset or a key, whichever task it is of; see `Session`.

    Raises:
        VcrgenError: The answers cannot be read, or an option is wrong.
    """
    if not is_mcq(data):
        return Session(data, options)
    from vcrgen.scorer.mcq.session import ItemSession  # which is not loaded for spans

    return ItemSession(data, options)


def is_mcq(data: Path) -> bool:
    """Tell whether a place holds an MCQ benchmark, or the key of a hidden one."""
    folder = hidden_folder(data)
    try:
        return read_key(folder).task == TASK if folder else not data.is_file() and is_mcq_dataset(data)
    except VcrgenError:
        return False  # whoever reads the key says what is wrong


def score(
    predictions: str | Path | Sequence[str | Path],
    *,
    data: str | Path,
    spans: str | Path | None = None,
    progress: bool | ProgressListener = True,
    **options: Any,
) -> RunResult:
    """Score a file of model outputs against a VCR dataset.

    Args:
        predictions: JSON Lines with ``question_id`` and ``output``, or what the VCR repository, VLMEvalKit or
            lmms-eval wrote. Several files are scored as one: each of them holds other modes or views.
        data: A dataset that vcrgen built, VCR-WIKI's Parquet, or what ``datasets.save_to_disk`` wrote, on a disk or in
            an object store; or the key of a hidden set, or a JSON Lines key.
        spans: Write the per-span evidence here (``.parquet`` or ``.jsonl``).
        progress: Show the progress on the standard error or in a notebook; or who is told of it.
        **options: Fields of `ScoreOptions`: ``protocol`` (``vcrgen``, ``paper``, ``vlmevalkit`` or ``lmms-eval``),
            ``mode``, ``view``, ``split``, ``subset``, ``lang``, ``segmenter``, ``strip_thinking``,
            ``max_output_tokens``, ``refusals``, ``normalise``, ``seed``, ``strict``, ``judge``, ``judge_model``,
            ``judge_key_env``.

    Raises:
        VcrgenError: The user can mend it; the message says how.

    Examples:
        Outputs of ``vcrgen baseline template data/my-vcr --out outputs.jsonl``:

        >>> run = score("outputs.jsonl", data="data/my-vcr", progress=False)
        >>> run.to_pandas()[["mode", "view", "metric", "score", "low", "high"]].head(2)
           mode view   metric  score       low  high
        0  easy  tei    exact    1.0  0.722467   1.0
        1  easy  tei  jaccard    1.0  0.722467   1.0
    """
    from vcrgen.core.console_progress import open_progress  # which imports rich

    files = [Path(file) for file in ([predictions] if isinstance(predictions, str | Path) else predictions)]
    settings = ScoreOptions(**options)
    with open_progress(progress, doing="scoring", unit="outputs", kept="read") as listener:
        listener.stage("reading the answers")
        session = open_session(Path(data), settings)
        with write_evidence(Path(spans) if spans is not None else None, session.task) as evidence:
            session.listener = listener
            listener.stage("scoring")
            result = session.score([receive(file) for file in files], evidence)
    return replace(result, next_command=view_command(data, files, settings))


def view_command(data: str | Path, files: Sequence[Path], options: ScoreOptions) -> list[str]:
    """The command that shows every output as it was scored; none for what was read from a pipe."""
    if not all(file.is_file() for file in files):
        return []
    given = ((f"--{name}", getattr(options, name)) for name in VIEW_OPTIONS)
    words = [word for name, value in given if value is not None for word in (name, value)]
    return ["vcrgen", "view", str(data), *map(str, files), *words]
