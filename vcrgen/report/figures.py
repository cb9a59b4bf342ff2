"""The charts of a document as figures for papers: SVG, or PNG and PDF by vl-convert."""

import importlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from vcrgen.core.errors import ConfigError
from vcrgen.core.extras import needs_extra
from vcrgen.core.files import atomic_path, output_errors
from vcrgen.report.document import Chart, ChartRows, Document
from vcrgen.report.figure_svg import QUIET, Part, drawing, text, whole
from vcrgen.report.lettering import outline

SUFFIXES = (".svg", ".png", ".pdf")
SCALE = 3  # pixels of a PNG for one of the SVG: 288 to the inch
_WIDTH = 360  # of drawings that have no size of their own
_TITLE, _LINE, _GAP = 24, 22, 10  # heights, and the space between columns
_AXIS_OF_SHARES = ((190, "0"), (100, "50"), (10, "100"))  # height of a text in `scatter`


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart as an SVG file."""

    title: str
    svg: str


def check_figure(file: Path) -> None:
    """Check before anything is computed that a figure of this name can be written.

    Raises:
        ConfigError: Its ending is unknown, or the package that writes it is missing.
    """
    if file.suffix.lower() not in SUFFIXES:
        raise ConfigError(f"{file}: a figure is written as .svg, .png or .pdf; choose such a name.")
    if file.suffix.lower() != ".svg":
        _converter(file)


def figures(document: Document) -> list[Figure]:
    """The charts of a document in its order, each with its title."""
    return [
        Figure(
            chart.title,
            whole(_rows(chart) if isinstance(chart, ChartRows) else _chart(chart), chart.title, chart.note),
        )
        for section in document.sections
        for chart in chain(section.charts, section.panels)
    ]


def write_figures(document: Document, file: Path) -> list[Path]:
    """Write the charts of a document: the first as ``NAME.svg``, the others as ``NAME-2.svg`` and so on.

    Raises:
        ConfigError: The document has no chart, or the file cannot be written as its name says.
    """
    drawn = figures(document)
    if not drawn:
        raise ConfigError(f"{document.title} has no chart, so nothing is written to {file}; leave --figure out.")
    files = [file, *(file.with_stem(f"{file.stem}-{number}") for number in range(2, len(drawn) + 1))]
    for target, figure in zip(files, drawn, strict=True):
        write_figure(figure.svg, target)
    return files


def write_figure(svg: str, file: Path) -> None:
    """Write an SVG as what the ending of the file says.

    Raises:
        ConfigError: The ending is unknown, or the package that writes it is missing.
    """
    check_figure(file)
    with output_errors(file), atomic_path(file) as temporary:
        temporary.write_bytes(_converted(svg, file))


def _converted(svg: str, file: Path) -> bytes:
    if file.suffix.lower() == ".svg":
        return svg.encode()
    converter = _converter(file)
    data = converter.svg_to_pdf(svg) if file.suffix.lower() == ".pdf" else converter.svg_to_png(svg, scale=SCALE)
    return bytes(data)


def _converter(file: Path) -> Any:
    try:
        return importlib.import_module("vl_convert")
    except ImportError:
        raise ConfigError(needs_extra(f"{file}: {file.suffix[1:].upper()}", "figures")) from None


def _chart(chart: Chart) -> Part:
    """A chart below its title, with the axis that a page draws beside a scatter."""
    part = drawing(str(chart.svg), _WIDTH)
    elements, left = [text(chart.title, 0, 12, size=13, bold=True)], 0
    if 'class="sc"' in chart.svg:
        left = 30
        elements += [text(share, left - 8, _TITLE + y + 4, anchor="end", fill=QUIET) for y, share in _AXIS_OF_SHARES]
    elements.append(part.at(left, _TITLE))
    width = max(left + part.width, outline(chart.title, 13, bold=True).width)
    return Part(elements=elements, width=width, height=_TITLE + part.height)


def _rows(chart: ChartRows) -> Part:
    """Rows of drawings between their names and numbers, below one axis."""
    lines = [line for _, group in chart.groups for line in group]
    labels = max((outline(name, 12).width for name, _, _ in lines), default=0) + _GAP
    numbers = max((outline(number, 12).width for _, _, number in lines), default=0) + _GAP
    elements, y = [text(chart.title, 0, 12, size=13, bold=True)], float(_TITLE)
    if any(chart.axis):
        elements += list(_axis(chart.axis, labels, y + 8))
        y += _LINE - 4
    for group, members in chart.groups:
        if group:
            elements.append(text(group, 0, y + 14, bold=True))
            y += _LINE
        for name, svg, number in members:
            part = drawing(str(svg), _WIDTH)
            elements.append(text(name, 0, y + 12.5))
            elements.append(part.at(labels, y))
            elements.append(text(number, labels + _WIDTH + numbers, y + 12.5, anchor="end"))
            y += _LINE
    widths = [labels + _WIDTH + numbers, outline(chart.title, 13, bold=True).width]
    widths += [outline(group, 12, bold=True).width for group, _ in chart.groups]
    return Part(elements=elements, width=max(widths), height=y)


def _axis(texts: Sequence[str], left: float, y: float) -> Iterator[str]:
    places = [left + _WIDTH * number / (len(texts) - 1) for number in range(len(texts))]
    for x, words in zip(places, texts, strict=True):
        yield text(words, x, y, size=11, anchor="middle", fill=QUIET)
