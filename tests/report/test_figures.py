"""Charts of documents as figures: SVG that stands alone, PNG and PDF."""

import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from vcrgen.analysis import charts as analysis_charts
from vcrgen.core.errors import ConfigError
from vcrgen.report import charts
from vcrgen.report.document import Chart, ChartRows, Document, Section
from vcrgen.report.figure_svg import drawing
from vcrgen.report.figures import check_figure, figures, write_figures
from vcrgen.report.lettering import outline

NAMES = ("OCR & text", "模型", "نموذج", "नमूना")
TREE = np.array([[0, 1, 0.2, 2], [2, 3, 0.3, 2], [4, 5, 0.9, 4]])
DRAWINGS = {
    "interval": charts.interval_bar(0.25, 0.2, 0.4),
    "difference": charts.difference_bar(0.1, -0.1, 0.2, reach=0.2),
    "dumbbell": charts.dumbbell(0.25, 0.75),
    "scatter": charts.scatter([(0.25, 0.5, 0.4, 0.6, "a & b")], [(0.25, "1 to 2")], other=((0.0, 0.0), (1.0, 1.0))),
    "radar": charts.radar(NAMES, [(f"s{n}", [0.1, 0.2, None, 0.4]) for n in range(8)], ring=0.25, text="t"),
    "strip": charts.strip([("a", 0.1), ("b", 0.9), ("c", None)], middle=0.25, text="t"),
    "heatmap": analysis_charts.heatmap(NAMES, np.linspace(-1, 1, 16).reshape(4, 4), range(4)),
    "tree": analysis_charts.dendrogram(NAMES, TREE, range(4)),
    "places": analysis_charts.places(NAMES, np.linspace(-1, 1, 8).reshape(4, 2), [1, 1, 2, 2]),
}
DOCUMENT = Document(
    title="Scores",
    sections=[
        Section(
            panels=[
                ChartRows(
                    title="Exact match, %",
                    axis=("0", "50", "100"),
                    groups=[("A", [("easy", DRAWINGS["interval"], "25.00")])],
                )
            ],
            charts=[Chart(title="Map", svg=DRAWINGS["heatmap"], note="Blue is above 0.")],
        )
    ],
)


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_drawing_needs_no_style_sheet_no_font_and_no_width_of_its_place(name: str) -> None:
    part = drawing(str(DRAWINGS[name]), 360)
    root = ElementTree.fromstring(f"<g>{''.join(part.elements)}</g>")
    assert part.width > 100 and part.height >= 16
    drawn = [element for element in root.iter() if element.tag != "g"]
    assert {element.tag for element in drawn} <= {"line", "rect", "circle", "path"}
    for element in drawn:
        assert {"fill", "stroke"} & element.attrib.keys() and "class" not in element.attrib
        assert not any("%" in value or "var(" in value for value in element.attrib.values())


def test_a_share_stands_where_the_axis_of_its_width_has_it() -> None:
    root = ElementTree.fromstring(f"<g>{''.join(drawing(str(DRAWINGS['dumbbell']), 400).elements)}</g>")
    first, second = root.findall("circle")
    assert (float(first.attrib["cx"]), float(second.attrib["cx"])) == (100, 300)


@pytest.mark.parametrize("name", NAMES)
def test_names_of_any_script_have_outlines(name: str) -> None:
    letters = outline(name, 12)
    assert letters.path.count("M") >= 2 and 12 < letters.width < 80
    twice = outline(name, 24)
    assert twice.width == pytest.approx(2 * letters.width)
    numbers = list(map(float, re.findall(r"-?[\d.]+", letters.path)))
    assert -13 < min(numbers) < 0 and max(numbers) < letters.width + 2  # upwards from the baseline is negative


def test_the_first_chart_has_the_name_and_the_others_numbers(tmp_path: Path) -> None:
    for suffix, head in ((".svg", b"<svg "), (".png", b"\x89PNG"), (".pdf", b"%PDF")):
        files = write_figures(DOCUMENT, tmp_path / f"fig{suffix}")
        assert [file.name for file in files] == [f"fig{suffix}", f"fig-2{suffix}"]
        assert all(file.read_bytes().startswith(head) for file in files)
    assert [figure.title for figure in figures(DOCUMENT)] == ["Map", "Exact match, %"]
    assert "<title>Map</title><desc>Blue is above 0.</desc>" in (tmp_path / "fig.svg").read_text("utf-8")


def test_what_cannot_be_written_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match=r"fig\.jpg: a figure is written as \.svg, \.png or \.pdf"):
        check_figure(Path("fig.jpg"))
    with pytest.raises(ConfigError, match=r"^Table has no chart, so nothing is written to fig\.svg"):
        write_figures(Document(title="Table", sections=[]), Path("fig.svg"))
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(ConfigError, match=r'^fig\.png: PNG needs vl-convert-python.*pip install "vl-convert-python>='):
        check_figure(Path("fig.png"))
    check_figure(Path("fig.svg"))
