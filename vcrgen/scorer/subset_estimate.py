"""Files beside files of ids (``ids-20.json`` beside ``ids-20.txt``), by which a subset gives the score on all items.

``vcrgen analyze shorten`` writes them, and ``vcrgen score --subset`` reads them. They come from strangers: sizes and
numbers are checked, and a file that is of other ids is refused.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError, model_validator

from vcrgen.errors import AnswerError
from vcrgen.reading import read_json
from vcrgen.scorer.records import CellName
from vcrgen.scorer.subset import subset_name
from vcrgen.stats.arrays import Floats
from vcrgen.stats.full_score import FullScore

SCHEMA: Literal["vcrgen-subset-1"] = "vcrgen-subset-1"
_LARGEST = 1e4  # of slopes, intercepts and coefficients
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Parameter = Annotated[FiniteFloat, Field(ge=-_LARGEST, le=_LARGEST)]


class _Estimator(BaseModel):
    """The fields of an estimator that are filled."""

    model_config = ConfigDict(extra="forbid")

    weights: list[Share] = []
    slope: list[Parameter] = []
    intercept: list[Parameter] = []
    outside_slope: list[Parameter] = []
    outside_intercept: list[Parameter] = []
    coefficients: Annotated[list[Parameter], Field(max_length=10)] = []
    reach: tuple[Parameter, Parameter] = (0.0, 0.0)

    def made(self) -> FullScore:
        """The estimator."""
        values = {name: np.array(value) for name, value in self if name != "reach"}
        return FullScore(**values, reach=self.reach)


class SubsetEstimate(BaseModel):
    """Parameters by which scores of a subset give the score on all items, and their error for other models."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    schema_name: Literal["vcrgen-subset-1"] = Field(SCHEMA, alias="schema")
    subset: str  # the name of the ids in signatures
    method: str
    metric: str  # `score` where the analysis does not know it
    mode: str | None
    view: str | None
    models: int  # that it was made from
    held_out: int  # in each repeat
    questions: int  # of the whole set
    items: list[tuple[str, int]]  # of the subset: a question's id and the number of a span in it, from 0
    error: Share  # mean distance from the score of all items, of held-out models
    within: Share  # the distance that 95 % of them are within
    estimator: _Estimator

    @model_validator(mode="after")
    def _fits(self) -> SubsetEstimate:
        of = self.estimator
        sizes = {len(of.weights), len(of.slope)} - {0}
        lengths = len(of.slope) == len(of.intercept) and len(of.outside_slope) == len(of.outside_intercept)
        if sizes != {len(self.items)} or not lengths or (of.weights and not sum(of.weights) > 0):
            raise ValueError("its parameters do not fit its items")
        return self

    def is_of(self, cell: CellName, metrics: Sequence[str]) -> bool:
        """Tell whether it is of the scores of a cell."""
        variant, view = cell
        return self.mode in (None, variant) and self.view in (None, view) and self.metric in ("score", *metrics)


def estimate_text(
    *, ids: Collection[str], items: Sequence[tuple[str, int]], estimator: FullScore, facts: Mapping[str, Any]
) -> str:
    """The text of a file: what it is of, and the estimator with nine digits."""
    fields = {name: getattr(estimator, name) for name in _Estimator.model_fields}
    filled = {name: [_rounded(each) for each in value] for name, value in fields.items() if len(value)}
    value = {"schema": SCHEMA, "subset": subset_name(ids), **facts, "items": items, "estimator": filled}
    return json.dumps(value, ensure_ascii=False) + "\n"


def _rounded(value: float) -> float:
    return float(f"{float(value):.9g}")


def read_estimate(subset: str | None) -> SubsetEstimate | None:
    """The estimator beside a file of ids; None where there is none.

    Raises:
        AnswerError: It is damaged, or of other ids.
    """
    if subset is None or not subset.endswith(".txt"):
        return None
    file = Path(subset).with_suffix(".json")
    if not file.is_file():
        return None
    value = read_json(file, AnswerError)
    if not isinstance(value, dict) or value.get("schema") != SCHEMA:
        return None  # of another tool
    try:
        return SubsetEstimate.model_validate(value)
    except ValidationError as problem:
        where = ".".join(map(str, problem.errors()[0]["loc"])) or problem.errors()[0]["msg"]
        raise AnswerError(
            f"{file}: it is damaged at {where[:80]!r}; take it out, or write it again with vcrgen analyze shorten."
        ) from None


def require_same_ids(estimate: SubsetEstimate, subset: str, name: str) -> None:
    """Refuse an estimator that is of other ids than the subset."""
    if estimate.subset != name:
        raise AnswerError(
            f"{Path(subset).with_suffix('.json')} is of the subset {estimate.subset[:40]!r}, and {subset} is {name}: "
            "one of them was changed; write both again with vcrgen analyze shorten."
        )


def estimate_sentence(estimate: SubsetEstimate, scores: Floats, *, where: str, label: str) -> str:
    """Say what the score on all items is, by those of the items of the subset."""
    found = float(estimate.estimator.made().estimate(np.asarray(scores, float)[None])[0])
    if not math.isfinite(found):
        return f"{where}: there is no estimate of {label} on all {estimate.questions} questions."
    low, high = max(found - estimate.within, 0.0), min(found + estimate.within, 1.0)
    return (
        f"{where}: estimated {label} on all {estimate.questions:,} questions: {100 * found:.2f} "
        f"({100 * low:.2f} to {100 * high:.2f}), by the method {estimate.method}. Of {estimate.models} models, held "
        f"out {estimate.held_out} at a time, 95 % were within {100 * estimate.within:.2f} points, and the mean error "
        f"was {100 * estimate.error:.2f}. That holds for models like those."
    )
