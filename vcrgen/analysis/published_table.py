"""Tables of scores as people publish them: heads over two rows, links around names, columns that are no tasks.

`KINDS` says which columns are no tasks, and how they are recognised; a mean or sum of others is known by its numbers.
What is left out is named, and ``--keep`` takes it in.
"""

import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vcrgen.core.errors import AnalysisError
from vcrgen.core.plurals import pluralize
from vcrgen.stats.arrays import Floats

Cells = list[Any]

MAX_TEXT = 1000  # characters of a cell
MISSING = {"", "-", "--", "?", "/", "\N{EN DASH}", "\N{EM DASH}", "#n/a"}
MISSING |= {"nan", "null", "none", "n/a", "n.a.", "na", "<na>", "tbd", "tba"}  # tbd, tba: its authors will add it
NUMBER = re.compile(r"\s*[+-]?\.?[0-9][0-9.,eE+-]*\s*%?\s*$")  # what was meant as a number, such as 12,5
WITH_ERROR = re.compile(r"(?P<score>[^±]+?)\s*(?:±|\+/-|\\pm)\s*(?P<error>[^±]+)")
MODEL_HEADS = ("model", "models", "model name", "method", "methods", "name", "llm", "mllm", "vlm")
TASK_HEADS = re.compile(
    r"(sub)?[- ]?((task|benchmark|dataset|test|set|subject|skill|level)s?|(categor|abilit)(y|ies))( name)?",
    re.IGNORECASE,
)
_UNSEEN = re.compile("[\N{VARIATION SELECTOR-15}\N{VARIATION SELECTOR-16}\u200b-\u200d\N{SOFT HYPHEN}\ufeff]")
_MARKUP = (  # what is around a text, and what is left of it
    (re.compile(r"!?\[([^\[\]]{1,300})\]\([^()\s]{0,600}\)"), r"\1"),
    (re.compile(r"<br\s*/?>", re.IGNORECASE), " "),
    (re.compile(r"</?(?:a|b|i|u|em|strong|span|sup|sub|font|code)(?:\s[^<>]{0,900})?>", re.IGNORECASE), ""),
    (re.compile(r"\\(?:textbf|underline|textit|emph)\{([^{}]{0,300})\}"), r"\1"),
    (re.compile(r"\*\*([^*]{1,300})\*\*"), r"\1"),
)
_FOOTNOTE = re.compile(r"(?<=[0-9.%])\s*[*†‡§¶^]+$")
_FEWEST_ROWS = 4  # of which a mean has to be one
_MEAN_ROWS = 0.95  # share of the models in which it is one: publications have slips
_HEAD_ROWS = 50  # models by which blocks of columns are tried first
_MOST_DECIMALS = 12


@dataclass(frozen=True, slots=True)
class ColumnKind:
    """A kind of column that holds no scores, recognised by its head, or by all of its cells."""

    name: str
    heads: re.Pattern[str]  # the whole head in lower case, without units in brackets
    cells: re.Pattern[str] | None = None


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


AVERAGE, SIZE = "average", "size"
KINDS = (
    ColumnKind("rank", _pattern(r"#|no\.?|id|(.* )?rank(ing)?|place|position|排名")),
    ColumnKind(
        SIZE,
        _pattern(r"#? ?((model|llm|total|active|activated) )?(#?params?\.?|parameters?|size)( count)?|参数量"),
        _pattern(r"[<>~]?[0-9.,]+\s*[MBKT]"),
    ),
    ColumnKind("price", _pattern(r".*([$€£]|\b(price|cost)\b).*")),
    ColumnKind(
        "date",
        _pattern(
            r"(.*[ .])?dates?|year|(knowledge|training) cutoff|"
            r"released?|(last )?(updated?|modified)|created|submitted|"
            r"(release|publication|launch|submission|upload|creation|update)(e?d)?[ .]?(date|day|month|year|time|at)|"
            r"(.* )?(?=.*yy)((yyyy|yy|mm|dd|mon) ?){2,3}"
        ),
        _pattern(
            r"(19|20)[0-9]{2}([-/.][0-9]{1,2}){1,2}([T ].*)?|[0-9]{1,2}[-/.][0-9]{1,2}[-/.](19|20)[0-9]{2}|"
            r"(19|20)[0-9]{2}(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])"
        ),
    ),
    ColumnKind(
        AVERAGE,
        _pattern(
            r"((global|overall|macro|domain|weighted) )?(avg|average|mean|overall|total)\.?( (score|accuracy|acc))?"
        ),
    ),
    ColumnKind("error", _pattern(r".+ (sd|se|std|std ?dev|std ?err(or)?|standard (deviation|error))|±.*")),
    ColumnKind("difference", _pattern(r"(.+ )?(delta|diff|difference)|Δ.*")),
    ColumnKind("count", _pattern(r"(hub )?(likes|❤|downloads|stars|votes)|(#|n|number of) ?(votes|battles|samples)")),
)
MEAN, TEXT, EMPTY = "mean or sum of others", "text", "no score"


@dataclass(frozen=True, slots=True)
class PublishedGrid:
    """The cells of a table, without markup."""

    heads: Cells
    rows: list[tuple[int, Cells]]  # with their numbers in the file, for messages
    notes: tuple[str, ...] = ()


def plain(cell: Any) -> Any:
    """A cell without what its page put around it: a link, bold type, a footnote's sign, variation selectors."""
    if not isinstance(cell, str) or len(cell) > MAX_TEXT:
        return cell
    text = _UNSEEN.sub("", cell)
    if any(sign in text for sign in "[<*\\&"):
        for pattern, left in _MARKUP:
            text = pattern.sub(left, text)
        text = html.unescape(text)
    return _FOOTNOTE.sub("", " ".join(text.split())) or cell


def is_missing(cell: Any) -> bool:
    """Tell whether a cell says that there is no score."""
    return cell is None or cell != cell or (isinstance(cell, str) and cell.strip().lower() in MISSING)


def is_blank(cell: Any) -> bool:
    """Tell whether a cell has nothing in it."""
    return cell is None or (isinstance(cell, str) and not cell.strip())


def is_number(cell: Any) -> bool:
    """Tell whether a cell was meant as a number."""
    if isinstance(cell, bool):
        return False
    text = str(cell)
    if len(text) <= MAX_TEXT and (parts := WITH_ERROR.fullmatch(text)):
        text = parts["score"]
    return bool(NUMBER.match(text))


def read_grid(rows: Iterable[Cells], source: str) -> PublishedGrid:
    """The cells of a table without markup, its heads in one row."""
    grid = [(number, list(map(plain, row))) for number, row in enumerate(rows, 1)]
    grid = [(number, row) for number, row in grid if number == 1 or not all(map(is_blank, row))]
    if not grid:
        return PublishedGrid([], [])
    heads, rest = grid[0][1], grid[1:]
    width = len(heads)
    while width > 1 and is_blank(heads[width - 1]) and all(all(map(is_blank, row[width - 1 :])) for _, row in rest):
        width -= 1
    rest = [(number, row[:width] if all(map(is_blank, row[width:])) else row) for number, row in rest]
    heads = heads[:width]
    if is_second_head(heads, [row for _, row in rest]):
        heads, rest = _joined_heads(heads, rest[0][1]), rest[1:]
    _refuse_correlations(heads, [row for _, row in rest], source)
    return PublishedGrid(heads, rest)


def is_second_head(heads: Cells, rows: Sequence[Cells]) -> bool:
    """Tell whether the row below the heads has heads, too: no number in it, above columns of numbers.

    The heads above have gaps then, as a merged cell has, or the row does not name a model.
    """
    if len(rows) < 2 or len(rows[0]) != len(heads):
        return False
    columns = [
        number for number in range(len(heads)) if any(number < len(row) and is_number(row[number]) for row in rows[1:])
    ]
    below = rows[0]
    if any(is_number(cell) for cell in below) or not any(not is_missing(below[number]) for number in columns):
        return False
    texts = [str(cell) for cell in heads[1:] if not is_blank(cell)]
    names_no_model = is_blank(below[0]) or str(below[0]).strip().lower() in MODEL_HEADS
    return names_no_model or len(texts) < len(heads) - 1 or len(set(texts)) < len(texts)


def _joined_heads(above: Cells, below: Cells) -> Cells:
    """The heads of two rows as one; a gap above is the merged cell to its left."""
    joined: Cells = []
    group: Any = None
    for first, second in zip(above, below, strict=True):
        group = group if is_blank(first) else first
        parts = [str(part) for part in (group, second) if not is_blank(part)]
        joined.append(" ".join(dict.fromkeys(parts)))
    return joined


def _refuse_correlations(heads: Cells, rows: Sequence[Cells], source: str) -> None:
    """Refuse a matrix of correlations: as many rows as tasks, 1 on the diagonal, nothing beyond 1."""
    size = len(rows)
    if size < 3 or len(heads) - size not in (0, 1) or any(len(row) != len(heads) for row in rows):
        return
    cells = [row[len(heads) - size :] for row in rows]
    values = np.full((size, size), np.nan)
    for i, row in enumerate(cells):
        for j, cell in enumerate(row):
            if not is_missing(cell):
                try:
                    values[i, j] = float(cell)
                except (TypeError, ValueError):
                    return
    both = np.isfinite(values) & np.isfinite(values.T)
    is_symmetric = np.allclose(values[both], values.T[both], atol=0.011)
    if (np.diag(values) == 1).all() and is_symmetric and bool((np.abs(values[np.isfinite(values)]) <= 1).all()):
        raise AnalysisError(
            f"{source} is a matrix of correlations, not of scores of models on tasks; in Python "
            "`vcrgen.analysis.fit_correlations` fits a specification to one."
        )


def model_column(heads: Sequence[str], rows: Sequence[Mapping[str, Any]], named: str | None) -> str:
    """The column that names the models: as given, by its head, or the first that holds no scores."""
    if named is not None:
        return named
    by_head = {head.lower().replace("_", " "): head for head in reversed(heads)}
    for name in MODEL_HEADS:
        if (head := by_head.get(name)) is not None and (name == "model" or is_text(row[head] for row in rows)):
            return head
    if kind_of(heads[0], [row[heads[0]] for row in rows]) is None:
        return heads[0]
    return next((head for head in heads if kind_of(head, [row[head] for row in rows]) == TEXT), heads[0])


def names_tasks(head: str) -> bool:
    """Tell whether a column of texts names tasks, by its head."""
    return bool(TASK_HEADS.fullmatch(head.strip().replace("_", " ")))


def is_text(cells: Iterable[Any]) -> bool:
    """Tell whether a column of several models has no number at all, and some text, be it a note on one of them."""
    column = list(cells)
    present = [cell for cell in column if not is_missing(cell)]
    return bool(present) and len(column) > 1 and not any(map(is_number, present))


def kind_of(head: str, cells: Sequence[Any]) -> str | None:
    """The kind of a column that holds no scores; None for a task."""
    name = " ".join(re.sub(r"\([^()]*\)|\[[^\[\]]*\]|[^\w#$€£. %❤]", " ", head.replace("_", " ")).split())
    present = [str(cell).strip() for cell in cells if not is_missing(cell)]
    if cells and not present:
        return EMPTY
    for kind in KINDS:
        if (name and kind.heads.fullmatch(name)) or (kind.heads.fullmatch(head)):
            return kind.name
        if kind.cells is not None and present and all(kind.cells.fullmatch(text[:100]) for text in present):
            return kind.name
    return TEXT if is_text(cells) else None


def mean_columns(scores: Floats, decimals: Sequence[int]) -> list[int]:
    """The columns that are, to rounding, the mean or sum of all others or of those beside them.

    Args:
        scores: Models x columns, NaN for what is missing.
        decimals: To which the cells of each column are rounded.
    """
    found: list[int] = []
    left = list(range(scores.shape[1]))
    while len(left) > 2:
        halves = np.array([0.5 * 10.0 ** -decimals[column] for column in left])
        means = [place for place in range(len(left)) if _is_mean(scores[:, left], place, halves)]
        if not means:
            break
        found += [left[place] for place in means]
        left = [column for place, column in enumerate(left) if place not in means]
    return sorted(found)


def _is_mean(scores: Floats, place: int, halves: Floats) -> bool:
    """Tell whether a column is the mean or sum of all others, or of a block that begins or ends beside it."""
    others = [number for number in range(scores.shape[1]) if number != place]
    before, after = others[:place][::-1], others[place:]
    spread = float(np.nanstd(scores[:, place])) if np.isfinite(scores[:, place]).any() else 0.0
    blocks = [(others, [len(others)])] + [(block, list(range(2, len(block) + 1))) for block in (after, before)]
    for block, sizes in blocks:
        few = _fitting_sizes(scores[:_HEAD_ROWS], place, block, sizes, halves, spread)
        if few and _fitting_sizes(scores, place, block, few, halves, spread):
            return True
    return False


def _fitting_sizes(
    scores: Floats, place: int, block: list[int], sizes: list[int], halves: Floats, spread: float
) -> list[int]:
    """The numbers of columns from the start of a block whose mean or sum a column is."""
    if not block or not sizes or sizes[-1] < 2:
        return []
    sums = np.cumsum(scores[:, block], axis=1)  # NaN from the first missing score on
    target = scores[:, place]
    fitting = []
    for size in (size for size in sizes if size >= 2):
        rounding = float(halves[block[:size]].max())
        for total, tolerance in ((sums[:, size - 1] / size, rounding), (sums[:, size - 1], size * rounding)):
            tolerance = (tolerance + halves[place]) * 1.01 + 1e-9
            rows = np.isfinite(total) & np.isfinite(target)
            fits = np.abs(total[rows] - target[rows]) <= tolerance
            members = np.abs(scores[rows][:, block[:size]] - target[rows, None]).max(initial=0.0)
            if rows.sum() >= _FEWEST_ROWS and fits.mean() >= _MEAN_ROWS and spread > 10 * tolerance < members:
                fitting.append(size)
                break
    return fitting


def decimals_of(cells: Iterable[Any]) -> int:
    """To how many decimals the cells of a column are rounded."""
    longest = 0
    for cell in cells:
        _, point, digits = str(cell).partition(".")
        if point and (number := re.match(r"[0-9]+", digits)):
            longest = max(longest, len(number[0]))
    return min(longest, _MOST_DECIMALS)


def left_out_note(left_out: Mapping[str, str]) -> str:
    """The sentence that names the columns which were left out, with their kinds."""
    kinds: dict[str, list[str]] = {}
    for head, kind in left_out.items():
        kinds.setdefault(kind, []).append(head)
    named = "; ".join(f"{kind}: {', '.join(_ten(heads))}" for kind, heads in kinds.items())
    return f"Columns left out as no tasks ({named}); --keep COLUMN takes one in."


def _ten(heads: Sequence[str]) -> Iterator[str]:
    yield from heads[:10]
    if len(heads) > 10:
        yield f"and {pluralize(len(heads) - 10, 'other')}"


def fits(pattern: str, task: str) -> bool:
    """Match the name of a task with a pattern, in which ``*`` stands for any characters, or none."""
    first, *others = pattern.split("*")
    if not others:
        return task == pattern
    if not task.startswith(first) or len(task) < len(first) + len(others[-1]) or not task.endswith(others[-1]):
        return False
    start, end = len(first), len(task) - len(others[-1])
    for part in others[:-1]:  # the leftmost occurrence of each leaves most for the others
        if (position := task.find(part, start, end)) < 0:
            return False
        start = position + len(part)
    return True
