"""Scores of models on tasks: read from tables, saved scores and boards; limits come before reading.

Example: a CSV whose first line is ``model,Color,Count`` and whose other lines are ``GPT-4o,92.5,92.5`` and so on. What
is missing stays missing: an empty cell, ``-``, ``nan``. The same as a long table has the columns ``model,task,score``.
Columns that are no tasks are recognised and left out (`vcrgen.analysis.published_table`).
"""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from vcrgen.analysis.board_scores import (
    BOARD_COLUMNS,
    BOARD_SCHEMA,
    RecordedScore,
    board_scores,
    board_table_scores,
    saved_scores,
)
from vcrgen.analysis.correlations import standardise
from vcrgen.analysis.em_covariance import expected_scores
from vcrgen.analysis.families import guess_families
from vcrgen.analysis.leaderboard_files import is_openvlm, open_llm_columns, openvlm_scores
from vcrgen.analysis.published_table import (
    AVERAGE,
    MAX_TEXT,
    MEAN,
    SIZE,
    TEXT,
    WITH_ERROR,
    Cells,
    PublishedGrid,
    decimals_of,
    fits,
    is_blank,
    is_missing,
    is_text,
    kind_of,
    left_out_note,
    mean_columns,
    model_column,
    names_tasks,
    plain,
    read_grid,
)
from vcrgen.core.errors import AnalysisError, LeaderboardError
from vcrgen.core.plurals import pluralize
from vcrgen.core.reading import read_csv_cells, read_json
from vcrgen.core.storage import DiskFolder
from vcrgen.report.escape import MAX_NAME, check_name
from vcrgen.report.templating import named
from vcrgen.stats.arrays import Bits, Floats, Ints
from vcrgen.stats.intervals import NORMAL_QUANTILE

MAX_BYTES = 64 << 20
MAX_CELLS = 4_000_000
MAX_COLUMNS = 1000
MAX_TASKS = 300
MAX_MODELS = 5000
# Of other tables: Excel writes semicolons where decimals have a comma.
SEPARATORS = {";": "semicolons", "|": "bars, as in Markdown", "&": "&, as in LaTeX"}
FEWEST_SHARED = 5  # models with both scores of a pair of tasks
LONG = ("model", "task", "score")
OPTIONAL_COLUMNS = ("se", "items", "family", "released")  # further columns of a long table
ABOUT_MODELS = ("family", "released")  # those of them that a wide table may have as well
_PARQUET_INDEX = "__index_level_0__"  # as pandas calls the index of a table in Parquet
_INDEX = "(numbers of rows)"


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
    inputs: tuple[str, ...] = ()  # words of a command line that read the same; none for a table made in Python
    is_wide: bool = False  # whether it was read from a column for each task

    @property
    def groups(self) -> Ints | None:
        """Of each model the number of its family, from 0; None where no families are named."""
        if self.families is None:
            return None
        numbers = {name: number for number, name in enumerate(dict.fromkeys(self.families))}
        return np.array([numbers[name] for name in self.families])

    def select_models(self, mask: Bits) -> ScoreTable:
        """The table of the models that a mask marks."""
        rows = np.flatnonzero(mask).tolist()
        return replace(
            self,
            models=tuple(self.models[row] for row in rows),
            scores=self.scores[mask],
            errors=None if self.errors is None else self.errors[mask],
            families=None if self.families is None else tuple(self.families[row] for row in rows),
        )

    def select_tasks(self, tasks: Sequence[str]) -> ScoreTable:
        """The table of some tasks, in their order."""
        columns = [self.tasks.index(task) for task in tasks]
        errors = None if self.errors is None else self.errors[:, columns]
        return replace(self, tasks=tuple(tasks), scores=self.scores[:, columns], errors=errors)

    def complete_cases(self) -> ScoreTable:
        """The table of the models that have a score on every task; a note names those that were left out."""
        complete: Bits = np.logical_and.reduce(np.isfinite(self.scores), axis=1)
        if complete.all():
            return self
        left_out = self.select_models(~complete).models
        note = (
            f"Models left out, as they lack a score of some task: {len(left_out)} of {len(complete)} "
            f"({named(list(left_out))})."
        )
        return replace(self.select_models(complete), notes=(*self.notes, note))

    def estimable_cases(self) -> ScoreTable:
        """The table of the models with two scores at least, the fewest that tell of a correlation; notes name the rest.

        Raises:
            AnalysisError: A task has too few scores, or a pair of tasks too few models in common.
        """
        present = np.isfinite(self.scores)
        if present.all():
            return self
        used = self.select_models(present.sum(axis=1) >= 2)
        present = np.isfinite(used.scores)
        rarest, fewest = int(present.sum(axis=0).argmin()), 2 * len(used.tasks)
        if (count := int(present[:, rarest].sum())) < fewest:
            raise AnalysisError(
                f"{self.source}: {self.tasks[rarest]!r} has a score of {pluralize(count, 'model')}; where scores are "
                f"missing, correlations of {len(used.tasks)} tasks need {fewest} of each. Leave it "
                f"out{self.ignore_options([self.tasks[rarest]])}."
            )
        shared = present.T.astype(np.int64) @ present.astype(np.int64)
        i, j = np.unravel_index(int(shared.argmin()), shared.shape)
        if shared[i, j] < FEWEST_SHARED:
            raise AnalysisError(
                f"{self.source}: {self.tasks[i]!r} and {self.tasks[j]!r} have {pluralize(int(shared[i, j]), 'model')} "
                f"in common; {FEWEST_SHARED} are needed. Leave one of them "
                f"out{self.ignore_options([self.tasks[i]])}."
            )
        missing = (~present).sum(axis=0)
        costly = [
            f"{self.tasks[task]} ({missing[task]})" for task in np.argsort(-missing, kind="stable")[:3] if missing[task]
        ]
        note = (
            f"Of {len(used.models)} models {int(present.all(axis=1).sum())} have all scores; most are missing on "
            f"{', '.join(costly)}. Correlations are estimated by EM."
        )
        return replace(used, notes=(*self.notes, note))

    def ignore_options(self, tasks: Sequence[str]) -> str:
        """The options that leave tasks out, in brackets; nothing where they are no columns of a file."""
        return f" ({_ignored(tasks)})" if self.is_wide else ""

    def filled(self) -> ScoreTable:
        """The table with the expectation of each missing score, given the model's others."""
        if np.isfinite(self.scores).all():
            return self
        sd, means = np.nanstd(self.scores, axis=0), np.nanmean(self.scores, axis=0)
        return replace(self, scores=expected_scores(standardise(self.scores)) * np.where(sd > 0, sd, 1) + means)

    def require_varied(self) -> None:
        """Raise `AnalysisError` if a task has no variance over models."""
        for task, scores in zip(self.tasks, self.scores.T, strict=True):
            present = scores[np.isfinite(scores)]
            if len(present) == 0 or np.ptp(present) == 0:
                what = "has no score" if len(present) == 0 else "has the same score for all models"
                raise AnalysisError(f"The task {task!r} {what}, so it correlates with nothing; take it out.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """What a user says about the columns of a table."""

    models: str | None = None  # names the models; found by its head if not given
    ignore: Sequence[str] = ()  # no tasks
    keep: Sequence[str] = ()  # tasks, whatever they look like; * stands for any characters
    tasks: Sequence[str] = ()  # the same, by a specification

    def has_task(self, head: str) -> bool:
        """Tell whether a column is said to be a task."""
        return any(fits(pattern, head) for pattern in (*self.keep, *self.tasks))


def read_scores(
    files: str | Path | Sequence[str | Path],
    *,
    lower_is_better: Sequence[str] = (),
    columns: Columns | None = None,
    families: bool = True,
    private: bool = False,
) -> ScoreTable:
    """Read one table, one export of a board, or several files of saved scores.

    Args:
        files: One ``.csv``, ``.tsv``, ``.xlsx``, ``.parquet`` or ``.json`` (a board), or several ``.scores.json``.
        lower_is_better: Tasks whose scores are turned around.
        columns: Which columns of a table name the models, are tasks, are none.
        families: Whether families are guessed from the names of models, where no column names them.
        private: Whether saved scores of a hidden set are read, whose exact figures are not for publication.

    Raises:
        AnalysisError: There is no such file or task, it is too large, a cell is not what its column holds, or scores
            of a hidden set are read without ``private``.
    """
    columns = columns or Columns()
    paths = [Path(file) for file in ([files] if isinstance(files, str | Path) else files)]
    if not paths:
        raise AnalysisError("Name a table of scores, or take data that ships with vcrgen: --example gold.")
    for path in paths:
        check_size(path)
    if len(paths) > 1 or paths[0].suffix.lower() == ".json":
        for name, value in (("ignore", columns.ignore), ("models", columns.models)):
            if value:
                raise AnalysisError(f"--{name} is for the columns of one table of scores, not for {paths[0]}.")
        table = _read_json_files(paths, private=private)
    else:
        table = table_from_rows(read_cells(paths[0]), str(paths[0]), columns)
    options = option_words(columns, lower_is_better, families=families, private=private)
    if families and table.families is None:
        table = _with_guessed_families(table)
    return replace(turn_around(table, lower_is_better), inputs=(*map(str, paths), *options))


def option_words(columns: Columns, lower_is_better: Sequence[str], *, families: bool, private: bool) -> list[str]:
    """Words of a command line that reads scores as `read_scores` does with these arguments."""
    words = ["--private"] * private + ["--no-families"] * (not families)
    words += ["--models", columns.models] if columns.models else []
    for option, names in (
        ("--lower-is-better", lower_is_better),
        ("--ignore", columns.ignore),
        ("--keep", columns.keep),
    ):
        words += [word for name in names for word in (option, name)]
    return words


def _with_guessed_families(table: ScoreTable) -> ScoreTable:
    families = guess_families(table.models)
    shared = [name for name, size in Counter(families).most_common() if size > 1]
    if not shared:
        return table
    note = (
        f"Families of models are guessed from their names: {len(shared)} of several models, such as "
        f"{', '.join(shared[:3])}. A column family names them; --no-families takes each model alone."
    )
    return replace(table, families=families, notes=(*table.notes, note))


def table_from_rows(rows: Iterable[Cells], source: str, columns: Columns | None = None) -> ScoreTable:
    """The scores in a grid of cells whose first rows name the columns; errors name the ``source``."""
    columns = columns or Columns()
    heads, rows_of_heads = _named_columns(read_grid(rows, source), source, columns)
    if doubled := [head for number, head in enumerate(heads) if head in heads[:number]]:
        raise AnalysisError(f"{source}: the column {doubled[0]!r} stands there twice; give each task its own name.")
    lines = [(place, dict(zip(heads, cells, strict=True))) for place, cells in rows_of_heads]
    if set(BOARD_COLUMNS) <= set(heads):
        return _from_recorded(board_table_scores(iter(lines)), source)
    if set(LONG) <= set(heads):
        if unknown := [head for head in heads if head not in LONG + OPTIONAL_COLUMNS]:
            raise AnalysisError(
                f"{source}: the column {unknown[0]!r} is not known; a long table has "
                f"{', '.join(LONG + OPTIONAL_COLUMNS)}. Leave it out with {_ignored(unknown)}."
            )
        return _from_long(_long_rows(iter(lines)), source)
    if of_board := open_llm_columns(heads):
        return _from_wide(of_board, lines, source, replace(columns, models=columns.models or of_board[0]))
    return _from_wide(heads, lines, source, columns)


def parse_score(cell: Any, place: str) -> tuple[float, float]:
    """A cell as a score and its standard error, which ``69.12 ± 1.83`` gives; NaN for what is missing."""
    parts = WITH_ERROR.fullmatch(cell) if isinstance(cell, str) and len(cell) <= MAX_TEXT else None
    if parts is None:
        return parse_number(cell, place), math.nan
    error = parse_number(parts["error"], place)
    if error < 0:
        raise AnalysisError(f"{place}: a standard error is not below 0.")
    return parse_number(parts["score"], place), error


def parse_number(cell: Any, place: str) -> float:
    """A cell as a number; NaN for what is missing. A percent sign is left out: ``59.1%`` is 59.1.

    Raises:
        AnalysisError: It is a text that is no number, or infinite.
    """
    if is_missing(cell):
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


def check_size(file: Path, what: str = "a table of scores (CSV, TSV, xlsx, Parquet, JSON)") -> None:
    """Refuse what is no file, or too large for what it should be."""
    try:
        if not file.is_file():
            raise AnalysisError(f"{file} is not a file; name {what}.")
        if file.stat().st_size > MAX_BYTES:
            raise AnalysisError(f"{file} is larger than {MAX_BYTES >> 20} MiB, so it is not {what}.")
    except (OSError, ValueError) as error:
        raise AnalysisError(f"{file} cannot be read ({getattr(error, 'strerror', None) or error}).") from None


def read_cells(file: Path) -> Iterator[Cells]:
    """Read the rows of a table, the first of which names the columns; the suffix gives the format."""
    readers: Mapping[str, Callable[[Path], Iterator[Cells]]] = {
        ".csv": lambda path: _delimited(path, ",\t"),
        ".tsv": lambda path: _delimited(path, "\t"),
        ".xlsx": _sheet,
        ".parquet": _parquet,
    }
    if file.suffix.lower() not in readers:
        raise AnalysisError(f"{file}: scores are read from {', '.join(readers)} and .json; save it as one of these.")
    total = 0
    for cells in readers[file.suffix.lower()](file):
        total += len(cells)
        if len(cells) > MAX_COLUMNS or total > MAX_CELLS:
            raise AnalysisError(f"{file} has more than {MAX_COLUMNS:,} columns or {MAX_CELLS:,} cells.")
        yield cells


def _delimited(file: Path, delimiters: str) -> Iterator[Cells]:
    rows = read_csv_cells(file, AnalysisError, delimiters=delimiters)
    for number, (_, cells) in enumerate(rows):
        separator = next((sign for sign in SEPARATORS if sign in cells[0]), None) if len(cells) == 1 else None
        if number == 0 and separator is not None:
            raise AnalysisError(
                f"{file}: its cells are separated by {SEPARATORS[separator]}; save it with commas between cells and "
                "points in numbers, or as xlsx."
            )
        yield cells


def _sheet(file: Path) -> Iterator[Cells]:
    """Read the rows of an Excel table, as wide as the first one."""
    from vcrgen.scorer.predictions.xlsx import sheet_rows

    width = 0
    for number, cells in enumerate(sheet_rows(file)):
        width = width or max(cells, default=-1) + 1  # the first row names the columns
        if number and any(column >= width and value is not None for column, value in cells.items()):
            raise AnalysisError(f"{file}, row {number + 1}: it has more cells than the first row has names.")
        if number == 0 or any(value is not None for value in cells.values()):
            yield [cells.get(column) for column in range(width)]


def _parquet(file: Path) -> Iterator[Cells]:
    import pyarrow as pa

    from vcrgen.data.arrow_files import ParquetReader, check_batch

    try:
        with closing(ParquetReader(DiskFolder(file.parent), file.name)) as opened:
            meta = opened.metadata
            if meta.num_columns > MAX_COLUMNS or meta.num_columns * meta.num_rows > MAX_CELLS:
                raise AnalysisError(f"{file} has more than {MAX_COLUMNS:,} columns or {MAX_CELLS:,} cells.")
            yield list(opened.schema.names)
            for group in range(meta.num_row_groups):
                for batch in opened.batches(group, opened.leaves, 8192):
                    check_batch(batch)
                    yield from map(list, zip(*(column.to_pylist() for column in batch.columns), strict=True))
    except (pa.ArrowException, OSError, ValueError) as problem:
        raise AnalysisError(
            f"{file} cannot be read as Parquet ({str(problem).splitlines()[0][:200]}); write it again."
        ) from None


def _without_percent(cell: Any) -> Any:
    return cell.strip().removesuffix("%").rstrip() if isinstance(cell, str) else cell


def _named_columns(grid: PublishedGrid, source: str, columns: Columns) -> tuple[list[str], list[tuple[str, Cells]]]:
    """The names of the columns and the rows below with their places, without ignored columns."""
    heads, rows = _heads(grid, source), grid.rows
    ignore = [str(plain(name)) for name in columns.ignore]
    for option, names in (("ignore", ignore), ("models", [columns.models] if columns.models else [])):
        if unknown := [name for name in names if name not in heads]:
            raise AnalysisError(
                f"--{option} {unknown[0][:80]!r} is no column of {source}; there are {_first_ten(heads)}."
            )
    used = [number for number, head in enumerate(heads) if head not in ignore and head != _INDEX]
    lines = []
    for number, cells in rows:
        place = f"{source}, row {number}"
        if len(cells) != len(heads):
            raise AnalysisError(
                f"{place}: it has {pluralize(len(cells), 'cell')}, and the first row has {len(heads)}; a missing score "
                "is an empty cell."
            )
        lines.append((place, [cells[column] for column in used]))
    return [heads[column] for column in used], lines


def _heads(grid: PublishedGrid, source: str) -> list[str]:
    """The names of the columns.

    The index of pandas, a first column without a name or the one that Parquet calls ``__index_level_0__``, names the
    models. It is left out where another column does so, or where it numbers the rows and a text follows.
    """
    first, rows = grid.heads, grid.rows
    index = first.index(_PARQUET_INDEX) if _PARQUET_INDEX in first else 0 if first and is_blank(first[0]) else None
    if index is not None:
        follows = 1 if index == 0 else 0
        is_count = all(str(row[index]) == str(number) for number, (_, row) in enumerate(rows) if index < len(row))
        is_extra = is_count and is_text(row[follows] for _, row in rows if follows < len(row))
        first = [*first[:index], _INDEX if "model" in first or is_extra else "model", *first[index + 1 :]]
    return [_head(cell, f"{source}, column {number}") for number, cell in enumerate(first, 1)]


def read_heads(file: Path) -> list[str]:
    """The names of the columns of a table; none of JSON.

    Raises:
        AnalysisError: As `read_scores`.
    """
    check_size(file)
    if file.suffix.lower() == ".json":
        return []
    return _heads(read_grid(read_cells(file), str(file)), str(file))


def _first_ten(names: Sequence[str]) -> str:
    return f"{', '.join(names[:10])}{', …' if len(names) > 10 else ''}"


def _ignored(columns: Sequence[str]) -> str:
    """The options that leave columns out, as a command line takes them."""
    return " ".join(f"--ignore {shlex.quote(name)}" for name in columns)


def _head(cell: Any, place: str) -> str:
    if not isinstance(cell, str) or not cell.strip():
        raise AnalysisError(f"{place}: the first row has to name every column, and here it has {str(cell)[:40]!r}.")
    return _parse_table_name(cell, "column", place)


def _parse_table_name(cell: Any, what: str, place: str) -> str:
    """A name in a table of others, which may be long: what is too long is cut."""
    is_long = isinstance(cell, str) and MAX_NAME < len(cell) <= MAX_TEXT
    return parse_name(f"{cell[: MAX_NAME - 1]}…" if is_long else cell, what, place)


def _from_wide(
    heads: Sequence[str], lines: Sequence[tuple[str, dict[str, Any]]], source: str, columns: Columns
) -> ScoreTable:
    if not heads:
        raise AnalysisError(f"{source} is empty; a table has a row of names, and a row for every model.")
    label = model_column(heads, [row for _, row in lines], columns.models)
    candidates = [head for head in heads if head not in (label, *ABOUT_MODELS)]
    kinds = {head: kind for head in candidates if (kind := kind_of(head, [row[head] for _, row in lines]))}
    left_out = {head: kind for head, kind in kinds.items() if not columns.has_task(head)}
    tasks = [head for head in candidates if head not in left_out]
    _refuse_other_forms(source, label, tasks, left_out, is_label_given=columns.models is not None)
    if len(lines) > MAX_MODELS:
        raise AnalysisError(f"{source} has more than {MAX_MODELS:,} models.")
    cells = np.array(
        [[parse_score(row[task], f"{place}, column {task!r}") for task in tasks] for place, row in lines], float
    ).reshape(len(lines), len(tasks), 2)
    means = mean_columns(cells[:, :, 0], [decimals_of(row[task] for _, row in lines) for task in tasks])
    left_out |= {tasks[column]: MEAN for column in means if not columns.has_task(tasks[column])}
    taken_in = [
        task
        for column, task in enumerate(tasks)
        if columns.has_task(task) and (column in means or kinds.get(task) == AVERAGE)
    ]
    scored = np.isfinite(cells[:, :, 0]).any(axis=1)  # not so: a title between rows, a model that was never run
    lines_of_models = [line for line, has_score in zip(lines, scored, strict=True) if has_score]
    models = [_parse_table_name(row[label], "model", place) for place, row in lines_of_models]
    table = _validate(
        ScoreTable(
            source=source,
            models=tuple(models),
            tasks=tuple(tasks),
            families=tuple(
                parse_name(row["family"], "family", place) for place, row in lines_of_models if "family" in row
            )
            or None,
            scores=cells[scored, :, 0],
            errors=cells[scored, :, 1] if np.isfinite(cells[:, :, 1]).any() else None,
            notes=_wide_notes(left_out, taken_in, cells[:, :, 1], int((~scored).sum())),
            is_wide=True,
        )
    )
    table = table.select_tasks([task for task in tasks if task not in left_out])
    if len(set(models)) == len(models):
        return table
    size = next((head for head, kind in left_out.items() if kind == SIZE), None)
    return _tell_apart(table if size is None else _with_sizes(table, [row[size] for _, row in lines_of_models]))


def _refuse_other_forms(
    source: str, label: str, tasks: Sequence[str], left_out: Mapping[str, str], *, is_label_given: bool
) -> None:
    """Refuse a table with a row for each task, and a long one whose columns have other names."""
    if names_tasks(label) and not is_label_given:
        raise AnalysisError(
            f"{source}: its rows are tasks, by the head {label!r}; turn it round, so that it has a row for each model "
            "and a column for each task. Where a column does name models, give --models COLUMN."
        )
    about = next((head for head, kind in left_out.items() if kind == TEXT and names_tasks(head)), None)
    if about is not None and len(tasks) == 1:
        raise AnalysisError(
            f"{source} has a row for each score; name its columns model, task and score, in place of {label}, {about} "
            f"and {tasks[0]}."
        )


def _with_sizes(table: ScoreTable, sizes: Sequence[Any]) -> ScoreTable:
    """The table in which models that share a name have their size in it, where the table says one."""
    counts = Counter(table.models)
    names = [
        name if counts[name] == 1 or is_missing(size) else f"{name[: MAX_NAME - 12]} {str(size).strip()[:11]}"
        for name, size in zip(table.models, sizes, strict=True)
    ]
    if names == list(table.models):
        return table
    note = "Models with the same name have their size in it."
    return replace(table, models=tuple(names), notes=(*table.notes, note))


def _tell_apart(table: ScoreTable) -> ScoreTable:
    """The table with one row for each name: copies of a row are left out, others of its name are numbered."""
    rows_of: dict[str, list[int]] = {}
    for row, name in enumerate(table.models):
        earlier = rows_of.setdefault(name, [])
        if not any(np.array_equal(table.scores[row], table.scores[other], equal_nan=True) for other in earlier):
            earlier.append(row)
    names = {
        row: f"{name[: MAX_NAME - 6]} ({number})" if number > 1 else name
        for name, rows in rows_of.items()
        for number, row in enumerate(rows, 1)
    }
    notes = list(table.notes)
    if copies := len(table.models) - len(names):
        notes.append(f"Rows that repeat another with the same model and scores, left out: {copies}.")
    if numbered := [name for row, name in names.items() if name != table.models[row]]:
        notes.append(
            f"Models with two rows and other scores, numbered: {_first_ten(numbered)}. Are the rows of one model in "
            "several settings, such as languages, then write one row with a column for each setting."
        )
    mask = np.array([row in names for row in range(len(table.models))])
    one_each = table.select_models(mask)
    return replace(one_each, models=tuple(names[row] for row in sorted(names)), notes=tuple(notes))


def _wide_notes(
    left_out: Mapping[str, str], means_taken_in: Sequence[str], errors: Floats, unscored: int
) -> tuple[str, ...]:
    notes = []
    if left_out:
        notes.append(left_out_note(left_out))
    if means_taken_in:
        notes.append(
            "Taken in as requested, though by name or numbers they are means or sums of other columns: "
            f"{_first_ten(means_taken_in)}. They correlate with their parts, and are no outside score of them."
        )
    if np.isfinite(errors).any():
        notes.append("What stands after ± is taken for the standard error.")
    if unscored:
        notes.append(f"Rows without any score, left out: {unscored}.")
    return tuple(notes)


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
    signature: str = ""  # short: how it was scored
    team: str = ""
    missing: str = ""  # what has no output and counts as wrong, in words


def _long_rows(rows: Iterator[tuple[str, dict[str, Any]]]) -> Iterator[_Score]:
    for place, row in rows:
        score, error = parse_score(row["score"], f"{place}, column 'score'")
        if not is_missing(row.get("se")):
            error = parse_number(row["se"], f"{place}, column 'se'")
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


def _from_long(rows: Iterable[_Score], source: str) -> ScoreTable:
    cells: dict[tuple[str, str], _Score] = {}
    models: dict[str, str] = {}  # with their families
    tasks: dict[str, None] = {}
    for row in rows:
        if earlier := cells.get((row.model, row.task)):
            raise AnalysisError(
                f"{row.place}: {row.model!r} has a score on {row.task!r} in {earlier.place.rpartition(', ')[2]} "
                "already; keep one of them."
            )
        if models.setdefault(row.model, row.family) != row.family:
            raise AnalysisError(f"{row.place}: {row.model!r} is of the family {models[row.model]!r} above.")
        cells[row.model, row.task] = row
        tasks[row.task] = None
        if len(models) > MAX_MODELS or len(tasks) > MAX_TASKS:
            raise AnalysisError(f"{source} has more than {MAX_MODELS:,} models or {MAX_TASKS:,} tasks.")
    scores = np.full((len(models), len(tasks)), np.nan)
    errors = np.full_like(scores, np.nan)
    columns = {task: number for number, task in enumerate(tasks)}
    lines = {model: number for number, model in enumerate(models)}
    percentages = {row.task for row in cells.values() if row.score > 1}  # other tasks have shares
    for row in cells.values():
        position = lines[row.model], columns[row.task]
        computed = binomial_standard_error(row.score, row.items, whole=100.0 if row.task in percentages else 1.0)
        scores[position], errors[position] = row.score, computed if math.isnan(row.error) else row.error
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


def _from_recorded(rows: Iterable[RecordedScore], source: str) -> ScoreTable:
    """The table of scores that vcrgen wrote.

    Scores of two signatures are two tasks, named by the signature. A model that two teams handed in is two models,
    named by the team.
    """
    scores = [_check_recorded(row) for row in rows]
    signatures: dict[str, set[str]] = {}
    teams: dict[str, set[str]] = {}
    for score in scores:
        signatures.setdefault(score.task, set()).add(score.signature)
        teams.setdefault(score.model, set()).add(score.team)
    rows_of_table = [
        replace(
            score,
            task=f"{score.task} [{score.signature}]" if len(signatures[score.task]) > 1 else score.task,
            model=f"{score.model} ({score.team})" if len(teams[score.model]) > 1 else score.model,
        )
        for score in scores
    ]
    table = _from_long(rows_of_table, source)
    lacking = [f"{row.model} on {row.task} ({row.missing})" for row in rows_of_table if row.missing]
    note = f"What has no output counts as wrong: {_first_ten(lacking)}."
    return replace(table, notes=(*table.notes, note)) if lacking else table


def _check_recorded(row: RecordedScore) -> _Score:
    score, low, high = (100 * parse_number(cell, row.place) for cell in (row.share, row.low, row.high))
    return _Score(
        place=row.place,
        model=parse_name(row.model, "model", row.place),
        team="" if row.team is None else parse_name(row.team, "team", row.place),
        task=parse_name(row.task, "task", row.place),
        score=score,
        error=(high - low) / (2 * NORMAL_QUANTILE) if row.error is None else 100 * row.error,
        signature=row.signature,
        missing=row.missing,
    )


def _validate(table: ScoreTable) -> ScoreTable:
    if not table.models or not table.tasks:
        raise AnalysisError(f"{table.source} holds no scores; a table has a column for every task, a row for a model.")
    if len(table.tasks) > MAX_TASKS:
        raise AnalysisError(f"{table.source} has {len(table.tasks):,} tasks; at most {MAX_TASKS:,} are analysed.")
    return table


def turn_around(table: ScoreTable, tasks: Sequence[str]) -> ScoreTable:
    """The table with the sign of some tasks turned, of which a lower score is better.

    Raises:
        AnalysisError: The table has no such task.
    """
    if unknown := [task for task in tasks if task not in table.tasks]:
        raise AnalysisError(
            f"--lower-is-better {unknown[0][:80]!r} is no task of {table.source}; there are {_first_ten(table.tasks)}."
        )
    if not tasks:
        return table
    sign = np.where([task in tasks for task in table.tasks], -1.0, 1.0)
    turned = f"Lower is better for {', '.join(dict.fromkeys(tasks))}: the scores are turned around."
    return replace(table, scores=table.scores * sign, notes=(*table.notes, turned))


def _read_json_files(files: Sequence[Path], *, private: bool) -> ScoreTable:
    source = str(files[0]) if len(files) == 1 else f"{files[0]} and {len(files) - 1} more"
    if len(files) == 1:
        value = read_json(files[0], AnalysisError)
        if isinstance(value, dict) and value.get("schema") == BOARD_SCHEMA:
            return _from_recorded(board_scores(value, source), source)
        if is_openvlm(value):
            rows = (
                _Score(
                    place=row.place,
                    model=parse_name(row.model, "model", row.place),
                    task=parse_name(row.task, "task", row.place),
                    score=parse_number(row.score, f"{row.place}, {row.task}"),
                )
                for row in openvlm_scores(value, source)
            )
            return _from_long(rows, source)
    return _from_recorded(saved_scores(files, private=private), source)
