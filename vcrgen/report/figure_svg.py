"""Drawings of pages as SVG that stands alone: no style sheet, no percentages, texts as outlines, for a white ground.

Style sheets of pages follow the light or the dark theme of a reader; the styles here are those of the light one.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree
from xml.sax.saxutils import escape, quoteattr

from vcrgen.report.lettering import outline

INK, QUIET, ACCENT, BAR, OTHER, LINE, WELL, PAPER = (
    "#23252a",
    "#5f5c54",
    "#1f5f74",
    "#6aa5b9",
    "#a34a12",
    "#dcd7cc",
    "#edeae2",
    "#ffffff",
)
_PALE = "#cedce0"  # 22 % of the accent on white
_CENTRE = 0.36  # of the font size: from the middle of letters down to their baseline
MARGIN = 12  # around a drawing that stands alone
Style = Mapping[str, str]


def _stroke(color: str, width: float = 1, dashes: str = "") -> Style:
    return {"stroke": color, "stroke-width": f"{width:g}", **({"stroke-dasharray": dashes} if dashes else {})}


_SERIES = {f"s{number}": {"fill": "none", **_stroke(OTHER if number % 2 else ACCENT, 2)} for number in range(8)}
_DASHES = {"s2": "7 4", "s3": "7 4", "s4": "2 3", "s5": "2 3", "s6": "9 3 2 3", "s7": "9 3 2 3"}
# Styles of elements by the class of the drawing, then by the element's tag or class; classes win.
STYLES: Mapping[str, Mapping[str, Style]] = {
    "iv": {
        "length": {"fill": _PALE},
        "interval": {"fill": BAR},
        "mean": _stroke(ACCENT, 2),
        "zero": _stroke(QUIET),
        "way": _stroke(QUIET, 2),
        "first": {"fill": ACCENT},
        "second": {"fill": PAPER, **_stroke(OTHER, 2.5)},
    },
    "sc": {
        "grid": _stroke(LINE),
        "other": _stroke(OTHER, 2, "5 4"),
        "mean": _stroke(BAR, 3),
        "circle": {"fill": ACCENT, **_stroke(PAPER, 1.5)},
        "text": {"fill": QUIET, "font-size": "12"},
    },
    "st": {"plus": {"fill": ACCENT}, "minus": {"fill": OTHER}, "none": {"fill": "none", **_stroke(LINE)}},
    "rd": {
        "grid": {"fill": "none", **_stroke(LINE)},
        "ring": {"fill": "none", **_stroke(QUIET, 1, "2 4")},
        "text": {"fill": INK, "font-size": "13"},
        **{
            name: {**style, **({"stroke-dasharray": _DASHES[name]} if name in _DASHES else {})}
            for name, style in _SERIES.items()
        },
    },
    "drawing": {
        "text": {"fill": INK, "font-size": "12"},
        "in": {"font-size": "10", "text-anchor": "middle"},
        "value": {"font-size": "11", "text-anchor": "middle"},
        "on": {"font-size": "10", "text-anchor": "middle", "fill": PAPER},
        "plus": {"fill": BAR},
        "minus": {"fill": OTHER},
        "branch": {"fill": "none", **_stroke(ACCENT, 1.5)},
        "arrow": {"fill": "none", **_stroke(ACCENT, 1.5)},
        "leader": _stroke(BAR),
        "rule": _stroke(LINE),
        "dot": {"fill": ACCENT},
        "construct": {"fill": WELL, **_stroke(ACCENT)},
        "ground": {"fill": PAPER},
    },
}
_HORIZONTAL = frozenset(("x", "x1", "x2", "cx", "width"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Elements of an SVG, and the room that they take from (0, 0) on, in pixels."""

    elements: Sequence[str]
    width: float
    height: float

    def at(self, x: float, y: float) -> str:
        """The part at a place of another one."""
        return f'<g transform="translate({x:g} {y:g})">{"".join(self.elements)}</g>'


def whole(part: Part, title: str, note: str = "") -> str:
    """A part as an SVG file with a title that screen readers say, and a sentence on how to read it."""
    width, height = part.width + 2 * MARGIN, part.height + 2 * MARGIN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="{width:g}" '
        f'height="{height:g}" viewBox="0 0 {width:g} {height:g}" role="img" aria-label={quoteattr(title)}>'
        f"<title>{escape(title)}</title>{f'<desc>{escape(note)}</desc>' if note else ''}"
        f'<rect width="{width:g}" height="{height:g}" fill="{PAPER}"/>'
        f"{part.at(MARGIN, MARGIN)}</svg>\n"
    )


def text(
    words: str, x: float, y: float, *, size: float = 12, anchor: str = "start", fill: str = INK, bold: bool = False
) -> str:
    """A line of text as outlines whose baseline is at y."""
    path, width = outline(words, size, bold=bold)
    left = x - {"start": 0.0, "middle": width / 2, "end": width}[anchor]
    return f'<path fill="{fill}" transform="translate({left:.2f} {y:.2f})" d="{path}"/>' if path else ""


def drawing(svg: str, width: float) -> Part:
    """A drawing of `vcrgen.report.charts`, or of an analysis, as a part.

    Args:
        svg: The drawing, perhaps in an element with its axis.
        width: Its width in pixels, where it has no size of its own.
    """
    root = ElementTree.fromstring(svg)  # noqa: S314 - our own drawing
    root = root if root.tag == "svg" else next(root.iter("svg"))
    kinds = root.get("class", "").split()
    if box := root.get("viewBox"):
        width, height = map(float, box.split()[2:])
    else:
        height = {"iv": 16, "st": 18, "sc": 220}[kinds[0]]
    elements = list(_drawn(root, STYLES[kinds[0]], width))
    if kinds[0] == "iv":
        elements.insert(0, f'<line x2="{width:g}" y1="8" y2="8" stroke="{LINE}"/>')
    return Part(elements=elements, width=width, height=height)


def _drawn(parent: ElementTree.Element, styles: Mapping[str, Style], width: float) -> Iterator[str]:
    """Yield the elements of a drawing whose whole width is given."""
    is_central = styles is STYLES["drawing"]
    for element in parent:
        if element.tag == "g":
            yield from _drawn(element, styles, width)
            continue
        if element.tag == "title":
            continue
        attributes = dict(styles.get(element.tag, {}))
        for name in element.get("class", "").split():
            attributes |= styles.get(name, {})
        attributes |= {name: value for name, value in element.attrib.items() if name != "class"}
        for name in _HORIZONTAL & attributes.keys():
            attributes[name] = _pixels(attributes[name], width)
        yield (
            _lettered(element.text or "", attributes, is_central)
            if element.tag == "text"
            else _element(element.tag, attributes)
        )


def _lettered(words: str, attributes: Mapping[str, str], is_central: bool) -> str:
    size, x, y = float(attributes["font-size"]), float(attributes["x"]), float(attributes["y"])
    drawn = text(
        words,
        x,
        y + _CENTRE * size if is_central else y,
        size=size,
        anchor=attributes.get("text-anchor", "start"),
        fill=attributes["fill"],
    )
    turn = attributes.get("transform")
    return f'<g transform="{turn}">{drawn}</g>' if turn else drawn


def _element(tag: str, attributes: Mapping[str, str]) -> str:
    return f"<{tag} {' '.join(f'{name}={quoteattr(value)}' for name, value in attributes.items())}/>"


def _pixels(value: str, width: float) -> str:
    return f"{float(value[:-1]) / 100 * width:.2f}" if value.endswith("%") else value
