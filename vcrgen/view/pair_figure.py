"""One pair with its cover, its answer and the outputs of models as a figure, as papers show them."""

from collections.abc import Iterator, Sequence
from typing import Any

from vcrgen.core.errors import ConfigError
from vcrgen.data.tasks.bloom import LETTERS
from vcrgen.report.figure_svg import QUIET, Part, text, whole
from vcrgen.report.paragraph import paragraph
from vcrgen.view.query import Query
from vcrgen.view.view_data import ViewData

PICTURE, WORDS, GAP = 300, 380, 22  # widths of the columns in pixels, and the space between them
# What is expected; in outputs what is exact, and what is nearest to a span that is not.
GROUNDS = {"masked": "#ffe8a3", "exact": "#c5ded6", "near": "#e7d1c3"}
Json = dict[str, Any]


def pair_figure(data: ViewData, query: Query) -> str:
    """An SVG of the first item that a query finds, in one mode and one view.

    Raises:
        ConfigError: There is no such item, or its answers are secret.
    """
    if data.secret:
        raise ConfigError(f"A figure of {data.name} would show answers that are secret; draw one of a public set.")
    data.score()
    query = data.complete(query)
    items = data.page(query, size=1)["items"]
    if not items:
        raise ConfigError("The filter finds no item, so there is no figure; leave parts of it out.")
    return draw_item(items[0], data.facts()["runs"], query.mode, query.view)


def draw_item(item: Json, titles: Sequence[str], mode: str, view: str) -> str:
    """An SVG of one item as `ViewData.page` gives it.

    Args:
        titles: The name of each model, in the order of the files of outputs.
        mode: The mode, or the language of a question.
    """
    card = item["card"] or {}
    pictures = Part(elements=(), width=0, height=0)
    words = list(_expected(card, mode))
    words += [part for result in item["results"] if result["mode"] == mode for part in _output(result, titles, view)]
    if images := list(_images(card, mode)):
        pictures = _pictures(images)
    column = _stacked(words)
    left = pictures.width + GAP if pictures.width else 0
    elements = [pictures.at(0, 0), column.at(left, 0)]
    size = Part(elements=elements, width=left + column.width, height=max(pictures.height, column.height))
    return whole(size, f"{item['id']}, {mode}")


def _images(card: Json, mode: str) -> Iterator[Json]:
    """The picture and the strip below it; the whole image of a hidden set; the picture of a question."""
    shown = card.get("views", {}).get(mode, {})
    if "whole" in shown:
        yield shown["whole"]
    elif "strip" in shown:
        yield from (shown.get("image", card["image"]), shown["strip"])
    elif card.get("image"):
        yield card["image"]


def _pictures(images: Sequence[Json]) -> Part:
    elements, y = [], 0.0
    for image in images:
        height = PICTURE * image["height"] / image["width"]
        place = f'y="{y:.2f}" width="{PICTURE}" height="{height:.2f}"'
        elements.append(f'<image {place} xlink:href="data:image/{image["kind"]};base64,{image["data"]}"/>')
        y += height
    return Part(elements=elements, width=PICTURE, height=y)


def _expected(card: Json, mode: str) -> Iterator[Part]:
    """The caption with its masked parts, or the question with its options and the right one."""
    if caption := card.get("views", {}).get(mode, {}).get("caption"):
        yield _head("Expected")
        yield paragraph([(words, "masked" if is_masked else "") for words, is_masked in caption], WORDS, GROUNDS)
    elif question := card.get("questions", {}).get(mode):
        yield _head("Question")
        yield paragraph([(question["text"], "")], WORDS, GROUNDS)
        for number, option in enumerate(question["options"]):
            yield paragraph(
                [(f"{LETTERS[number]}. ", ""), (option, "masked" * (number == card["key"]))], WORDS, GROUNDS
            )


def _output(result: Json, titles: Sequence[str], view: str) -> Iterator[Part]:
    if result["view"] != view:
        return
    names = ("near" if span["group"] == "near" else span["outcome"] for span in result["spans"])
    outcomes = ", ".join(name.replace("_", " ") for name in names)
    yield _head(titles[result["run"]], outcomes)
    for response in result["responses"]:
        pieces = [(words, mark) for words, mark in response["pieces"]]
        yield paragraph([*pieces, ("…", "")] if response["cut"] else pieces or [("(no output)", "")], WORDS, GROUNDS)


def _head(title: str, note: str = "") -> Part:
    drawn = [text(title, 0, 13, bold=True), text(note, WORDS, 13, size=11, anchor="end", fill=QUIET)]
    return Part(elements=[part for part in drawn if part], width=WORDS, height=20)


def _stacked(parts: Sequence[Part]) -> Part:
    """Parts below each other, a head with some space above it."""
    elements, y = [], 0.0
    for number, part in enumerate(parts):
        y += 8 if number and part.height == 20 else 0
        elements.append(part.at(0, y))
        y += part.height
    return Part(elements=elements, width=WORDS, height=y)
