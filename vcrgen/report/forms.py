"""A table as text: Markdown and LaTeX for people, with rounded numbers, and CSV for programs, with numbers as they are.

A title is not written: it is a heading in one document and a caption in another.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from vcrgen.report.escape import escape_formula, escape_latex, escape_markdown
from vcrgen.report.table import Number, Percent, PValue, Table, TableCell, show

# Small, and scaled where it is wider than the column or the page.
_FITTED = r"""{\footnotesize\setlength{\tabcolsep}{3pt}%
\noindent\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"""

LONG_ROWS = 40  # from which on a table has a page for itself, or several
LONG_TEXT, LONG_SHARE = 16, 0.16  # letters of a text that is broken into lines, and the share of the page for it
# Letters besides ASCII that pdfLaTeX sets in its own fonts, with no package.
PDFLATEX = frozenset(
    "¡¢£¤¥¦§¨©ª¬®¯°±²³´µ¶·¸¹º¼½¾¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖ×ØÙÚÛÜÝßàáâãäåæçèéêëìíîïñòóôõö÷øùúûüýÿ"
    "ĀāĂăĆćČčĎďĒēĖėĚěĞğĪīİıĹĺĻļĽľŁłŃńŇňŌōŐőŒœŔŕŘřŚśŞşŠšŢţŤťŪūŮůŰűŹźŻżŽžȘșȚț–—‘’“”†‡•…‰€™"
)
MAX_LACKING = 20  # letters that a first line names
LETTER_SHARE = 0.011  # of a small letter; a capital and a minus have two


def as_markdown(table: Table) -> str:
    """A table of GitHub's Markdown, with its notes below."""
    lines = [[escape_markdown(cell) for cell in line] for line in (table.heads, *table.texts())]
    lines.insert(1, ["---"] * table.labels + ["---:"] * (len(table.heads) - table.labels))
    text = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    notes = ((escape_markdown(note), f" <{url}>" if url else "") for note, url in table.notes)
    below = "\n".join(f"{number}. {note}{link}" for number, (note, link) in enumerate(notes, 1))
    return f"{text}\n\n{below}" if below else text


def as_latex(table: Table) -> str:
    """A ``tabular`` for the package booktabs, the best cells in bold, with the notes below."""
    lines = [
        rf"\begin{{tabular}}{{{'l' * table.labels}{'r' * (len(table.heads) - table.labels)}}}",
        r"\toprule",
        _latex_row([escape_latex(head) for head in table.heads]),
        r"\midrule",
        *map(_latex_row, _latex_cells(table)),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    for number, note in enumerate(table.notes, 1):
        lines.append(rf"\par\footnotesize {number}. {escape_latex(' '.join(note))}")
    return "\n".join(lines)


def _latex_cells(table: Table) -> list[list[str]]:
    """The cells as LaTeX, the best ones in bold."""
    rows = [[escape_latex(cell) for cell in row] for row in table.texts()]
    for line, column in table.best_cells():
        rows[line][column] = rf"\textbf{{{rows[line][column]}}}"
    return rows


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperTable:
    """A table for a paper: a float with caption and label, its columns in groups, its rows in blocks.

    Example: a group for each mode, with the columns EM and Jaccard; a block for each view, with a row for each model.
    """

    caption: str
    label: str
    groups: Sequence[tuple[str, int]]  # names and numbers of the columns behind the labels
    blocks: Sequence[Table]  # with the same heads; their titles stand above the rows where there are several


def as_paper_latex(table: PaperTable) -> str:
    """The float for the packages booktabs and graphicx; of more rows than `LONG_ROWS` there are several."""
    rows = [(block.title, cells) for block in table.blocks for cells in _latex_cells(block)]
    parts = [rows[start : start + LONG_ROWS] for start in range(0, len(rows), LONG_ROWS)]
    return "\n".join(_paper_part(table, part, number) for number, part in enumerate(parts))


def _paper_part(table: PaperTable, rows: Sequence[tuple[str, Sequence[str]]], number: int) -> str:
    heads, labels = table.blocks[0].heads, table.blocks[0].labels
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escape_latex(table.caption if number == 0 else 'Continued.')}}}",
        *([rf"\label{{{table.label}}}"] if number == 0 else []),
        _FITTED,
        rf"\begin{{tabular}}{{{'l' * labels}{'r' * (len(heads) - labels)}}}",
        r"\toprule",
        *_group_heads(table.groups, labels),
        _latex_row([escape_latex(head) for head in heads]),
    ]
    for title, block in groupby(rows, key=lambda row: row[0]):
        lines.append(r"\midrule")
        if len(table.blocks) > 1:
            lines.append(rf"\multicolumn{{{len(heads)}}}{{l}}{{\textit{{{escape_latex(title)}}}}} \\")
        lines += [_latex_row(cells) for _, cells in block]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}}}", r"\end{table}"])


def _group_heads(groups: Sequence[tuple[str, int]], labels: int) -> Iterator[str]:
    """The row of names above those of the columns, with rules below; none for a single group."""
    if len(groups) < 2:
        return
    yield _latex_row(
        [*([""] * labels), *(rf"\multicolumn{{{count}}}{{c}}{{{escape_latex(name)}}}" for name, count in groups)]
    )
    rules, start = [], labels + 1
    for _, count in groups:
        rules.append(rf"\cmidrule(lr){{{start}-{start + count - 1}}}")
        start += count
    yield "".join(rules)


def latex_head(lines: Iterable[str], packages: str) -> str:
    """The first line of a file: packages that it needs, and XeLaTeX where pdfLaTeX cannot set a letter of it.

    Args:
        lines: What follows; comments may hold any letter.
        packages: Their names, by commas.
    """
    letters = {letter for line in lines if not line.startswith("%") for letter in line if not letter.isascii()}
    if lacking := "".join(sorted(letters - PDFLATEX))[:MAX_LACKING]:
        return rf"% needs XeLaTeX, \usepackage{{{packages},fontspec}} and a \setmainfont that has {lacking}"
    return rf"% needs \usepackage{{{packages}}}"


def as_long_latex(table: Table) -> str:
    """The same over several pages, in parts as `as_narrow_latex` has them; columns of long texts have lines.

    Needs the packages longtable and array, too.
    """
    return "\n".join(map(_long_part, table.broken()))


def _long_part(table: Table) -> str:
    texts = table.texts()
    kinds = [
        _long_column(head, max(map(len, column)), label=number < table.labels)
        for number, (head, column) in enumerate(zip(table.heads, zip(*texts, strict=True), strict=True))
    ]
    tabular = as_latex(table).splitlines()
    head, body = tabular[2], tabular[4 : 4 + len(texts)]
    notes = tabular[6 + len(texts) :]
    return "\n".join(
        [
            r"{\scriptsize\setlength{\tabcolsep}{3pt}\setlength{\LTpre}{0pt}%",
            rf"\begin{{longtable}}{{{''.join(kinds)}}}",
            r"\toprule",
            head,
            r"\midrule",
            r"\endhead",
            r"\bottomrule",
            r"\endfoot",
            *body,
            r"\end{longtable}",
            *notes,
            "}",
        ]
    )


def _long_column(head: str, letters: int, *, label: bool) -> str:
    """The kind of a column: of the width of its cells, in which a longer head has several lines."""
    if letters > LONG_TEXT or (len(head) > letters and " " in head):
        side = "raggedright" if label else "raggedleft"
        share = LONG_SHARE if letters > LONG_TEXT else (1 + max(letters, *map(len, head.split()))) * LETTER_SHARE
        return rf">{{\{side}\arraybackslash}}p{{{share:.3f}\linewidth}}"
    return "l" if label else "r"


def as_narrow_latex(table: Table) -> str:
    """The same in parts that are as wide as a column at most: small, broken where they may be, and scaled if need be.

    Needs the package graphicx, too.
    """
    return "\n\\par\\smallskip\n".join(f"{_FITTED}\n{as_latex(part)}}}}}" for part in table.broken())


def as_csv(table: Table) -> str:
    """Lines of CSV: texts that no spreadsheet runs as a formula, numbers that are not rounded, nothing for None.

    Percentages are written from 0 to 100.
    """
    out = io.StringIO()
    all_quoted = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    few_quoted = csv.writer(out, lineterminator="\n")
    for row in (table.heads, *table.rows):
        cells = [_bare(cell) for cell in row]
        # Python before 3.13 leaves a text with a carriage return bare, where other readers see the end of a line.
        returns = any(isinstance(cell, str) and "\r" in cell for cell in cells)
        (all_quoted if returns else few_quoted).writerow(cells)
    return out.getvalue()


def _bare(cell: TableCell) -> str | float | None:
    if isinstance(cell, Number | Percent | PValue):
        return cell.value
    return cell if cell is None or isinstance(cell, int) else escape_formula(show(cell))


def _latex_row(cells: Sequence[str]) -> str:
    # The end of a line and \midrule take a star or a bracket that follows for a setting of theirs.
    guard = "{}" if cells[0][:1] in ("[", "*") else ""
    return f"{guard}{' & '.join(cells)} \\\\"
