"""Scores in a file, from which runs are compared again without their outputs.

A file holds what a report says, as JSON, and the scores of every unit (span or item), packed: from these and the seed
come the resamples that the tests need. Files come from strangers: nothing is unpacked beyond the size that it has to
have, and means, deviations, intervals and the number of right units have to be those of the units. A checksum of the
whole file shows what was edited and cannot be computed anew, such as the model's name.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pydantic import BaseModel, ValidationError

from vcrgen.core.errors import ScoreError
from vcrgen.core.files import canonical_json
from vcrgen.core.reading import read_json
from vcrgen.core.signature import Signature
from vcrgen.data.tasks.bloom import LETTERS, MAX_OPTIONS, MIN_OPTIONS
from vcrgen.data.tasks.task import TASKS, ScoredTask
from vcrgen.scorer.key_letters import UNREAD
from vcrgen.scorer.output_matcher import PROBLEMS
from vcrgen.scorer.results import SCHEMA, CellResult, Estimate, RunResult, as_named
from vcrgen.scorer.statistics import contrasts, estimate_saved
from vcrgen.stats.arrays import Ids, Ints, Records
from vcrgen.stats.bootstrap import RESAMPLES
from vcrgen.stats.intervals import METHOD

CHECKSUM = "sha256"
MAX_UNITS = 1 << 22  # of a cell: 256 MiB of scores
TOLERANCE = 1e-9  # rounding that may lie between a mean and the same mean


class _Text(BaseModel):
    text: str


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
    signature: _Text
    scores: list[CellResult]
    problems: dict[str, _Problem]
    notes: tuple[str, ...]
    ids_of_clusters: str = ""  # packed: the hashed id of each cluster
    units_of_clusters: str = ""  # packed: how many units each cluster has; files have the words of their task
    scores_of_units: tuple[str, ...] = ()  # packed, one for each of `scores`: units x metrics


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
    """Return the SHA-256, in hex, of all fields of a file but the checksum itself."""
    fields = {name: value for name, value in saved.items() if name != CHECKSUM}
    return hashlib.sha256(canonical_json(fields).encode()).hexdigest()


def signature_of(file: Path) -> str:
    """The signature in a file, or an empty text where it is no file of scores."""
    try:
        return str(read_json(file, ScoreError)["signature"]["text"])
    except (ScoreError, LookupError, TypeError):
        return ""


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
        file: The file.
        hidden_too: Take one of a hidden set, which has neither scores of units nor resamples.

    Raises:
        ScoreError: It is no such file, was changed, is of another version, or lacks the scores of its spans.
    """
    saved = _read(file)
    try:
        signature = Signature.parse(saved.signature.text)
        seed = int(signature.facts["seed"])
    except (ValueError, KeyError):
        raise _damaged(file, "its signature cannot be read") from None
    if (signature.facts.get("boot"), signature.facts.get("interval")) != (f"{RESAMPLES}", METHOD):
        raise ScoreError(f"{file} was made with other resamples than this vcrgen's; score the outputs again.")
    task = TASKS[saved.task]
    if not saved.scores_of_units and not hidden_too:
        raise ScoreError(
            f"{file} lacks the scores of its {task.units}, as those of a hidden set do; compare the outputs."
        )
    # Files have their keys sorted, reports the metrics in the order of the scorer.
    cells = [
        replace(cell, metrics={metric: cell.metrics[metric] for metric in task.metrics if metric in cell.metrics})
        for cell in _cells(file, saved)
    ]
    result = RunResult(
        name=saved.name,
        model=saved.model,
        format=saved.format,
        lang=saved.language,
        signature=signature,
        task=task,
        cells=tuple(cells),
        differences=(),
        problems={kind: (found.count, found.first) for kind, found in saved.problems.items()},
        notes=saved.notes,
    )
    return _with_units(file, saved, result, seed) if saved.scores_of_units else result


def _with_units(file: Path, saved: _Saved, result: RunResult, seed: int) -> RunResult:
    """A result with what is made of the scores of its units, which have to have its figures."""
    task, cells = result.task, result.cells
    ids: Ids = np.frombuffer(_unpack(file, task, saved.ids_of_clusters, cells[0].clusters * 8), "<u8")
    counts: Ints = np.frombuffer(_unpack(file, task, saved.units_of_clusters, cells[0].clusters * 8), "<i8")
    starts = np.concatenate([[0], np.cumsum(counts)])
    units = int(starts[-1])
    if ((counts < 0) | (counts > MAX_UNITS)).any() or units > MAX_UNITS:
        raise _damaged(file, f"its {task.clusters} do not have so many {task.units}")
    kinds = np.dtype([(metric, np.float64) for metric in task.metrics])
    scores = {
        (cell.variant, cell.view): np.frombuffer(_unpack(file, task, packed, units * kinds.itemsize), kinds)
        for cell, packed in zip(cells, saved.scores_of_units, strict=True)
    }
    if not all(_are_the_means(task, *each) for each in zip(cells, scores.values(), strict=True)):
        raise _damaged(file, f"its means are not those of its {task.units}")
    estimates, resamples = estimate_saved(task, scores, starts, seed=seed)
    if not all(_are_equal(cell.metrics, estimates[cell.variant, cell.view]) for cell in cells):
        raise _damaged(file, f"its intervals or deviations are not those of its {task.units}")
    return replace(result, differences=contrasts(task, resamples), resamples=resamples, cluster_ids=ids)


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
    try:
        signature = Signature.parse(saved.signature.text)
    except ValueError:
        raise _damaged(file, "its signature cannot be read") from None
    cells = _cells(file, saved)
    return SavedMeans(
        TASKS[saved.task], saved.model or saved.name, saved.language, signature, cells, not saved.scores_of_units
    )


def _read(file: Path) -> _Saved:
    """The fields of a file, of the right types and without NaN and half characters."""
    value = read_json(file, ScoreError)
    if not isinstance(value, dict) or "schema" not in value:
        raise ScoreError(f"{file} holds no scores; give what `vcrgen score` wrote, such as preds.scores.json.")
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
    except ValidationError as problem:
        raise _damaged(file, f"{'.'.join(map(str, problem.errors()[0]['loc']))[:80]} is wrong") from None
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
    found = {renamed.get(name, name): part for name, part in value.items()}
    return {**found, "scores": as_named(found.get("scores"), fields)}


def _cells(file: Path, saved: _Saved) -> list[CellResult]:
    """The cells of a file, if they fit together."""
    cells, task = saved.scores, TASKS[saved.task]
    names, sizes = {(cell.variant, cell.view) for cell in cells}, {cell.clusters for cell in cells}
    known = set(saved.problems) <= set(PROBLEMS) and all(_is_whole(task, cell) for cell in cells)
    packed = len(saved.scores_of_units) in (0, len(cells))  # none of a hidden set
    if not known or not packed or len(names) != len(cells) or len(sizes) != 1:
        raise _damaged(file, "its parts do not fit together")
    return cells


def _damaged(file: Path, why: str) -> ScoreError:
    return ScoreError(f"{file} is damaged: {why}; score the outputs again.")


def _is_whole(task: ScoredTask, cell: CellResult) -> bool:
    """Check that a cell has every figure that reports show, of a number of units that fits into memory."""
    present = set(cell.metrics)
    # Which metrics there are hangs on what was asked, but only where a task can be asked in several ways.
    named = present <= set(task.metrics) and set(cell.outcomes) == set(task.outcomes) and bool(present)
    named = named and (bool(task.metric_contrasts) or present == set(task.metrics))
    groups = all(set(group.metrics) == present & set(task.main_metrics) for group in cell.groups)
    known = cell.view in task.views
    groups = groups and (not cell.key_letters or _are_the_letters(cell))
    groups = groups and (cell.chance is None or 1 / MAX_OPTIONS <= cell.chance <= 1 / MIN_OPTIONS)
    return groups and named and known and 0 < cell.clusters <= MAX_UNITS and 0 < cell.units <= MAX_UNITS


def _are_the_letters(cell: CellResult) -> bool:
    """Check that the counts by key letter are those of the cell."""
    letters = cell.key_letters
    whole = all(each.right >= 0 and each.unread >= 0 and each.right + each.unread <= each.units for each in letters)
    unread = sum(cell.outcomes.get(kind, 0) for kind in UNREAD)
    sums = tuple(sum(getattr(each, name) for each in letters) for name in ("units", "right", "unread"))
    names = [(each.options, each.letter) for each in letters]
    known = [(count, letter) for count in dict.fromkeys(each.options for each in letters) for letter in LETTERS[:count]]
    return whole and sums == (cell.units, cell.outcomes.get("right"), unread) and names == known


def _are_the_means(task: ScoredTask, cell: CellResult, scores: Records) -> bool:
    """Check that scores are in their range, of as many units as the cell, and have its means and right units."""
    leading = scores[next(name for name in (*task.main_metrics, *task.metrics) if name in cell.metrics)]
    if sum(cell.outcomes.values()) != cell.units or cell.outcomes[task.outcomes[0]] != int((leading == 1).sum()):
        return False
    if cell.units != int(np.any([~np.isnan(scores[name]) for name in task.metrics], axis=0).sum()):
        return False
    for name, metric in task.metrics.items():
        known = scores[name][~np.isnan(scores[name])]
        estimate = cell.metrics.get(name)
        if (estimate is None) != (not len(known)):
            return False
        if estimate and not (
            ((known >= 0) & (known <= metric.maximum)).all() and abs(known.mean() - estimate.value) < TOLERANCE
        ):
            return False
    return True


def _are_equal(saved: Mapping[str, Estimate], computed: Mapping[str, Estimate]) -> bool:
    """Check that all figures of all metrics are the same but for rounding."""
    return all(
        abs((value or 0.0) - (getattr(computed[metric], name) or 0.0)) < TOLERANCE
        for metric, estimate in saved.items()
        for name, value in asdict(estimate).items()
    )


def _pack(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data)).decode()


def _unpack(file: Path, task: ScoredTask, packed: str, size: int) -> bytes:
    """So many bytes, of which no more are unpacked than there have to be."""
    try:
        data = zlib.decompressobj().decompress(base64.b64decode(packed, validate=True), size + 1)
    except (zlib.error, binascii.Error, ValueError):
        data = b""
    if len(data) != size:
        raise _damaged(file, f"the scores of its {task.units} cannot be unpacked")
    return data
