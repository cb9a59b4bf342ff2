"""What scoring one file gave: the only thing that crosses from the process that scores to the one that stores."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

Triple = tuple[float, float, float]  # value, low, high


@dataclass(frozen=True, slots=True, kw_only=True)
class CellOutcome:
    """One mode and view.

    Attributes:
        mode: The mode.
        view: The view.
        figures: Metric to value, low and high, as shares.
        difference: The same of VI+TEI minus TEI, at the stacked view of a mode that has both.
        exact_means: Means of exact match over the resamples of images: float64, little-endian.
        jaccard_means: The same of Jaccard.
        hits: A bit for each span, the first one highest: restored exactly.
    """

    mode: str
    view: str
    figures: Mapping[str, Triple]
    difference: Mapping[str, Triple] | None
    exact_means: bytes
    jaccard_means: bytes
    hits: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Scores, or why there are none.

    Attributes:
        problems: Sentences for the team; with any, there is nothing else.
        signature: Of the scores.
        result: Everything the scorer says, as JSON values.
        cells: What ranks and comparisons need.
        outputs: Fingerprints of the outputs, for hidden sets.
    """

    problems: tuple[str, ...] = ()
    signature: str = ""
    result: Mapping[str, Any] | None = None
    cells: tuple[CellOutcome, ...] = ()
    outputs: bytes | None = None

    def to_bytes(self) -> bytes:
        """As JSON: nothing that crosses processes is ever executed."""
        return json.dumps(asdict(self), default=lambda value: b64encode(value).decode()).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Outcome:
        """The inverse of :meth:`to_bytes`."""
        values = json.loads(data)
        outputs = values["outputs"]
        decoded = None if outputs is None else b64decode(outputs)
        cells = tuple(map(_cell, values["cells"]))
        return cls(**{**values, "problems": tuple(values["problems"]), "cells": cells, "outputs": decoded})


def _cell(values: Mapping[str, Any]) -> CellOutcome:
    packed = {name: b64decode(values[name]) for name in ("exact_means", "jaccard_means", "hits")}
    difference = values["difference"]
    return CellOutcome(
        **{
            **values,
            **packed,
            "figures": _triples(values["figures"]),
            "difference": None if difference is None else _triples(difference),
        }
    )


def _triples(values: Mapping[str, list[float]]) -> dict[str, Triple]:
    return {metric: (value, low, high) for metric, (value, low, high) in values.items()}
