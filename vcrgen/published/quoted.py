"""Rows quoted from publications: tables of facts that a board shows beside its own rows and never ranks with them.

A table is a CSV with the columns of :data:`COLUMNS`, scores in percent. The published tables of VCR and Table 1 of
BloomBench ship with the package; ``scripts/quote_papers.py`` and ``quote_bloom.py`` wrote them.
"""

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

from vcrgen.dataset.key import HIDDEN_MODE
from vcrgen.dataset.views import View
from vcrgen.errors import LeaderboardError
from vcrgen.published.facts import Access, check_link, check_name, parse_date, parse_size, visible
from vcrgen.records import NAMED_MODES
from vcrgen.tasks.task import TASKS, ScoredTask

MAX_BYTES = 4 << 20
MAX_ROWS = 20_000
MAX_TEXT = 300
MODES = (*NAMED_MODES, HIDDEN_MODE)
VIEWS = tuple(view for task in TASKS.values() for view in task.image_views)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quoted:
    """One figure or two of a publication, for one model in one setting."""

    source: str  # where it is printed: publication and table
    url: str = ""  # the publication's address, or empty
    data: str = ""  # what was measured on
    items: int | None = None  # number of images of it
    language: str  # language code
    mode: str  # "easy", "hard" or "mixed"; of a question set the language again, which is what its tables differ in
    view: View  # which image the model saw
    model: str  # the name as printed; "Humans" for people
    access: Access = Access.UNKNOWN
    size: float | None = None  # parameters in billions
    released: date | None = None  # date of the model's release
    exact: float | None = None  # exact match as a share from 0 to 1
    exact_sd: float | None = None  # its standard deviation as printed
    jaccard: float | None = None  # Jaccard index as a share from 0 to 1
    jaccard_sd: float | None = None  # its standard deviation as printed
    rae: float | None = None  # of a question set, the share of items that are right by the answers that were read
    lbs: float | None = None  # the same by likelihoods
    corrected: str = ""  # what is printed and why it is wrong; empty where the row is as printed
    note: str = ""  # what else a reader has to know

    @property
    def task(self) -> ScoredTask:
        """The task whose view it is, and whose two shown metrics it has."""
        return next(task for task in TASKS.values() if self.view in task.image_views)

    def figure(self, metric: str) -> tuple[float | None, float | None]:
        """A metric and its standard deviation as printed; None for what is not printed."""
        return getattr(self, metric), getattr(self, f"{metric}_sd", None)


def quoted_metrics(rows: Sequence[Quoted]) -> dict[str, str]:
    """The metrics that some rows are about, with their labels: the two of each task that has a row."""
    tasks = [task for task in TASKS.values() if any(row.task is task for row in rows)]
    return {metric: task.metrics[metric].label for task in tasks for metric in task.shown}


def published() -> list[Path]:
    """The tables that ship with the package, by name."""
    return sorted((Path(__file__).parent / "tables").glob("*.csv"), key=lambda file: file.stem)


def read_quoted(file: Path) -> list[Quoted]:
    """Read a table of quoted rows.

    Args:
        file: A CSV whose first line names its columns, in any order: ``source``, ``language``, ``mode``, ``view``,
            ``model`` and ``exact`` or ``jaccard``; the others of :data:`COLUMNS` if there is something to say.

    Raises:
        LeaderboardError: It cannot be read, or a cell is not what its column holds; says where and what is expected.
    """
    rows: list[Quoted] = []
    lines: dict[tuple[object, ...], int] = {}
    for line, cells in _records(file):
        if len(rows) == MAX_ROWS:
            raise LeaderboardError(f"{file}, line {line}: a table of quoted rows has at most {MAX_ROWS:,} rows.")
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


def _row(cells: Mapping[str, str], place: str) -> Quoted:
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
    row = Quoted(**values)
    _check_task(row, place)
    return row


def _check_task(row: Quoted, place: str) -> None:
    """Refuse a mode that the task of a row has not, figures of another task, and a row without figures."""
    modes = (row.language,) if row.task.axis == "lang" else MODES
    if row.mode not in modes:
        raise LeaderboardError(f"{place}, column mode: it is one of {', '.join(modes)}, not {row.mode[:20]!r}.")
    others = [name for task in TASKS.values() if task is not row.task for name in task.shown]
    if wrong := [name for name in others if getattr(row, name) is not None]:
        raise LeaderboardError(f"{place}, column {wrong[0]}: the view {row.view.value} has no such figure.")
    if all(getattr(row, name) is None for name in row.task.shown):
        first, second = (row.task.metrics[name].label for name in row.task.shown)
        raise LeaderboardError(f"{place}, column {row.task.shown[0]}: a row has {first}, {second} or both.")


def _records(file: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows as texts by column, each with the number of its last line."""
    reader = csv.reader(io.StringIO(_text_of(file), newline=""), strict=True)
    columns: list[str] = []
    try:
        for cells in reader:
            place = f"{file}, line {reader.line_num}"
            if not cells:
                continue
            if not columns:
                columns = _columns(cells, place)
            elif len(cells) != len(columns):
                raise LeaderboardError(f"{place}: it has {len(cells)} cells, and the first line has {len(columns)}.")
            else:
                yield reader.line_num, dict(zip(columns, cells, strict=True))
    except csv.Error as problem:
        raise LeaderboardError(f"{file}, line {reader.line_num}: this is not CSV ({problem}).") from None


def _columns(cells: list[str], place: str) -> list[str]:
    for number, column in enumerate(cells):
        if column not in COLUMNS or column in cells[:number]:
            problem = "stands there twice" if column in COLUMNS else "is not known"
            raise LeaderboardError(
                f"{place}, column {number + 1}: the name {column[:20]!r} {problem}; "
                f"the columns are {', '.join(COLUMNS)}."
            )
    if missing := [column for column in REQUIRED if column not in cells]:
        raise LeaderboardError(f"{place}: the column {missing[0]} is missing; {', '.join(REQUIRED)} have to be there.")
    return cells


def _text_of(file: Path) -> str:
    try:
        if not file.is_file():
            raise LeaderboardError(f"{file} is not a file; name a CSV of quoted rows.")
        with file.open("rb") as handle:
            content = handle.read(MAX_BYTES + 1)
    except OSError as error:
        raise LeaderboardError(f"{file} cannot be read ({error.strerror}).") from None
    if len(content) > MAX_BYTES:
        raise LeaderboardError(f"{file} is larger than {MAX_BYTES >> 20} MiB, so it is not a table of quoted rows.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise LeaderboardError(f"{file}, line {line}: this is not UTF-8; save the table as CSV in UTF-8.") from None
    if (at := text.find("\0")) >= 0:
        raise LeaderboardError(f"{file}, line {text.count(chr(10), 0, at) + 1}: a zero byte is not text.")
    return text


def _source(cell: str) -> str:
    if not (text := visible(cell, "It")):
        raise LeaderboardError("It is empty; name the publication and its table.")
    return text


def _one_of(values: Iterable[str], cell: str) -> str:
    if cell not in (known := tuple(values)):
        raise LeaderboardError(f"It is one of {', '.join(known)}, not {cell[:20]!r}.")
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
