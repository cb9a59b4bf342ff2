"""What profiles are read from: saved scores of a question set, and tables of leaf scores.

A table of leaf scores has a line for each leaf of the tree and a column for each model and language. Example: a file
``scores_rae.csv`` whose first lines are ``level,subcategory,leaf,count,my-model_en,my-model_ar`` and
``Remember,symbol recognition,flags,80,0.91,0.84``. The end of the file's name is the method.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from vcrgen.analysis.cells import check_size, read_cells
from vcrgen.analysis.profile.records import METHODS, SHOWN, Leaf, ModelProfile, Profiles, profile_of
from vcrgen.analysis.profile.saved import calibrations_of_run, load_runs, profiles_of_run
from vcrgen.analysis.tables import name_of, number_of
from vcrgen.errors import AnalysisError
from vcrgen.plurals import counted

COLUMNS = ("level", "subcategory", "leaf", "count")
MAX_LEAVES = 1000
MAX_MODELS, MAX_LANGS, MAX_SCORES = 24, 12, 50_000  # of a page, which compares each two models on each leaf
MAX_ITEMS = 1 << 30  # of a leaf
INDEPENDENT = (
    "Intervals of tables of leaf scores take every item as independent of the others. Where several items share a "
    "picture, they are narrower than they should be."
)
_MODEL = re.compile(r"(.+)_([A-Za-z]{2,3})")
_METHOD = re.compile(rf"(?:.*[^a-z0-9])?({'|'.join(SHOWN)})", re.DOTALL)


def read_profiles(files: Sequence[Path], *, private: bool = False) -> Profiles:
    """Read saved scores and tables of leaf scores.

    Args:
        files: ``.scores.json``, and ``.csv``, ``.tsv``, ``.xlsx`` or ``.parquet`` whose names end in a method, such as
            ``_rae`` or ``_lbs``.
        private: Whether scores of a hidden set may be read.

    Raises:
        AnalysisError: A file cannot be read, a cell is not what its column holds, two files have scores of the same
            name, or scores of a hidden set are not asked for.
        ScoreError: Saved scores are damaged, or were made in different ways.
    """
    if not files:
        raise AnalysisError(
            "Name saved scores (preds.scores.json) or tables of leaf scores (scores_rae.csv), or take the published "
            "ones: --example."
        )
    for file in files:
        check_size(file)
    saved = [file for file in files if file.suffix.lower() == ".json"]
    tables = [file for file in files if file not in saved]
    if len(saved) > MAX_MODELS:
        raise AnalysisError(f"{len(saved)} files of saved scores are too many for a page; name at most {MAX_MODELS}.")
    runs, hidden = load_runs(saved, private=private)
    found: dict[tuple[str, str, str, str], ModelProfile] = {}
    notes = [INDEPENDENT] if tables else []
    for profile in (profile for run in runs for profile in profiles_of_run(run)):
        found[profile.key] = profile
    for file in tables:
        for profile, missing in _leaf_table(file):
            if profile.key in found:
                model, lang, _, metric = profile.key
                raise AnalysisError(
                    f"{file}: {METHODS[metric]} of {model!r} in {lang!r} is in another file or column already; name "
                    "each of them once."
                )
            found[profile.key] = profile
            if missing:
                model, lang = profile.model, profile.lang
                notes.append(
                    f"{model}, {lang}, {METHODS[profile.metric]}: {counted(missing, 'leaf has', 'leaves have')} no "
                    "score."
                )
    if not found:
        raise AnalysisError(f"{files[0]} holds no score of any leaf.")
    methods = list(METHODS)  # whichever file was named first, RAE comes before LBS
    profiles = sorted(found.values(), key=lambda profile: methods.index(profile.metric))
    data = Profiles(
        source=", ".join(file.name for file in files), profiles=profiles, notes=notes, hidden=hidden,
        calibrations=dict(pair for run in runs for pair in calibrations_of_run(run)),
    )  # fmt: skip
    _check_fits_page(data)
    return data


def _check_fits_page(data: Profiles) -> None:
    """Refuse more than can be compared in seconds."""
    cells = sum(len(profile.leaves) for profile in data.profiles)
    for count, most, name in (
        (len(data.models), MAX_MODELS, "models"), (len(data.langs), MAX_LANGS, "languages"),
        (cells, MAX_SCORES, "scores of leaves"),
    ):  # fmt: skip
        if count > most:
            raise AnalysisError(f"{count:,} {name} are too many for a page; name files with at most {most:,}.")


def _leaf_table(file: Path) -> list[tuple[ModelProfile, int]]:
    """The profile of each column that holds a score, and how many leaves have none there."""
    rows = read_cells(file)
    heads = [str(cell if cell is not None else "").strip() for cell in next(rows, [])]
    if missing := [name for name in COLUMNS if name not in heads]:
        raise AnalysisError(
            f"{file}: the column {missing[0]!r} is missing; a table of leaf scores has {', '.join(COLUMNS)}, and one "
            "column for each model and language, such as my-model_en."
        )
    metric = _method(file)
    columns = {
        number: _column(head, f"{file}, column {number + 1}")
        for number, head in enumerate(heads)
        if head not in COLUMNS
    }
    scores: dict[int, dict[Leaf, tuple[float, int]]] = {number: {} for number in columns}
    leaves: dict[Leaf, str] = {}
    for number, cells in enumerate(rows, start=2):
        place = f"{file}, row {number}"
        if len(cells) != len(heads):
            raise AnalysisError(f"{place}: it has {counted(len(cells), 'cell')}, and the first row has {len(heads)}.")
        named = dict(zip(heads, cells, strict=True))
        leaf = Leaf(*(name_of(named[name], name, place).lower() for name in COLUMNS[:3]))
        if leaf in leaves:
            raise AnalysisError(f"{place}: the leaf {'/'.join(leaf)!r} is in {leaves[leaf]} already; keep one of them.")
        leaves[leaf] = f"row {number}"
        if len(leaves) > MAX_LEAVES:
            raise AnalysisError(f"{file} has more than {MAX_LEAVES:,} leaves.")
        count = number_of(named["count"], f"{place}, column 'count'")
        if not (1 <= count <= MAX_ITEMS and count == int(count)):
            raise AnalysisError(
                f"{place}, column 'count': it is how many items the leaf has, a whole number from 1 on."
            )
        for column in columns:
            share = number_of(cells[column], f"{place}, column {heads[column]!r}")
            if share == share:  # NaN is what is missing
                if not 0 <= share <= 1:
                    raise AnalysisError(
                        f"{place}, column {heads[column]!r}: {share:g} is no share from 0 to 1; write 0.85 for 85 %."
                    )
                scores[column][leaf] = (share, int(count))
    return [
        (profile_of(model, lang, metric, scores[column]), len(leaves) - len(scores[column]))
        for column, (model, lang) in columns.items()
        if scores[column]
    ]


def _method(file: Path) -> str:
    """The method that a file's name ends with."""
    found = _METHOD.fullmatch(file.stem.lower())
    if found is None:
        raise AnalysisError(
            f"{file}: the name of a table of leaf scores ends in the method, as in scores_rae.csv; known are "
            f"{' and '.join(SHOWN)}."
        )
    return found[1]


def _column(head: str, place: str) -> tuple[str, str]:
    """The model and the language that a column's name tells."""
    found = _MODEL.fullmatch(head) if len(head) < 200 else None
    if found is None:
        raise AnalysisError(
            f"{place}: {head[:40]!r} does not name a model and a language; write them as in my-model_en."
        )
    return name_of(found[1], "model", place), found[2].lower()
