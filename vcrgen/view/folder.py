"""A view as a folder of files: a page that opens without a server, with items in scripts and pictures beside it."""

import base64
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from vcrgen.core.errors import OutputError
from vcrgen.core.files import write_text
from vcrgen.core.folder import new_folder
from vcrgen.report.escape import script_json
from vcrgen.view.page import write_page
from vcrgen.view.pairs import Json
from vcrgen.view.query import Query
from vcrgen.view.view_data import ViewData

MARK = ".vcrgen-view"  # of a folder that may be replaced
CHUNK = 200  # items of a script
MAX_ITEMS = 2000
_READ = 50  # items in memory at a time


def write_view(data: ViewData, out: Path, query: Query, *, max_items: int | None = MAX_ITEMS) -> int:
    """Write the items that a query finds, in its order.

    Args:
        out: A new folder, or one with an earlier view.
        max_items: Of those found the first ones are written; None for all.

    Returns:
        The number of items.

    Raises:
        OutputError: The answers are secret, or the folder cannot be written.
        VcrgenError: A filter cannot be used.
    """
    with new_folder(out, mark=MARK) as folder:
        count = fill_folder(data, folder, query, max_items=max_items)
        write_text(folder / MARK, "")
    return count


def fill_folder(data: ViewData, folder: Path, query: Query, *, max_items: int | None) -> int:
    """Write a view into an empty folder; see `write_view`."""
    if data.secret:
        raise OutputError("The answers of a hidden set go into no folder that could be passed on; leave --out out.")
    data.score()
    query = data.complete(query)
    selection = data.index.select(query.selection, max_items or data.index.total)
    for name in ("data", "images"):
        (folder / name).mkdir(parents=True)
    for start in range(0, len(selection.places), CHUNK):
        places = selection.places[start : start + CHUNK]
        items = list(_items(data, folder, places, start))
        part = start // CHUNK
        write_text(folder / "data" / f"{part:04}.js", f"vcrgenItems({part},{script_json(items)});\n")
    facts = {**data.facts(), "mode": query.mode, "total": len(selection.places), "whole": data.index.total}
    facts |= {"about": data.about(), "chunk": CHUNK}
    write_text(folder / "index.html", write_page(facts, served=False))
    return len(selection.places)


def _items(data: ViewData, folder: Path, places: Sequence[int], first: int) -> Iterator[Json]:
    """Items with their pictures written to files, numbered in the order of the view."""
    for start in range(0, len(places), _READ):
        for number, item in enumerate(data.cards(places[start : start + _READ]), start=first + start):
            item["place"] = number
            item["texts"] = [] if item["card"] is None else _captions(item["card"])
            _write_pictures(item, folder, f"{number:06}")
            yield item


def _captions(card: Json) -> list[str]:
    """The texts of a pair in which a search looks."""
    captions = ["".join(text for text, _ in view.get("caption", ())) for view in card.get("views", {}).values()]
    return [card.get("sourceId", ""), *captions[:1]]


def _write_pictures(value: Any, folder: Path, stem: str) -> None:
    """Put the pictures of a value into files, named by a number and by where they stand in it."""
    if isinstance(value, dict):
        if isinstance(data := value.pop("data", None), str):
            value["file"] = f"images/{stem}.{value['kind']}"
            (folder / value["file"]).write_bytes(base64.b64decode(data))
        for number, part in enumerate(value.values()):
            _write_pictures(part, folder, f"{stem}-{number}")
    elif isinstance(value, list):
        for number, part in enumerate(value):
            _write_pictures(part, folder, f"{stem}-{number}")
