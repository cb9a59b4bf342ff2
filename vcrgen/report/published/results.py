"""Results reported in publications: tables that a board shows beside its own rows and never ranks with them.

A table is a CSV with the columns of `COLUMNS`, scores in percent. The published tables of VCR and Table 1 of
BloomBench ship with the package.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

from vcrgen.core.errors import LeaderboardError
from vcrgen.core.reading import check_file_size, read_csv
from vcrgen.core.records import NAMED_MODES
from vcrgen.data.key import HIDDEN_MODE
from vcrgen.data.tasks.task import TASKS, ScoredTask
from vcrgen.data.views import View
from vcrgen.report.escape import check_name, visible
from vcrgen.report.published.fields import Access, check_link, parse_date, parse_size

MAX_BYTES = 4 << 20
MAX_ROWS = 20_000
MAX_TEXT = 300
MODES = (*NAMED_MODES, HIDDEN_MODE)
VIEWS = tuple(view for task in TASKS.values() for view in task.image_views)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedResult:
    """One or two scores of a publication, for one model in one setting."""

    source: str  # where it is printed: publication and table
    url: str = ""  # the publication's address, or empty
    data: str = ""  # what was measured on
    items: int | None = None  # number of images of it
    language: str  # language code
    mode: str  # "easy", "hard" or "mixed"; of an MCQ benchmark the language again, which is what its tables differ in
    view: View  # which image the model saw
    model: str  # the name as printed; "Humans" for people
    access: Access = Access.UNKNOWN
    size: float | None = None  # parameters in billions
    released: date | None = None  # date of the model's release
    exact: float | None = None  # exact match as a share from 0 to 1
    exact_sd: float | None = None  # its standard deviation as printed
    jaccard: float | None = None  # Jaccard index as a share from 0 to 1
    jaccard_sd: float | None = None  # its standard deviation as printed
    rae: float | None = None  # of an MCQ benchmark, the share of items that are right by the answers that were read
    lbs: float | None = None  # the same by likelihoods
    corrected: str = ""  # what is printed and why it is wrong; empty where the row is as printed
    note: str = ""  # what else a reader has to know

    @property
    def task(self) -> ScoredTask:
        """The task whose view it is, and whose two shown metrics it has."""
        return next(task for task in TASKS.values() if self.view in task.image_views)

    def score(self, metric: str) -> tuple[float | None, float | None]:
        """Return a metric and its standard deviation as printed; None for those not printed."""
        return getattr(self, metric), getattr(self, f"{metric}_sd", None)


def reported_metrics(rows: Sequence[ReportedResult]) -> dict[str, str]:
    """Labels of metrics by name: of the two main metrics of each task that has a row."""
    tasks = [task for task in TASKS.values() if any(row.task is task for row in rows)]
    return {metric: task.metrics[metric].label for task in tasks for metric in task.main_metrics}


def shipped_tables() -> list[Path]:
    """Paths of the tables that ship with the package, sorted by name."""
    return sorted((Path(__file__).parent / "tables").glob("*.csv"), key=lambda file: file.stem)


def read_reported(file: Path) -> list[ReportedResult]:
    """Read a table of reported results.

    Args:
        file: A CSV whose first line names its columns, in any order: ``source``, ``language``, ``mode``, ``view``,
            ``model`` and ``exact`` or ``jaccard``; the others of `COLUMNS` if there is something to say.

    Raises:
        LeaderboardError: It cannot be read, or a cell is not what its column holds; says where and what is expected.
    """
    rows: list[ReportedResult] = []
    lines: dict[tuple[object, ...], int] = {}
    for line, cells in _records(file):
        if len(rows) == MAX_ROWS:
            raise LeaderboardError(f"{file}, line {line}: a table of reported results has at most {MAX_ROWS:,} rows.")
        row = _row(cells, f"{file}, line {line}")
        key = (row.source, row.data, row.language, row.mode, row.view, row.model, row.size)
        if (first := lines.setdefault(key, line)) != line:
            raise LeaderboardError(
                f"{file}, line {line}, column model: {row.model} is in line {first} already, with the same source, "
                "data, language, mode, view and size."
            )
        rows.append(row)
    if not rows:
        raise LeaderboardError(f"{file} has no rows below the names of its columns.")
    return rows


def _row(cells: Mapping[str, str], place: str) -> ReportedResult:
    values: dict[str, Any] = {}
    for column, read in _READERS.items():
        cell = cells.get(column, "")
        try:
            # Before anything else is done with it: Unicode's normal form of a long text can take very long.
            if len(cell) > MAX_TEXT:
                raise LeaderboardError(f"It is longer than {MAX_TEXT} characters.")
            values[column] = read(cell)
        except LeaderboardError as problem:
            text = str(problem)
            raise LeaderboardError(f"{place}, column {column}: {text[0].lower()}{text[1:]}") from None
    row = ReportedResult(**values)
    _check_task(row, place)
    return row


def _check_task(row: ReportedResult, place: str) -> None:
    """Refuse a mode that the task of a row has not, figures of another task, and a row without figures."""
    modes = (row.language,) if row.task.axis == "lang" else MODES
    if row.mode not in modes:
        raise LeaderboardError(f"{place}, column mode: it is one of {', '.join(modes)}, not {row.mode[:20]!r}.")
    others = [name for task in TASKS.values() if task is not row.task for name in task.main_metrics]
    if wrong := [name for name in others if getattr(row, name) is not None]:
        raise LeaderboardError(f"{place}, column {wrong[0]}: the view {row.view.value} has no such metric.")
    if all(getattr(row, name) is None for name in row.task.main_metrics):
        first, second = (row.task.metrics[name].label for name in row.task.main_metrics)
        raise LeaderboardError(f"{place}, column {row.task.main_metrics[0]}: a row has {first}, {second} or both.")


def _records(file: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows as texts by column, each with the number of its last line."""
    if not file.is_file():
        raise LeaderboardError(f"{file} is not a file; name a CSV of reported results.")
    check_file_size(file, MAX_BYTES, "it is no table of reported results", LeaderboardError)
    for line, cells in read_csv(file, LeaderboardError, required=REQUIRED):
        if unknown := [column for column in cells if column not in COLUMNS]:
            raise LeaderboardError(
                f"{file}, line 1: the column {unknown[0][:20]!r} is not known; the columns are {', '.join(COLUMNS)}."
            )
        yield line, cells


def _source(cell: str) -> str:
    if not (text := visible(cell, "It")):
        raise LeaderboardError("It is empty; name the publication and its table.")
    return text


def _one_of(values: Iterable[str], cell: str) -> str:
    if cell not in (names := tuple(values)):
        raise LeaderboardError(f"It is one of {', '.join(names)}, not {cell[:20]!r}.")
    return cell


def _share(cell: str) -> float | None:
    form = r"(0?[0-9]{1,2}(\.[0-9]{1,6})?|100(\.0{1,6})?)"  # at most 100
    return round(float(_matching(form, cell, "a percentage from 0 to 100 such as 91.55")) / 100, 8) if cell else None


def _matching(form: str, cell: str, expected: str) -> str:
    if not re.fullmatch(form, cell):
        raise LeaderboardError(f"It is {expected}, not {cell[:20]!r}.")
    return cell


_READERS: Mapping[str, Callable[[str], object]] = {
    "source": _source,
    "url": lambda cell: check_link(cell.strip()),
    "data": partial(visible, what="It"),
    "items": lambda cell: int(_matching("[1-9][0-9]{0,8}", cell, "a number of images such as 500")) if cell else None,
    "language": lambda cell: _matching("[a-z]{2,3}", cell, "a language code such as en or zh"),
    "mode": partial(visible, what="It"),
    "view": lambda cell: View(_one_of(VIEWS, cell)),
    "model": lambda cell: check_name(cell, "model"),
    "access": lambda cell: Access(_one_of(Access, cell or Access.UNKNOWN)),
    "size": parse_size,
    "released": parse_date,
    **dict.fromkeys(("exact", "exact_sd", "jaccard", "jaccard_sd", "rae", "lbs"), _share),
    **dict.fromkeys(("corrected", "note"), partial(visible, what="It")),
}
COLUMNS = tuple(_READERS)
REQUIRED = ("source", "language", "mode", "view", "model")
