"""Scores of models on tasks: read from tables, saved scores and boards; limits come before reading.

Example: a CSV whose first line is ``model,Color,Count`` and whose other lines are ``GPT-4o,92.5,92.5`` and so on. What
is missing stays missing: an empty cell, ``-``, ``nan``. The same as a long table has the columns ``model,task,score``.
"""

from __future__ import annotations

import hashlib
import math
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from vcrgen.analysis.cells import Cells, check_size, read_cells
from vcrgen.core.errors import AnalysisError, LeaderboardError
from vcrgen.core.plurals import pluralize
from vcrgen.core.reading import read_json
from vcrgen.report.published.fields import check_name
from vcrgen.stats.arrays import Bits, Floats, Ints

MAX_TASKS = 300
MAX_MODELS = 5000
MAX_TEXT = 1000  # characters of a cell
MISSING = {"", "-", "\N{EN DASH}", "nan", "null", "none", "n/a", "na", "<na>", "#n/a"}
LONG = ("model", "task", "score")
OPTIONAL_COLUMNS = ("se", "items", "family", "released")  # further columns of a long table
ABOUT_MODELS = ("family", "released")  # those of them that a wide table may have as well
BOARD_COLUMNS = ("kind", "set", "mode", "view", "signature")
_PARQUET_INDEX = "__index_level_0__"  # as pandas calls the index of a table in Parquet
_INDEX = "(numbers of rows)"
_NUMBER = re.compile(r"\s*[+-]?\.?[0-9][0-9.,eE+-]*\s*%?\s*$")  # what was meant as a number, such as 12,5
_BOARD = "vcrgen-board-1"  # the form of a board's JSON


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoreTable:
    """Scores of models on tasks."""

    source: str  # the file or the example
    models: tuple[str, ...]
    tasks: tuple[str, ...]
    scores: Floats  # models x tasks, NaN for what is missing; of tasks where lower is better with the sign turned
    errors: Floats | None = None  # models x tasks: standard error of each score, NaN where it is not known
    families: tuple[str, ...] | None = None  # of each model, where a column names them
    notes: tuple[str, ...] = ()  # sentences that a reader of results should know

    @property
    def groups(self) -> Ints | None:
        """Of each model the number of its family, from 0; None where no families are named."""
        if self.families is None:
            return None
        numbers = {name: number for number, name in enumerate(dict.fromkeys(self.families))}
        return np.array([numbers[name] for name in self.families])

    def select_models(self, kept: Bits) -> ScoreTable:
        """The table of some models."""
        chosen = np.flatnonzero(kept).tolist()
        return replace(
            self,
            models=tuple(self.models[i] for i in chosen),
            scores=self.scores[kept],
            errors=None if self.errors is None else self.errors[kept],
            families=None if self.families is None else tuple(self.families[i] for i in chosen),
        )

    def select_tasks(self, tasks: Sequence[str]) -> ScoreTable:
        """The table of some tasks, in their order."""
        columns = [self.tasks.index(task) for task in tasks]
        errors = None if self.errors is None else self.errors[:, columns]
        return replace(self, tasks=tuple(tasks), scores=self.scores[:, columns], errors=errors)

    def complete_cases(self) -> ScoreTable:
        """The table of the models that have a score on every task; a note says how many were left out."""
        kept: Bits = np.logical_and.reduce(np.isfinite(self.scores), axis=1)
        if kept.all():
            return self
        one, many = "lacks a score of some task and is", "lack a score of some task and are"
        left = (
            f"{pluralize(int((~kept).sum()), *(f'of {len(kept)} models {which}' for which in (one, many)))} left out."
        )
        return replace(self.select_models(kept), notes=(*self.notes, left))


def read_scores(
    files: Sequence[Path], *, lower_is_better: Sequence[str] = (), ignore: Sequence[str] = (), private: bool = False
) -> ScoreTable:
    """Read one table, one export of a board, or several files of saved scores.

    Args:
        files: One ``.csv``, ``.tsv``, ``.xlsx``, ``.parquet`` or ``.json`` (a board), or several ``.scores.json``.
        lower_is_better: Tasks whose scores are turned around.
        ignore: Columns of a table that are no tasks.
        private: Whether saved scores of a hidden set are read, whose exact figures are not for publication.

    Raises:
        AnalysisError: There is no such file or task, it is too large, a cell is not what its column holds, or scores
            of a hidden set are read without ``private``.
    """
    if not files:
        raise AnalysisError("Name a table of scores, or take data that ships with vcrgen: --example gold.")
    for file in files:
        check_size(file)
    if len(files) > 1 or files[0].suffix.lower() == ".json":
        if ignore:
            raise AnalysisError(f"--ignore is for the columns of one table of scores, not for {files[0]}.")
        table = _read_json_files(files, private=private)
    else:
        table = table_from_rows(read_cells(files[0]), str(files[0]), ignore=ignore)
    return _negate(table, lower_is_better)


def table_from_rows(rows: Iterable[Cells], source: str, *, ignore: Sequence[str] = ()) -> ScoreTable:
    """The scores in a grid of cells whose first row names the columns; errors name the ``source``."""
    heads, rows = _named_columns(iter(rows), source, ignore)
    if doubled := [head for number, head in enumerate(heads) if head in heads[:number]]:
        raise AnalysisError(f"{source}: the column {doubled[0]!r} stands there twice; give each task its own name.")
    if set(BOARD_COLUMNS) <= set(heads):
        return _from_long(_disambiguate(_board_rows(_dicts(heads, rows, source))), source)
    if set(LONG) <= set(heads):
        if unknown := [head for head in heads if head not in LONG + OPTIONAL_COLUMNS]:
            raise AnalysisError(
                f"{source}: the column {unknown[0]!r} is not known; a long table has "
                f"{', '.join(LONG + OPTIONAL_COLUMNS)}. Leave it out with {_ignored(unknown)}."
            )
        return _from_long(_long_rows(_dicts(heads, rows, source)), source)
    return _from_wide(heads, rows, source)


def parse_number(cell: Any, place: str) -> float:
    """A cell as a number; NaN for what is missing. A percent sign is left out: ``59.1%`` is 59.1.

    Raises:
        AnalysisError: It is a text that is no number, or infinite.
    """
    if cell is None or (isinstance(cell, str) and cell.strip().lower() in MISSING):
        return math.nan
    try:
        value = math.inf if isinstance(cell, bool) else float(_without_percent(cell))
    except (TypeError, ValueError, OverflowError):
        value = math.inf
    if math.isinf(value) or abs(value) > 1e100:  # whose squares still are numbers
        raise AnalysisError(f"{place}: {str(cell)[:40]!r} is no number; leave the cell empty if there is no score.")
    return value


def parse_name(cell: Any, what: str, place: str) -> str:
    """A name as it is shown, of a model or a task.

    Raises:
        AnalysisError: It is missing, too long, or holds what nobody can see.
    """
    text = cell if isinstance(cell, str) else "" if cell is None else str(cell)
    try:
        # Before anything else is done with it: Unicode's normal form of a long text can take very long.
        return check_name(text if len(text) <= MAX_TEXT else text[:MAX_TEXT], what)
    except LeaderboardError as problem:
        raise AnalysisError(f"{place}: {str(problem)[0].lower()}{str(problem)[1:]}") from None


def _without_percent(cell: Any) -> Any:
    return cell.strip().removesuffix("%").rstrip() if isinstance(cell, str) else cell


def _named_columns(rows: Iterator[Cells], source: str, ignore: Sequence[str]) -> tuple[list[str], Iterator[Cells]]:
    """Return the names of the columns and the rows below, without ignored columns.

    The index of pandas, a first column without a name or the one that Parquet calls ``__index_level_0__``, names the
    models. It is left out where a column ``model`` does so, or where it numbers the rows and a text follows.
    """
    first = next(rows, [])
    index = first.index(_PARQUET_INDEX) if _PARQUET_INDEX in first else 0 if first and _is_blank(first[0]) else None
    if index is not None:
        kept = list(rows)
        rows = iter(kept)
        follows = 1 if index == 0 else 0
        is_number = all(str(row[index]) == str(number) for number, row in enumerate(kept) if index < len(row))
        is_extra = is_number and _is_text([row[follows] for row in kept if follows < len(row)])
        first = [*first[:index], _INDEX if "model" in first or is_extra else "model", *first[index + 1 :]]
    heads = [_head(cell, f"{source}, column {number}") for number, cell in enumerate(first, 1)]
    if unknown := [name for name in ignore if name not in heads]:
        raise AnalysisError(f"--ignore {unknown[0][:80]!r} is no column of {source}; there are {_first_ten(heads)}.")
    dropped = {number for number, head in enumerate(heads) if head in ignore or head == _INDEX}
    if not dropped:
        return heads, rows
    return (
        [head for number, head in enumerate(heads) if number not in dropped],
        ([cell for number, cell in enumerate(row) if number not in dropped] for row in rows),
    )


def _is_blank(cell: Any) -> bool:
    return cell is None or (isinstance(cell, str) and not cell.strip())


def _first_ten(names: Sequence[str]) -> str:
    return f"{', '.join(names[:10])}{', …' if len(names) > 10 else ''}"


def _ignored(columns: Sequence[str]) -> str:
    """Return the options that leave columns out, as a command line takes them."""
    return " ".join(f"--ignore {shlex.quote(name)}" for name in columns)


def _head(cell: Any, place: str) -> str:
    if not isinstance(cell, str) or not cell.strip():
        raise AnalysisError(f"{place}: the first row has to name every column, and here it has {str(cell)[:40]!r}.")
    return parse_name(cell, "column", place)


def _dicts(heads: Sequence[str], rows: Iterator[Cells], source: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, cells in enumerate(rows, start=2):
        place = f"{source}, row {number}"
        if len(cells) != len(heads):
            raise AnalysisError(f"{place}: it has {pluralize(len(cells), 'cell')}, and the first row has {len(heads)}.")
        yield place, dict(zip(heads, cells, strict=True))


def _from_wide(heads: Sequence[str], rows: Iterator[Cells], source: str) -> ScoreTable:
    if not heads:
        raise AnalysisError(f"{source} is empty; a table has a row of names, and a row for every model.")
    label = "model" if "model" in heads else heads[0]
    tasks = [head for head in heads if head not in (label, *ABOUT_MODELS)]
    models: list[str] = []
    families: list[str] = []
    scores: list[list[float]] = []
    read = list(_dicts(heads, rows, source))
    if texts := [task for task in tasks if _is_text([row[task] for _, row in read])]:
        shown = pluralize(len(texts), "column holds", "columns hold")
        raise AnalysisError(
            f"{source}: {shown} text in place of scores: {_first_ten(texts)}. Leave out what is no task with "
            f"{_ignored(texts)}."
        )
    for place, row in read:
        models.append(parse_name(row[label], "model", place))
        if "family" in row:
            families.append(parse_name(row["family"], "family", place))
        scores.append([parse_number(row[task], f"{place}, column {task!r}") for task in tasks])
        if len(models) > MAX_MODELS:
            raise AnalysisError(f"{source} has more than {MAX_MODELS:,} models.")
    if doubled := next((model for model, rows_of in Counter(models).items() if rows_of > 1), None):
        raise AnalysisError(f"{source}: the model {doubled!r} has two rows; keep one, or give them two names.")
    return _validate(
        ScoreTable(
            source=source,
            models=tuple(models),
            tasks=tuple(tasks),
            families=tuple(families) or None,
            scores=np.array(scores, float).reshape(len(models), len(tasks)),
        )
    )


def _is_text(cells: Sequence[Any]) -> bool:
    """Tell whether a column has no number at all, and some text; a single text among numbers is a slip of its own."""
    known = [cell for cell in cells if not (_is_blank(cell) or str(cell).strip().lower() in MISSING)]
    return len(known) > 1 and not any(_NUMBER.match(str(cell)) for cell in known)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Score:
    """One line of a long table."""

    place: str
    model: str
    task: str
    score: float
    error: float = math.nan
    items: float = math.nan  # from which a missing error is computed
    family: str = ""
    way: str = ""  # how it was scored: the short form of a signature
    team: str = ""


def _long_rows(rows: Iterator[tuple[str, dict[str, Any]]]) -> Iterator[_Score]:
    for place, row in rows:
        score = parse_number(row["score"], f"{place}, column 'score'")
        error = parse_number(row.get("se"), f"{place}, column 'se'")
        if error < 0:
            raise AnalysisError(f"{place}, column 'se': a standard error is not below 0.")
        items = parse_number(row.get("items"), f"{place}, column 'items'")
        if items < 1:
            raise AnalysisError(f"{place}, column 'items': a score is of one item at least.")
        yield _Score(
            place=place,
            model=parse_name(row["model"], "model", place),
            task=parse_name(row["task"], "task", place),
            score=score,
            error=error,
            items=items,
            family=parse_name(row["family"], "family", place) if "family" in row else "",
        )


def binomial_standard_error(score: float, items: float, *, whole: float = 100.0) -> float:
    """The standard error of a share of right items, in the unit of the score; NaN for what is no share.

    Example: 50 % of 30 items have a standard error of 9.1 points. ``whole`` is the score where all items are right.
    """
    share = score / whole
    return whole * math.sqrt(share * (1 - share) / items) if 0 <= share <= 1 else math.nan


def _from_long(rows: Iterator[_Score], source: str) -> ScoreTable:
    found: dict[tuple[str, str], _Score] = {}
    models: dict[str, str] = {}
    tasks: dict[str, None] = {}
    for row in rows:
        if earlier := found.get((row.model, row.task)):
            raise AnalysisError(
                f"{row.place}: {row.model!r} has a score on {row.task!r} in {earlier.place.rpartition(', ')[2]} "
                "already; keep one of them."
            )
        if models.setdefault(row.model, row.family) != row.family:
            raise AnalysisError(f"{row.place}: {row.model!r} is of the family {models[row.model]!r} above.")
        found[row.model, row.task] = row
        tasks[row.task] = None
        if len(models) > MAX_MODELS or len(tasks) > MAX_TASKS:
            raise AnalysisError(f"{source} has more than {MAX_MODELS:,} models or {MAX_TASKS:,} tasks.")
    scores = np.full((len(models), len(tasks)), np.nan)
    errors = np.full_like(scores, np.nan)
    columns = {task: number for number, task in enumerate(tasks)}
    lines = {model: number for number, model in enumerate(models)}
    percentages = {row.task for row in found.values() if row.score > 1}  # other tasks have shares
    for row in found.values():
        at = lines[row.model], columns[row.task]
        computed = binomial_standard_error(row.score, row.items, whole=100.0 if row.task in percentages else 1.0)
        scores[at], errors[at] = row.score, computed if math.isnan(row.error) else row.error
    return _validate(
        ScoreTable(
            source=source,
            models=tuple(models),
            tasks=tuple(tasks),
            scores=scores,
            errors=errors if np.isfinite(errors).any() else None,
            families=tuple(models.values()) if any(models.values()) else None,
        )
    )


def _validate(table: ScoreTable) -> ScoreTable:
    if not table.models or not table.tasks:
        raise AnalysisError(f"{table.source} holds no scores; a table has a column for every task, a row for a model.")
    if len(table.tasks) > MAX_TASKS:
        raise AnalysisError(f"{table.source} has {len(table.tasks):,} tasks; at most {MAX_TASKS:,} are analysed.")
    return table


def _negate(table: ScoreTable, tasks: Sequence[str]) -> ScoreTable:
    if unknown := [task for task in tasks if task not in table.tasks]:
        raise AnalysisError(
            f"--lower-is-better {unknown[0][:80]!r} is no task of {table.source}; there are {_first_ten(table.tasks)}."
        )
    if not tasks:
        return table
    sign = np.where([task in tasks for task in table.tasks], -1.0, 1.0)
    turned = f"Lower is better for {', '.join(dict.fromkeys(tasks))}: the scores are turned around."
    return replace(table, scores=table.scores * sign, notes=(*table.notes, turned))


# Saved scores and boards


def _read_json_files(files: Sequence[Path], *, private: bool) -> ScoreTable:
    source = str(files[0]) if len(files) == 1 else f"{files[0]} and {len(files) - 1} more"
    if len(files) == 1:
        value = read_json(files[0], AnalysisError)
        if isinstance(value, dict) and value.get("schema") == _BOARD:
            return _from_long(_disambiguate(_board_json(value, source)), source)
    return _from_long(_disambiguate(_saved_scores(files, private=private)), source)


def _disambiguate(rows: Iterable[_Score]) -> Iterator[_Score]:
    """Make model and task unique: scores of two signatures are two tasks, named by the signature.

    A model that two teams handed in is two models, named by the team.
    """
    listed = list(rows)
    ways: dict[str, set[str]] = {}
    teams: dict[str, set[str]] = {}
    for row in listed:
        ways.setdefault(row.task, set()).add(row.way)
        teams.setdefault(row.model, set()).add(row.team)
    for row in listed:
        task = f"{row.task} [{row.way}]" if len(ways[row.task]) > 1 else row.task
        yield replace(row, task=task, model=f"{row.model} ({row.team})" if len(teams[row.model]) > 1 else row.model)


def _saved_scores(files: Sequence[Path], *, private: bool) -> Iterator[_Score]:
    from vcrgen.scorer.saved import load_means

    for file in files:
        if file.suffix.lower() != ".json":
            raise AnalysisError(f"{file}: several files have to be saved scores (preds.scores.json); give one table.")
        saved = load_means(file)
        if saved.hidden and not private:
            raise AnalysisError(
                f"{file} is of a hidden set, whose exact scores are not for publication; analyse the export of its "
                "board, or mark the report with --private."
            )
        for cell in saved.cells:
            right = next((cell.metrics[name] for name in saved.task.main_metrics if name in cell.metrics), None)
            if right is None:
                raise AnalysisError(
                    f"{file} has neither of {' and '.join(saved.task.main_metrics)}, so there is no score."
                )
            language = "" if saved.task.axis == "lang" else f"{saved.language} "  # which is what its cells differ in
            yield _Score(
                place=str(file),
                model=parse_name(saved.model, "model", str(file)),
                way=saved.signature.short,
                task=parse_name(f"{language}{cell.variant} {cell.view.value}", "task", str(file)),
                score=100 * right.value,
                error=100 * right.sd_clusters,
            )


def _ranking_metrics() -> tuple[str, ...]:
    """The metric that ranks, of each kind of task."""
    from vcrgen.data.tasks.task import TASKS

    return tuple(task.main_metrics[0] for task in TASKS.values())


def _board_rows(rows: Iterator[tuple[str, dict[str, Any]]]) -> Iterator[_Score]:
    """The ranked rows of a board's CSV; what is quoted or fed back has no signature and is not mixed with them."""
    metrics = _ranking_metrics()
    for place, row in rows:
        ranks = next((name for name in metrics if row.get(name)), None)  # none: likelihoods alone were handed in
        if row["kind"] == "ranked" and ranks:
            yield _board_score(row, place, [row.get(name) for name in (ranks, f"{ranks}_low", f"{ranks}_high")])


def _board_json(board: Mapping[str, Any], source: str) -> Iterator[_Score]:
    metrics = _ranking_metrics()
    try:
        for table in board["tables"]:
            track = table["track"]
            for ranking in table["rankings"]:
                for row in ranking["rows"]:
                    facts, scores = row["facts"], row["scores"][track["view"]]
                    if (figure := next((scores[name] for name in metrics if name in scores), None)) is None:
                        continue
                    named = {
                        "set": track["set"],
                        "mode": track["mode"],
                        "view": track["view"],
                        "model": facts["model"],
                        "signature": ranking["signature"],
                        "team": facts["team"],
                    }
                    yield _board_score(named, source, [figure["value"], figure["low"], figure["high"]])
    except (KeyError, TypeError, AttributeError):
        raise AnalysisError(f"{source} is not a board as `vcrgen leaderboard export --to json` writes it.") from None


def _board_score(row: Mapping[str, Any], place: str, figure: Sequence[Any]) -> _Score:
    """A model of one team on one set, mode and view; the error is that of the 95 % interval, whose ends follow."""
    value, low, high = (100 * parse_number(each, place) for each in figure)
    return _Score(
        place=place,
        model=parse_name(row.get("model"), "model", place),
        team=parse_name(row.get("team"), "team", place),
        task=parse_name(" ".join(str(row[name])[:80] for name in ("set", "mode", "view")), "task", place),
        score=value,
        error=(high - low) / (2 * 1.959964),
        way=hashlib.sha256(str(row["signature"]).encode()).hexdigest()[:8],
    )
