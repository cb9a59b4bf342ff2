"""The result of scoring one file: the only thing that crosses from the process that scores to the one that stores."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

Triple = tuple[float, float, float]  # value, low, high
Triples = Mapping[str, Triple]  # by metric, as shares


@dataclass(frozen=True, slots=True, kw_only=True)
class CellOutcome:
    """One cell of a task."""

    mode: str  # or whatever else the axis of the task is
    view: str
    estimates: Triples
    difference: Triples | None  # of the two views that the task compares, at the first of them
    means: Mapping[str, bytes]  # of each shown metric its mean and those over the resamples: a `Resampled` as bytes
    hits: bytes  # a bit for each unit, the first one highest: whether it is right


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringOutcome:
    """Scores, or why there are none."""

    problems: tuple[str, ...] = ()  # sentences for the team; with any, there is nothing else
    signature: str = ""  # of the scores
    result: Mapping[str, Any] | None = None  # everything the scorer says, as JSON values
    cells: tuple[CellOutcome, ...] = ()  # what ranks and comparisons need
    outputs: bytes | None = None  # fingerprints of the outputs, for hidden sets
    scores_disclosed: int = 1  # figures that the key gave for it

    def to_bytes(self) -> bytes:
        """The outcome as JSON, so that nothing which crosses processes is ever executed; bytes are in base64."""
        return json.dumps(asdict(self), default=lambda value: b64encode(value).decode()).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> ScoringOutcome:
        """The inverse of `to_bytes`."""
        values = json.loads(data)
        for cell in values["cells"]:
            cell["hits"] = b64decode(cell["hits"])
            cell["means"] = {metric: b64decode(packed) for metric, packed in cell["means"].items()}
            for name in ("estimates", "difference"):
                cell[name] = cell[name] and {metric: tuple(triple) for metric, triple in cell[name].items()}
        outputs = values["outputs"]
        read = {
            "problems": tuple(values["problems"]),
            "cells": tuple(CellOutcome(**cell) for cell in values["cells"]),
            "outputs": None if outputs is None else b64decode(outputs),
        }
        return cls(**values | read)
