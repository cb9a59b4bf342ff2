"""Scores in a file, from which runs are compared again without their outputs.

A file holds what a report says, as JSON, and the scores of every span, packed: from these and the seed come the
resamples that the tests need. Files come from strangers: nothing is unpacked beyond the size that it has to have, and
the means have to be those of the spans.
"""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import BaseModel, ValidationError

from vcrgen.errors import ScoreError
from vcrgen.reading import read_json
from vcrgen.scorer.curves import curves_of
from vcrgen.scorer.join import PROBLEMS
from vcrgen.scorer.records import METRICS, Outcome
from vcrgen.scorer.results import SCHEMA, CellResult, RunResult
from vcrgen.scorer.statistics import GROUP_METRICS, resample, view_differences
from vcrgen.signature import Signature
from vcrgen.stats.bootstrap import RESAMPLES
from vcrgen.stats.intervals import METHOD

if TYPE_CHECKING:
    from vcrgen.stats.arrays import Ints, Records

MOST_SPANS = 1 << 22  # of a mode and view: 256 MiB of scores
NEAR = 1e-9  # rounding that may lie between a mean and the same mean


class _Text(BaseModel):
    text: str


class _Problem(BaseModel):
    count: int
    first: tuple[str, ...]


class _Saved(BaseModel):
    """The fields of a file that are read."""

    name: str
    model: str | None
    format: str
    language: str
    signature: _Text
    scores: list[CellResult]
    problems: dict[str, _Problem]
    notes: tuple[str, ...]
    spans_of_images: str = ""  # packed: how many spans each image has
    scores_of_spans: tuple[str, ...] = ()  # packed, one for each of `scores`: spans x metrics
    ink_of_spans: dict[str, str] = {}  # packed, by level, where a curve was fitted: the visible ink of each span


def as_saved(result: RunResult, *, secret: bool) -> dict[str, Any]:
    """A result as JSON values, with the scores of its spans if they may be known.

    Those of a hidden set tell which output is right, so with ``secret`` they are left out.
    """
    saved = result.as_json()
    if not secret:
        import numpy as np

        cells = [result.resamples[cell.mode, cell.view] for cell in result.cells]
        saved["spans_of_images"] = _pack(np.diff(cells[0].starts).astype("<i8").tobytes())
        saved["scores_of_spans"] = [_pack(cell.scores.tobytes()) for cell in cells]
        if result.curves:
            ink = {mode: known for each in result.curves for mode, known in each.ink_of_spans.items()}
            saved["ink_of_spans"] = {mode: _pack(known.astype("<f8").tobytes()) for mode, known in ink.items()}
    return saved


def signature_of(file: Path) -> str:
    """The signature in a file, or an empty text where it is no file of scores."""
    try:
        return str(read_json(file, ScoreError)["signature"]["text"])
    except (ScoreError, LookupError, TypeError):
        return ""


def load_saved(file: Path) -> RunResult:
    """The result in a file that ``vcrgen score`` wrote, with its resamples.

    Raises:
        ScoreError: It is no such file, was changed, is of another version, or lacks the scores of its spans.
    """
    import numpy as np

    saved = _read(file)
    try:
        signature = Signature.parse(saved.signature.text)
        seed = int(signature.facts["seed"])
    except (ValueError, KeyError):
        raise _damaged(file, "its signature cannot be read") from None
    if (signature.facts.get("boot"), signature.facts.get("interval")) != (f"{RESAMPLES}", METHOD):
        raise ScoreError(f"{file} was made with other resamples than this vcrgen's; score the outputs again.")
    if not saved.scores_of_spans:
        raise ScoreError(f"{file} lacks the scores of its spans, as those of a hidden set do; compare the outputs.")
    # Files have their keys sorted, reports the metrics in the order of the scorer.
    cells = [
        replace(cell, metrics={metric: cell.metrics[metric] for metric in METRICS}) for cell in _cells(file, saved)
    ]
    images, spans = cells[0].images, cells[0].spans
    counts: Ints = np.frombuffer(_unpack(file, saved.spans_of_images, images * 8), "<i8")
    starts = np.concatenate([[0], np.cumsum(counts)])
    kinds = np.dtype([(metric, np.float64) for metric in METRICS])
    scores = {
        (cell.mode, cell.view): np.frombuffer(_unpack(file, packed, spans * kinds.itemsize), kinds)
        for cell, packed in zip(cells, saved.scores_of_spans, strict=True)
    }
    if ((counts < 0) | (counts > spans)).any() or starts[-1] != spans:
        raise _damaged(file, "its images do not have so many spans")
    if not all(map(_are_the_means, cells, scores.values())):
        raise _damaged(file, "its means are not those of its spans")
    resamples = resample(scores, starts, seed=seed)
    result = RunResult(
        name=saved.name, model=saved.model, format=saved.format, lang=saved.language, signature=signature,
        cells=tuple(cells), differences=view_differences(cells, resamples),
        problems={kind: (found.count, found.first) for kind, found in saved.problems.items()}, notes=saved.notes,
        resamples=resamples,
    )  # fmt: skip
    if not saved.ink_of_spans:
        return result
    levels = {cell.mode for cell in cells}
    if not set(saved.ink_of_spans) <= levels:
        raise _damaged(file, "its levels are not those of its scores")
    unpacked = {mode: np.frombuffer(_unpack(file, ink, spans * 8), "<f8") for mode, ink in saved.ink_of_spans.items()}
    if not all(((ink >= 0) & (ink <= 1)).all() for ink in unpacked.values()):
        raise _damaged(file, "its visible ink is no share")
    return replace(result, curves=curves_of(result, unpacked, seed=seed))


class SavedMeans(NamedTuple):
    """What a file says of its model without the scores of its spans."""

    model: str
    language: str
    signature: Signature
    cells: list[CellResult]
    hidden: bool  # whether it is of a hidden set, of which no score of a span is saved


def load_means(file: Path) -> SavedMeans:
    """Read the means of every mode and view; of a hidden set, too."""
    saved = _read(file)
    try:
        signature = Signature.parse(saved.signature.text)
    except ValueError:
        raise _damaged(file, "its signature cannot be read") from None
    cells = _cells(file, saved)
    return SavedMeans(saved.model or saved.name, saved.language, signature, cells, not saved.scores_of_spans)


def _read(file: Path) -> _Saved:
    """The fields of a file, of the right types and without NaN and half characters."""
    value = read_json(file, ScoreError)
    if not isinstance(value, dict) or "schema" not in value:
        raise ScoreError(f"{file} holds no scores; give what `vcrgen score` wrote, such as preds.scores.json.")
    if value["schema"] != SCHEMA:
        raise ScoreError(f"{file} is not of the version {SCHEMA}; score the outputs again.")
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
        return _Saved.model_validate(value)
    except ValidationError as problem:
        raise _damaged(file, f"{'.'.join(map(str, problem.errors()[0]['loc']))[:80]} is wrong") from None
    except ValueError:
        raise _damaged(file, "it holds what is no number or no text") from None


def _cells(file: Path, saved: _Saved) -> list[CellResult]:
    """The modes and views of a file, if they fit together."""
    cells = saved.scores
    names, sizes = ({(cell.mode, cell.view) for cell in cells}, {(cell.images, cell.spans) for cell in cells})
    known = set(saved.problems) <= set(PROBLEMS) and all(map(_is_whole, cells))
    packed = len(saved.scores_of_spans) in (0, len(cells))  # none of a hidden set
    if not known or not packed or len(names) != len(cells) or len(sizes) != 1:
        raise _damaged(file, "its parts do not fit together")
    return cells


def _damaged(file: Path, why: str) -> ScoreError:
    return ScoreError(f"{file} is damaged: {why}; score the outputs again.")


def _is_whole(cell: CellResult) -> bool:
    """Whether it has every figure that reports show, of a number of spans that fits into memory."""
    groups = all(set(group.metrics) == set(GROUP_METRICS) for group in cell.groups)
    named = set(cell.metrics) == set(METRICS) and set(cell.outcomes) == set(Outcome)
    return groups and named and 0 < cell.images <= MOST_SPANS and 0 < cell.spans <= MOST_SPANS


def _are_the_means(cell: CellResult, scores: Records) -> bool:
    """Whether scores are shares, and have the means that are said to be theirs."""
    shares = (scores[metric] for metric in METRICS)
    means = [float(share.mean()) if ((share >= 0) & (share <= 1)).all() else -1 for share in shares]
    return all(abs(mean - cell.metrics[name].value) < NEAR for name, mean in zip(METRICS, means, strict=True))


def _pack(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data)).decode()


def _unpack(file: Path, packed: str, size: int) -> bytes:
    """So many bytes, of which no more are unpacked than there have to be."""
    try:
        data = zlib.decompressobj().decompress(base64.b64decode(packed, validate=True), size + 1)
    except (zlib.error, binascii.Error, ValueError):
        data = b""
    if len(data) != size:
        raise _damaged(file, "the scores of its spans cannot be unpacked")
    return data
