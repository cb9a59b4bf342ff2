"""Files of two leaderboards: the CSV of the Open LLM Leaderboard and the JSON of the OpenVLM leaderboard.

The Open LLM Leaderboard (the data set ``open-llm-leaderboard/contents``) has for each task the columns ``X Raw`` and
``X``, the second of which is scaled so that chance is 0. ``OpenVLM.json`` of VLMEvalKit has for each model ``META`` and
for each benchmark its scores, of which ``Overall`` (in OCRBench ``Final Score``) is the whole.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vcrgen.core.errors import AnalysisError

_OPEN_LLM_MODELS = ("eval_name", "fullname")  # the first has the precision, too: the second comes twice
_WHOLE = ("Overall", "Final Score")


def open_llm_columns(heads: Sequence[str]) -> list[str]:
    """The column of models and the tasks of the Open LLM Leaderboard; none if a table is not of it."""
    models = next((name for name in _OPEN_LLM_MODELS if name in heads), None)
    tasks = [head for head in heads if f"{head} Raw" in heads]
    return [models, *tasks] if models and tasks else []


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
