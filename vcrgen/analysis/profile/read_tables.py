"""Read profiles from saved scores of an MCQ benchmark and from tables of category scores.

A table of category scores has a line for each category of the tree and a column for each model and language. Example: a
file ``scores_rae.csv`` whose first lines are ``level,subcategory,leaf,count,my-model_en,my-model_ar`` and
``Remember,symbol recognition,flags,80,0.91,0.84``. The end of the file's name is the method.
"""

import math
import re
from collections.abc import Sequence
from pathlib import Path

from vcrgen.analysis.profile.profiles import METHODS, SHOWN, Category, ModelProfile, Profiles, profile_of
from vcrgen.analysis.profile.read_saved import calibrations_of_run, load_runs, profiles_of_run
from vcrgen.analysis.score_table import check_size, parse_name, parse_number, read_cells
from vcrgen.core.errors import AnalysisError
from vcrgen.core.plurals import pluralize
from vcrgen.core.reading import name_cells
from vcrgen.data.tasks.bloom import level_note
from vcrgen.scorer.results import warning_sentences

COLUMNS = ("level", "subcategory", "leaf", "count")
MAX_CATEGORIES = 1000
MAX_MODELS, MAX_LANGS, MAX_SCORES = 24, 12, 50_000  # of a page, which compares each two models on each category
MAX_ITEMS = 1 << 30  # of a category
INDEPENDENT = (
    "Intervals of tables of category scores take every item as independent of the others. Where several items share a "
    "picture, they are narrower than they should be."
)
_MODEL = re.compile(r"(.+)_([A-Za-z]{2,3})")
_METHOD = re.compile(rf"(?:.*[^a-z0-9])?({'|'.join(SHOWN)})", re.DOTALL)


def read_profiles(files: Sequence[Path], *, private: bool = False) -> Profiles:
    """Read saved scores and tables of category scores.

    Args:
        files: ``.scores.json``, and ``.csv``, ``.tsv``, ``.xlsx`` or ``.parquet`` whose names end in a method, such as
            ``_rae`` or ``_lbs``.
        private: Whether scores of a hidden set may be read.

    Raises:
        AnalysisError: A file cannot be read, a cell is not what its column holds, two files have scores of the same
            name, or scores of a hidden set are read without ``private``.
        ScoreError: Saved scores are damaged, or were made in different ways.
    """
    if not files:
        raise AnalysisError(
            "Name saved scores (preds.scores.json) or tables of category scores (scores_rae.csv), or take the "
            "published ones: --example bloom."
        )
    for file in files:
        check_size(file)
    saved = [file for file in files if file.suffix.lower() == ".json"]
    tables = [file for file in files if file not in saved]
    if len(saved) > MAX_MODELS:
        raise AnalysisError(f"{len(saved)} files of saved scores are too many for a page; name at most {MAX_MODELS}.")
    runs, hidden = load_runs(saved, private=private)
    profiles: dict[tuple[str, str, str, str], ModelProfile] = {}
    notes = [INDEPENDENT] if tables else []
    notes += warning_sentences(runs)
    notes += filter(None, {level_note(run.signature.facts) for run in runs})
    for profile in (profile for run in runs for profile in profiles_of_run(run)):
        profiles[profile.key] = profile
    for file in tables:
        for profile, missing in _category_table(file):
            if profile.key in profiles:
                model, lang, _, metric = profile.key
                raise AnalysisError(
                    f"{file}: {METHODS[metric]} of {model!r} in {lang!r} is in another file or column already; name "
                    "each of them once."
                )
            profiles[profile.key] = profile
            if missing:
                name = f"{profile.model}, {profile.lang}, {METHODS[profile.metric]}"
                notes.append(f"{name}: {pluralize(missing, 'category has', 'categories have')} no score.")
    if not profiles:
        raise AnalysisError(f"{files[0]} holds no score of any category.")
    methods = list(METHODS)  # whichever file was named first, RAE comes before LBS
    data = Profiles(
        source=", ".join(file.name for file in files),
        profiles=sorted(profiles.values(), key=lambda profile: methods.index(profile.metric)),
        notes=notes,
        hidden=hidden,
        next_command=profile_command(*map(str, files), *["--private"] * private),
        calibrations=dict(pair for run in runs for pair in calibrations_of_run(run)),
    )
    _check_fits_page(data)
    return data


def profile_command(*inputs: str) -> tuple[str, ...]:
    """The command that writes the page of profiles."""
    return ("vcrgen", "profile", *inputs, "--out", "profile.html")


def _check_fits_page(data: Profiles) -> None:
    """Refuse more than can be compared in seconds."""
    cells = sum(len(profile.categories) for profile in data.profiles)
    for count, most, name in (
        (len(data.models), MAX_MODELS, "models"),
        (len(data.langs), MAX_LANGS, "languages"),
        (cells, MAX_SCORES, "scores of categories"),
    ):
        if count > most:
            raise AnalysisError(f"{count:,} {name} are too many for a page; name files with at most {most:,}.")


def _category_table(file: Path) -> list[tuple[ModelProfile, int]]:
    rows = list(name_cells(enumerate(read_cells(file), 1), str(file), AnalysisError, COLUMNS))
    metric = _method(file)
    columns = {head: _column(head, str(file)) for head in (rows[0][1] if rows else ()) if head not in COLUMNS}
    scores: dict[str, dict[Category, tuple[float, int]]] = {head: {} for head in columns}
    categories: dict[Category, int] = {}
    for number, row in rows:
        place = f"{file}, line {number}"
        category = Category(*(parse_name(row[name], name, place).lower() for name in COLUMNS[:3]))
        if category in categories:
            raise AnalysisError(
                f"{place}: the category {'/'.join(category)!r} is in line {categories[category]} already; keep one."
            )
        categories[category] = number
        if len(categories) > MAX_CATEGORIES:
            raise AnalysisError(f"{file} has more than {MAX_CATEGORIES:,} categories.")
        count = parse_number(row["count"], f"{place}, column 'count'")
        if not (1 <= count <= MAX_ITEMS and count == int(count)):
            raise AnalysisError(f"{place}, column 'count': the number of items is a whole number from 1 on.")
        for head in columns:
            share = parse_number(row[head], f"{place}, column {head!r}")
            if not (math.isnan(share) or 0 <= share <= 1):
                raise AnalysisError(
                    f"{place}, column {head!r}: {share:g} is no share from 0 to 1; write 0.85 for 85 %."
                )
            if not math.isnan(share):
                scores[head][category] = (share, int(count))
    return [
        (profile_of(model, lang, metric, scores[head]), len(categories) - len(scores[head]))
        for head, (model, lang) in columns.items()
        if scores[head]
    ]


def _method(file: Path) -> str:
    match = _METHOD.fullmatch(file.stem.lower())
    if match is None:
        raise AnalysisError(
            f"{file}: the name of a table of category scores ends in the method, as in scores_rae.csv; known are "
            f"{' and '.join(SHOWN)}."
        )
    return match[1]


def _column(head: str, place: str) -> tuple[str, str]:
    match = _MODEL.fullmatch(head) if len(head) < 200 else None
    if match is None:
        raise AnalysisError(
            f"{place}: {head[:40]!r} does not name a model and a language; write them as in my-model_en."
        )
    return parse_name(match[1], "model", place), match[2].lower()
