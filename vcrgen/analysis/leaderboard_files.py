"""Files of two leaderboards: the CSV of the Open LLM Leaderboard and the JSON of the OpenVLM leaderboard.

The Open LLM Leaderboard (the data set ``open-llm-leaderboard/contents``) has for each task the columns ``X Raw`` and
``X``, the second of which is scaled so that chance is 0. ``OpenVLM.json`` of VLMEvalKit has for each model ``META`` and
for each benchmark its scores, of which ``Overall`` (in OCRBench ``Final Score``) is the whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vcrgen.core.errors import AnalysisError

OPEN_LLM_MODEL = "eval_name"  # the model with its precision: ``fullname`` comes twice
_WHOLE = ("Overall", "Final Score")


def open_llm_tasks(heads: Sequence[str]) -> list[str]:
    """The tasks of the Open LLM Leaderboard; none if a table is not of it."""
    return [head for head in heads if f"{head} Raw" in heads] if OPEN_LLM_MODEL in heads else []


@dataclass(frozen=True, slots=True)
class OpenVlmScore:
    """A model's score on a benchmark, not checked."""

    place: str  # for messages
    model: Any
    task: str
    score: Any


def is_openvlm(value: Any) -> bool:
    """Tell whether a JSON value is ``OpenVLM.json``."""
    results = value.get("results") if isinstance(value, dict) else None
    return isinstance(results, dict) and any(isinstance(row, dict) and "META" in row for row in results.values())


def openvlm_scores(value: Mapping[str, Any], source: str) -> Iterator[OpenVlmScore]:
    """Each model's whole score on each benchmark that has one.

    Raises:
        AnalysisError: A model has no object of benchmarks.
    """
    for name, benchmarks in value["results"].items():
        place = f"{source}, {name[:80]!r}"
        if not isinstance(benchmarks, dict):
            raise AnalysisError(f"{place}: a model has an object with META and its benchmarks.")
        for task, scores in benchmarks.items():
            whole = next((key for key in _WHOLE if isinstance(scores, dict) and key in scores), None)
            if whole is not None:
                yield OpenVlmScore(place, name, task, scores[whole])
