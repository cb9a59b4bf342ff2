"""Profiles of saved scores, which ``vcrgen score`` writes of an MCQ benchmark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from vcrgen.analysis.profile.profiles import CHANCE, METHODS, Category, ModelProfile, ShareEstimate
from vcrgen.analysis.score_table import parse_name
from vcrgen.core.errors import AnalysisError
from vcrgen.core.files import sha256_file
from vcrgen.scorer.results import CellResult, Estimate, RunResult, assign_titles, require_one_signature
from vcrgen.scorer.saved import load_means, load_saved, reject_duplicate_files
from vcrgen.scorer.statistics import MACRO
from vcrgen.stats.calibration import reliability_curve

if TYPE_CHECKING:
    from vcrgen.stats.calibration import ReliabilityCurve


def load_runs(files: Sequence[Path], *, private: bool) -> tuple[list[RunResult], bool]:
    """The results in files of saved scores, each with a title of its own, and whether one is of a hidden set.

    Args:
        files: What ``vcrgen score`` wrote, all in the same way.
        private: Whether scores of a hidden set may be read; they come without the scores of single items.

    Raises:
        AnalysisError: Scores of a hidden set are read without ``private``, or they are not of an MCQ benchmark.
        ScoreError: A file holds no scores, was changed, was made in another way than the first, or is named twice.
    """
    runs, hidden = [], False
    for file in files:
        saved = load_means(file)
        if saved.hidden and not private:
            raise AnalysisError(
                f"{file} is of a hidden set, whose exact scores are not for publication; mark the page with --private."
            )
        if not any(group.by == "category" for cell in saved.cells for group in cell.groups):
            raise AnalysisError(f"{file} has no scores of categories; a profile is of an MCQ benchmark with levels.")
        hidden |= saved.hidden
        runs.append(
            RunResult(
                name=file.name,
                model=saved.model,
                format="",
                lang=saved.language,
                signature=saved.signature,
                task=saved.task,
                cells=tuple(saved.cells),
                differences=(),
                problems={},
                notes=(),
            )
            if saved.hidden
            else load_saved(file)
        )
    reject_duplicate_files(files, [sha256_file(file) for file in files])
    require_one_signature(runs)
    return assign_titles(runs), hidden


def profiles_of_run(run: RunResult) -> Iterator[ModelProfile]:
    """A profile for each language, view and method of a result.

    Raises:
        AnalysisError: A name is not one that a page may show, or a score is none.
    """
    model = parse_name(run.title, "model", run.name)
    for cell in run.cells:
        lang = parse_name(cell.variant, "language", run.name)
        resampled = run.resamples.get((cell.variant, cell.view))
        for metric in METHODS:
            if metric not in cell.metrics:
                continue
            macros, levels, categories = (_groups(run, cell, by, metric) for by in (MACRO, "level", "category"))
            yield ModelProfile(
                model=model,
                lang=lang,
                view=cell.view.value,
                metric=metric,
                micro=_score(run, cell.metrics[metric], cell.units),
                macro=macros.get("level"),
                macro_category=macros.get("category"),
                levels={parse_name(label, "level", run.name): share for label, share in levels.items()},
                categories={_category(run, label): share for label, share in categories.items()},
                resampled=resampled.means[metric] if resampled else None,
                chance=CHANCE if cell.chance is None else cell.chance,
            )


def calibrations_of_run(run: RunResult) -> Iterator[tuple[tuple[str, str], ReliabilityCurve]]:
    """By model and language, how well likelihoods fit how often they choose the right option, with the picture."""
    for (lang, view), resamples in run.resamples.items():
        if view in run.task.image_views:
            scores, starts = resamples.scores, resamples.starts
            pictures = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
            curve = reliability_curve(
                scores["confidence"], scores["lbs"], scores["brier"], pictures, seed=resamples.seed
            )
            if curve:
                yield (run.title, lang), curve


def _groups(run: RunResult, cell: CellResult, by: str, metric: str) -> dict[str, ShareEstimate]:
    groups = [group for group in cell.groups if group.by == by and metric in group.metrics]
    return {group.label: _score(run, group.metrics[metric], group.units) for group in groups}


def _score(run: RunResult, estimate: Estimate, items: int) -> ShareEstimate:
    """A score, if it is a share inside of its interval: files come from strangers."""
    value, low, high = estimate.value, estimate.low, estimate.high
    inside = 0 <= low <= value <= high <= 1 and (low < value or value == 0) and (value < high or value == 1)
    if not inside or items < 1:
        raise AnalysisError(f"{run.name} is damaged: a score is outside of its interval; score the outputs again.")
    return ShareEstimate(value, low, high, items)


def _category(run: RunResult, label: str) -> Category:
    parts = label.split("/")
    if len(parts) != len(Category._fields):
        raise AnalysisError(f"{run.name}: the category {label[:80]!r} is not of the form level/subcategory/leaf.")
    return Category(*(parse_name(part, "leaf", run.name) for part in parts))
