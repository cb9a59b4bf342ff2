"""Scores in a file, from which runs are compared again without their outputs.

A file holds what a report says, as JSON, and the scores of every unit (span or item), packed: from these and the seed
come the resamples that the tests need, and the means and intervals. Files come from strangers: nothing is unpacked
beyond the size that it has to have. A checksum of the whole file shows that it was edited; it is no proof against who
computes it anew, as they could change the scores of the units as well.
"""

import base64
import hashlib
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from pydantic import BaseModel, ValidationError, field_validator, model_validator

from vcrgen.core.errors import ScoreError
from vcrgen.core.files import canonical_json, output_errors, write_json
from vcrgen.core.lock import locked
from vcrgen.core.reading import read_json
from vcrgen.core.signature import Signature
from vcrgen.data.tasks.bloom import MAX_OPTIONS, MIN_OPTIONS
from vcrgen.data.tasks.task import TASKS, ScoredTask
from vcrgen.scorer.output_matcher import PROBLEMS
from vcrgen.scorer.records import CellName
from vcrgen.scorer.results import SCHEMA, CellResult, RunResult, as_named
from vcrgen.scorer.statistics import contrasts, estimate_saved
from vcrgen.stats.arrays import Ids, Ints, Records
from vcrgen.stats.bootstrap import RESAMPLES
from vcrgen.stats.intervals import METHOD

CHECKSUM = "sha256"
ENDING = ".scores.json"
MAX_WAIT = 60  # seconds for another command that writes the same file
MAX_UNITS = 1 << 22  # of a cell: 256 MiB of scores


class _Problem(BaseModel):
    count: int
    first: tuple[str, ...]


class _Saved(BaseModel):
    """The fields of a file that are read."""

    task: str
    name: str
    model: str | None
    format: str
    language: str
    signature: Signature
    scores: list[CellResult]
    problems: dict[str, _Problem]
    notes: tuple[str, ...]
    ids_of_clusters: str = ""  # packed: the hashed id of each cluster
    units_of_clusters: str = ""  # packed: how many units each cluster has; files have the words of their task
    scores_of_units: tuple[str, ...] = ()  # packed, one for each of `scores`: units x metrics; none of a hidden set

    @field_validator("signature", mode="before")
    @classmethod
    def _parse_signature(cls, value: Any) -> Signature:
        if not isinstance(value, dict):
            raise ValueError("it has no text")
        signature = Signature.parse(str(value.get("text")))
        int(signature.facts.get("seed", ""))  # a ValueError where it has none
        return signature

    @model_validator(mode="after")
    def _parts_fit(self) -> Self:
        """Without which a report could not be made, or an array would be too large."""
        task, cells = TASKS[self.task], self.scores
        if not (
            len({(cell.variant, cell.view) for cell in cells}) == len(cells)
            and len({cell.clusters for cell in cells}) == 1
            and len(self.scores_of_units) in (0, len(cells))
            and set(self.problems) <= set(PROBLEMS)
            and all(_has_figures_of(task, cell) for cell in cells)
        ):
            raise ValueError("its parts do not fit together")
        return self

    @property
    def seed(self) -> int:
        """Of the bootstrap."""
        return int(self.signature.facts["seed"])


def _has_figures_of(task: ScoredTask, cell: CellResult) -> bool:
    """Check that a cell has every figure that reports show, of a number of units that fits into memory."""
    metrics = set(cell.metrics)
    # Which metrics there are depends on the request, but only where a task can be requested in several ways.
    complete = bool(metrics) if task.metric_contrasts else metrics == set(task.metrics)
    return (
        complete
        and metrics <= set(task.metrics)
        and cell.view in task.views
        and set(cell.outcomes) == set(task.outcomes)
        and all(set(group.metrics) == metrics & set(task.main_metrics) for group in cell.groups)
        and all(min(letter.right, letter.unread) >= 0 for letter in cell.key_letters)
        and all(letter.right + letter.unread <= letter.units for letter in cell.key_letters)
        and 0 <= cell.missing <= cell.questions_of(task)
        and (cell.chance is None or 1 / MAX_OPTIONS <= cell.chance <= 1 / MIN_OPTIONS)
        and 0 < cell.clusters <= MAX_UNITS
        and 1 <= cell.effective_clusters <= cell.clusters
        and 0 < cell.units <= MAX_UNITS
    )


def as_saved(result: RunResult, *, secret: bool) -> dict[str, Any]:
    """A result as JSON values, with the scores of its units if they may be known.

    Those of a hidden set tell which output is right, so with ``secret`` they are left out.
    """
    saved = result.as_json()
    if not secret:
        ids, counts, scores = _packed_fields(result.task)
        cells = [result.resamples[cell.variant, cell.view] for cell in result.cells]
        saved[ids] = _pack(result.cluster_ids.astype("<u8").tobytes())
        saved[counts] = _pack(np.diff(cells[0].starts).astype("<i8").tobytes())
        saved[scores] = [_pack(cell.scores.tobytes()) for cell in cells]
    return {**saved, CHECKSUM: checksum(saved)}


def checksum(saved: Mapping[str, Any]) -> str:
    """The SHA-256, in hex, of all fields of a file but the checksum itself."""
    fields = {name: value for name, value in saved.items() if name != CHECKSUM}
    return hashlib.sha256(canonical_json(fields).encode()).hexdigest()


def write_saved(target: Path, result: RunResult, *, secret: bool) -> Path | None:
    """Write a result, so that the newest one has the plain name; a lock keeps two runs at once apart.

    Args:
        target: The plain name, such as ``preds.scores.json``.
        secret: As for `as_saved`.

    Returns:
        The new name of the older scores there, with their signature's short form; None if there were none, or of
        the same signature.

    Raises:
        ScoreError: The file there holds no scores.
        OutputError: It cannot be written.
    """
    busy = ScoreError(f"{target} is being written by another command; run this one again.")
    with output_errors(target), locked(target.with_name(f".{target.name}.lock"), busy, wait=MAX_WAIT):
        older = older_scores(target, result.signature)
        if older is not None:
            target.replace(older)
        write_json(target, as_saved(result, secret=secret))
        _named_by(target, result.signature).unlink(missing_ok=True)  # older ones of this signature
    return older


def older_scores(target: Path, signature: Signature) -> Path | None:
    """The name that scores of another signature take when those of this one are written; None if there are none.

    Raises:
        ScoreError: The file there holds no scores.
    """
    if not target.exists():
        return None
    try:
        older = Signature.parse(str(read_json(target, ScoreError)["signature"]["text"]))
    except (ScoreError, LookupError, TypeError, ValueError):
        raise ScoreError(f"{target} holds no scores, so it is not replaced; move it, or add --no-json.") from None
    return None if older == signature else _named_by(target, older)


def _named_by(target: Path, signature: Signature) -> Path:
    """``preds.1a2b3c4d.scores.json`` for ``preds.scores.json``."""
    return target.with_name(f"{target.name.removesuffix(ENDING)}.{signature.short}{ENDING}")


def reject_duplicate_files(files: Sequence[Path], identities: Sequence[object]) -> None:
    """Refuse files of which two are the same: they would stand side by side as if they were two runs.

    Args:
        files: As the user named them.
        identities: What is equal for two that are the same: places of outputs; hashes of saved scores, as these hold
            the name of their outputs, so that equal bytes are a copy.

    Raises:
        ScoreError: Two are the same.
    """
    first: dict[object, Path] = {}
    for file, identity in zip(files, identities, strict=True):
        if other := first.get(identity):
            same = f"{file} is named twice" if other == file else f"{file} and {other} are the same"
            raise ScoreError(f"{same}; name each run once.")
        first[identity] = file


def load_saved(file: Path, *, hidden_too: bool = False) -> RunResult:
    """The result in a file that ``vcrgen score`` wrote, with its resamples.

    Args:
        hidden_too: Take one of a hidden set, which has neither scores of units nor resamples.

    Raises:
        ScoreError: It is no such file, was changed, is of another version, or lacks the scores of its spans.
    """
    saved = _read(file)
    facts, task = saved.signature.facts, TASKS[saved.task]
    if (facts.get("boot"), facts.get("interval")) != (f"{RESAMPLES}", METHOD):
        raise ScoreError(f"{file} was made with other resamples than this vcrgen's; score the outputs again.")
    if not saved.scores_of_units and not hidden_too:
        raise ScoreError(
            f"{file} lacks the scores of its {task.units}, as those of a hidden set do; compare the outputs."
        )
    result = RunResult(
        name=saved.name,
        model=saved.model,
        format=saved.format,
        lang=saved.language,
        signature=saved.signature,
        task=task,
        # Files have their keys sorted, reports the metrics in the order of the scorer.
        cells=tuple(
            replace(cell, metrics={metric: cell.metrics[metric] for metric in task.metrics if metric in cell.metrics})
            for cell in saved.scores
        ),
        differences=(),
        problems={kind: (problem.count, problem.first) for kind, problem in saved.problems.items()},
        notes=saved.notes,
        saved_in=str(file),
    )
    return _with_units(file, saved, result) if saved.scores_of_units else result


def _with_units(file: Path, saved: _Saved, result: RunResult) -> RunResult:
    """A result with what follows from the scores of its units: its metrics, differences and resamples."""
    task, cells, units = result.task, result.cells, _units(file, saved)
    estimates, resamples = estimate_saved(task, units.scores, units.starts, seed=saved.seed)
    return replace(
        result,
        cells=tuple(replace(cell, metrics=estimates[cell.variant, cell.view]) for cell in cells),
        differences=contrasts(task, resamples),
        resamples=resamples,
        cluster_ids=units.cluster_ids,
    )


class SavedUnits(NamedTuple):
    """The scores of all units in a file."""

    signature: Signature
    cluster_ids: Ids
    starts: Ints  # of each cluster, how many units stand before it; and last, how many there are
    scores: Mapping[CellName, Records]  # of each unit by metric, in every cell


def load_units(file: Path) -> SavedUnits:
    """The scores of units in a file that ``vcrgen score`` wrote, without resamples.

    Raises:
        ScoreError: As `load_saved`.
    """
    saved = _read(file)
    if not saved.scores_of_units:
        raise ScoreError(f"{file} lacks the scores of its {TASKS[saved.task].units}, as those of a hidden set do.")
    return _units(file, saved)


def _units(file: Path, saved: _Saved) -> SavedUnits:
    task, cells = TASKS[saved.task], saved.scores
    try:
        ids: Ids = _unpack(saved.ids_of_clusters, np.dtype("<u8"), cells[0].clusters)
        counts: Ints = _unpack(saved.units_of_clusters, np.dtype("<i8"), cells[0].clusters)
        starts = np.concatenate([[0], np.cumsum(counts)])
        if ((counts < 0) | (counts > MAX_UNITS)).any() or starts[-1] > MAX_UNITS:
            raise ValueError("more units than fit into memory")
        scores = {
            (cell.variant, cell.view): _unpack_scores(packed, task, cell, int(starts[-1]))
            for cell, packed in zip(cells, saved.scores_of_units, strict=True)
        }
    except ValueError:
        raise _damaged(file, f"the scores of its {task.units} cannot be unpacked") from None
    return SavedUnits(saved.signature, ids, starts, scores)


class SavedMeans(NamedTuple):
    """The means in a file, without the scores of its units."""

    task: ScoredTask
    model: str
    language: str
    signature: Signature
    cells: list[CellResult]
    hidden: bool  # whether it is of a hidden set, of which no score of a unit is saved


def load_means(file: Path) -> SavedMeans:
    """Read the means of every cell; of a hidden set, too."""
    saved = _read(file)
    return SavedMeans(
        task=TASKS[saved.task],
        model=saved.model or saved.name,
        language=saved.language,
        signature=saved.signature,
        cells=saved.scores,
        hidden=not saved.scores_of_units,
    )


def _read(file: Path) -> _Saved:
    """The fields of a file, of the right types and without NaN and half characters."""
    what = "give what `vcrgen score` wrote, such as preds.scores.json"
    try:
        value = read_json(file, ScoreError)
    except ScoreError as error:
        raise ScoreError(f"{str(error).removesuffix('.')}; {what}.") from None
    if not isinstance(value, dict) or "schema" not in value:
        raise ScoreError(f"{file} holds no scores; {what}.")
    if value["schema"] != SCHEMA:
        raise ScoreError(f"{file} is not of the version {SCHEMA}; score the outputs again.")
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
        task = TASKS.get(str(value.get("task")))
        if task is None:
            raise _damaged(file, "its task is unknown")
        if value.get(CHECKSUM) != checksum(value):
            raise _damaged(file, "it was edited, as its content has another checksum")
        return _Saved.model_validate(_in_general_words(task, value))
    except ValidationError as error:
        problem = error.errors()[0]
        field = ".".join(map(str, problem["loc"]))[:80]
        raise _damaged(file, f"{field} is wrong" if field else problem["msg"].removeprefix("Value error, ")) from None
    except ValueError:
        raise _damaged(file, "it holds what is no number or no text") from None
    except RecursionError:
        raise _damaged(file, "it is nested too deep") from None


def _packed_fields(task: ScoredTask) -> tuple[str, str, str]:
    """Names of the fields with packed numbers in files of a task."""
    return f"ids_of_{task.clusters}", f"{task.units}_of_{task.clusters}", f"scores_of_{task.units}"


def _in_general_words(task: ScoredTask, value: dict[str, Any]) -> dict[str, Any]:
    """The content of a file under the names of our fields."""
    ids, counts, scores = _packed_fields(task)
    fields = {named: name for name, named in task.field_names.items()}
    renamed = {ids: "ids_of_clusters", counts: "units_of_clusters", scores: "scores_of_units"}
    content = {renamed.get(name, name): part for name, part in value.items()}
    return {**content, "scores": as_named(content.get("scores"), fields)}


def _damaged(file: Path, why: str) -> ScoreError:
    return ScoreError(f"{file} is damaged: {why}; score the outputs again.")


def _pack(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data)).decode()


def _unpack(packed: str, kind: np.dtype[Any], count: int) -> Any:
    """An array of so many values, of which no more are unpacked than there have to be.

    Raises:
        ValueError: It is no such array.
    """
    size = count * kind.itemsize
    try:
        data = zlib.decompressobj().decompress(base64.b64decode(packed, validate=True), size + 1)
    except zlib.error:
        raise ValueError("not compressed") from None
    if len(data) != size:
        raise ValueError("another number of values")
    return np.frombuffer(data, kind)


def _unpack_scores(packed: str, task: ScoredTask, cell: CellResult, units: int) -> Records:
    """The scores of the units of a cell by metric: in the range of the metric, NaN for what a unit does not have.

    Raises:
        ValueError: They are no such scores, or of other metrics than the cell has.
    """
    scores: Records = _unpack(packed, np.dtype([(metric, np.float64) for metric in task.metrics]), units)
    for name, metric in task.metrics.items():
        values = scores[name][~np.isnan(scores[name])]
        if (len(values) > 0) != (name in cell.metrics) or ((values < 0) | (values > metric.maximum)).any():
            raise ValueError(f"no scores of {name}")
    return scores
