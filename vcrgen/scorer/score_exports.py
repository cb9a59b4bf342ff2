"""Saved scores in the forms of others: results of a model on the Hub, and records of Every Eval Ever.

Neither form holds outputs or answers. Sources: ``huggingface_hub.EvalResultEntry`` (huggingface_hub 2.4), and the JSON
schema 0.3.0 of every-eval-ever.
"""

import hashlib
import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import yaml

from vcrgen.core.errors import ConfigError
from vcrgen.core.files import indented_json, write_new
from vcrgen.data.tasks.task import TASKS
from vcrgen.scorer.citation import leading_metric, size_of
from vcrgen.scorer.results import CellResult
from vcrgen.scorer.saved import SavedMeans, load_means
from vcrgen.stats.bootstrap import RESAMPLES
from vcrgen.stats.intervals import LEVEL, METHOD

RELATIONSHIPS = ("first_party", "third_party", "collaborative", "other")
EVERY_EVAL_EVER = "0.3.0"  # of the schema
_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[\w.-]{1,96}")
_REVISION = re.compile(r"[\w./-]{1,100}")
_ADDRESS = re.compile(r"https?://[^\s<>\"]{1,500}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreFacts:
    """Facts that saved scores do not hold.

    Attributes:
        dataset: ``ORG/NAME`` or ``ORG/NAME@REVISION`` on the Hub; empty if it is not there.
        url: Address of the evaluation, such as the page of a board.
        model: ``ORG/NAME`` of the model; empty for the name in the scores.
        organization: Name of whoever ran the evaluation.
        relationship: One of `RELATIONSHIPS`, of the organization to the model.
    """

    dataset: str = ""
    url: str = ""
    model: str = ""
    organization: str = ""
    relationship: str = "other"

    def __post_init__(self) -> None:
        name, _, revision = self.dataset.partition("@")
        if self.dataset and not (_REPOSITORY.fullmatch(name) and (not revision or _REVISION.fullmatch(revision))):
            raise ConfigError(f"--dataset {self.dataset[:80]!r} is not of the form ORG/NAME or ORG/NAME@REVISION.")
        if self.url and not _ADDRESS.fullmatch(self.url):
            raise ConfigError(f"--url {self.url[:80]!r} is no address that begins with https:// or http://.")
        if self.model and not _REPOSITORY.fullmatch(self.model):
            raise ConfigError(f"--model {self.model[:80]!r} is not of the form ORG/NAME.")
        if self.relationship not in RELATIONSHIPS:
            raise ConfigError(f"--relationship {self.relationship[:80]!r} is none of {', '.join(RELATIONSHIPS)}.")

    @property
    def repository(self) -> str:
        """Name on the Hub, ORG/NAME, without a revision."""
        return self.dataset.partition("@")[0]

    @property
    def revision(self) -> str | None:
        """Revision on the Hub, or None if it is not named."""
        return self.dataset.partition("@")[2] or None


def write_hub_results(scores: Path, out: Path, facts: ScoreFacts) -> int:
    """Write results for ``.eval_results/`` of a model's repository on the Hub; return their number.

    A result is the leading metric of one cell in percent. Its interval, size and signature stand in the notes.

    Raises:
        ConfigError: The dataset is not named, or huggingface_hub is too old.
        ScoreError: The file holds no scores.
        OutputError: The file is there, or cannot be written.
    """
    if not facts.dataset:
        raise ConfigError("--to hub needs --dataset ORG/NAME@REVISION: results name the dataset on the Hub.")
    try:
        from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml
    except ImportError:
        raise ConfigError(
            "The huggingface_hub here has no results of models; pip install -U huggingface_hub."
        ) from None
    saved, date = load_means(scores), _when(scores).isoformat().replace("+00:00", "Z")
    entries = []
    for cell in saved.cells:
        estimate = cell.metrics[leading_metric(saved.task, cell)]
        low, high = 100 * estimate.low, 100 * estimate.high
        parts = (
            f"{_metric_label(saved, cell)} in percent, view {cell.view.label}, {size_of(saved.task, cell)}",
            cell.missing_in_words(saved.task),
            f"95 % interval {low:.2f} to {high:.2f}, signature {saved.signature.short}",
        )
        entries.append(
            EvalResultEntry(
                dataset_id=facts.repository,
                task_id=cell_name(saved, cell),
                value=round(100 * estimate.value, 2),
                dataset_revision=facts.revision,
                date=date,
                notes=", ".join(filter(None, parts)),
                source_url=facts.url or None,
                source_name="vcrgen" if facts.url else None,
            )
        )
    text = yaml.safe_dump(eval_result_entries_to_yaml(entries), sort_keys=False, allow_unicode=True)
    write_new(out, text)
    return len(entries)


def write_every_eval_ever(scores: Path, out: Path, facts: ScoreFacts) -> Path:
    """Write a record below ``out/data/``, where its validator looks for it; return the path.

    The same scores and facts give the same record under the same name.

    Raises:
        ConfigError: The organization or the model's ``ORG/NAME`` is not known.
        ScoreError: The file holds no scores.
        OutputError: The file is there, or cannot be written.
    """
    saved = load_means(scores)
    if not facts.organization:
        raise ConfigError("--to every-eval-ever needs --organization NAME: who ran the evaluation.")
    model = facts.model or saved.model
    if not _REPOSITORY.fullmatch(model):
        raise ConfigError(f"The scores name the model {model[:80]!r}; give its developer, too: --model DEVELOPER/NAME.")
    when, benchmark = str(int(_when(scores).timestamp())), f"vcrgen-{saved.task.name}"
    evaluation = f"{benchmark}/{model}/{when}"
    record = {
        "schema_version": EVERY_EVAL_EVER,
        "evaluation_id": evaluation,
        "retrieved_timestamp": when,
        "source_metadata": {
            "source_name": "vcrgen",
            "source_type": "evaluation_run",
            "source_organization_name": facts.organization,
            "evaluator_relationship": facts.relationship,
            **({"source_organization_url": facts.url} if facts.url else {}),
        },
        "eval_library": {
            "name": "vcrgen",
            "version": version("vcrgen"),
            "additional_details": {"signature": str(saved.signature)},
        },
        "model_info": {
            "name": model.partition("/")[2],
            "id": model,
            "developer": model.partition("/")[0],
            "additional_details": {"deployment_type": "unknown", "model_availability": "unknown"},
        },
        "evaluation_results": list(_results(saved, facts, evaluation)),
    }
    text = indented_json(record)
    name = uuid.UUID(bytes=hashlib.sha256(text.encode()).digest()[:16], version=4)
    file = out / "data" / benchmark / model / f"{name}.json"
    write_new(file, text)
    return file


def cell_name(saved: SavedMeans, cell: CellResult) -> str:
    """Name of a cell in the forms of others, such as ``vcr_hard`` or ``vcr_hard_tei``."""
    main = saved.task.image_views[0]
    return f"{saved.task.name}_{cell.variant}" + ("" if cell.view == main else f"_{cell.view.value}")


def _results(saved: SavedMeans, facts: ScoreFacts, evaluation: str) -> Iterator[dict[str, Any]]:
    """Yield a result for each cell and main metric, as shares."""
    source: dict[str, Any] = {"dataset_name": f"{saved.task.name} ({saved.language})", "source_type": "other"}
    if facts.dataset:
        source |= {"source_type": "hf_dataset", "hf_repo": facts.repository}
        source |= {"additional_details": {"revision": facts.revision}} if facts.revision else {}
    for cell in saved.cells:
        for name in (metric for metric in saved.task.main_metrics if metric in cell.metrics):
            estimate, metric = cell.metrics[name], TASKS[saved.task.name].metrics[name]
            yield {
                "evaluation_result_id": f"{evaluation}/{cell_name(saved, cell)}/{name}",
                "evaluation_name": cell_name(saved, cell),
                "source_data": source,
                "metric_config": {
                    "metric_id": f"vcrgen.{name}",
                    "metric_name": metric.label,
                    "lower_is_better": False,
                    "metric_unit": "proportion",
                    "score_type": "continuous",
                    "min_score": 0,
                    "max_score": metric.maximum,
                    "additional_details": {saved.task.axis: cell.variant, "view": cell.view.value},
                },
                "score_details": {
                    "score": estimate.value,
                    "uncertainty": {
                        "standard_error": {"value": estimate.sd_clusters, "method": "bootstrap"},
                        "confidence_interval": {
                            "lower": estimate.low,
                            "upper": estimate.high,
                            "confidence_level": LEVEL,
                            "method": f"{METHOD} over {saved.task.clusters}",
                        },
                        "num_samples": cell.clusters,
                        "num_bootstrap_samples": RESAMPLES,
                    },
                    "details": {
                        saved.task.units: str(cell.units),
                        saved.task.clusters: str(cell.clusters),
                        "missing": f"{cell.missing} of {cell.questions_of(saved.task)}",
                    },
                },
            }


def _metric_label(saved: SavedMeans, cell: CellResult) -> str:
    return saved.task.metrics[leading_metric(saved.task, cell)].label


def _when(scores: Path) -> datetime:
    """Return when the file of scores was written, in whole seconds."""
    return datetime.fromtimestamp(int(scores.stat().st_mtime), tz=UTC)
