"""The pages of raters: each is one HTML file with its pictures inside, which works without a network.

In the folder ``templates``, ``audit.html`` is the page, ``audit.css`` its look and ``audit.js`` what it does; the files
``item`` have the part of it that the page of a study shows as well: one item, and what is said of it. Here the items of
a rater are read and put into the page as JSON. The page shows the right option only after the rater's own answer; what
the rater says stays in the browser, and is exported as JSON Lines.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from vcrgen.bloom.audit.answers import MAX_NOTE
from vcrgen.bloom.audit.draw import Draw
from vcrgen.bloom.audit.texts import TEXTS
from vcrgen.dataset.reader import Dataset
from vcrgen.dataset.tables import image_bytes
from vcrgen.errors import DatasetError
from vcrgen.files import output_errors, write_text
from vcrgen.media import data_uri, media_type
from vcrgen.report.pages import Templates
from vcrgen.rng import rng_for, shuffled
from vcrgen.tasks.bloom import ChoiceQuestion, direction, item_of, languages_of

MAX_PICTURES = 24 << 20  # bytes of the pictures of one page, before they are written as text
MAX_PICTURE = 16 << 20  # of one picture; a larger one is not shown
MAX_ITEMS = 250  # of one page

Json = dict[str, Any]


def write_pages(
    dataset: Dataset, draw: Draw, folder: Path, raters: Sequence[int], *, most: int = MAX_PICTURES
) -> list[Path]:
    """Write the pages of some raters: ``rater-1.html``, or ``rater-1-part-1-of-3.html`` and so on.

    Args:
        dataset: The set of which the draw is.
        draw: Who looks at which items.
        folder: Where the pages go; those of an earlier run are replaced.
        raters: Numbers of raters, from 1.
        most: Bytes of the pictures of one page; more are shared out to several pages.

    Raises:
        DatasetError: The set is damaged.
        OutputError: A page cannot be written.
    """
    templates = Templates("vcrgen.bloom.audit", style="audit.css item.css", script="item.js audit.js")
    written = []
    with output_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for rater in raters:
            mine = {item.question_id for item in draw.items if rater in item.raters}
            pages = [_page(*page, rater, draw) for page in pages_of(dataset, mine, most=most)]
            for number, page in enumerate(pages, start=1):
                part = f"-part-{number}-of-{len(pages)}" if len(pages) > 1 else ""
                data = {
                    "audit": draw.name, "rater": rater, "name": f"rater-{rater}{part}", "part": number,
                    "parts": len(pages), "longest": MAX_NOTE, "texts": TEXTS, **page,
                }  # fmt: skip
                written.append(folder / f"{data['name']}.html")
                write_text(written[-1], templates.render("audit.html", title=f"Audit, rater {rater}", data=data))
    return written


def pages_of(
    dataset: Dataset, wanted: Collection[str], *, most: int = MAX_PICTURES
) -> Iterator[tuple[dict[str, str], list[Json]]]:
    """The pictures and items of some ids, in parts that are small enough for a page.

    Items stand in the parts as in the set, so that those about one picture share it.

    Raises:
        DatasetError: The set is damaged.
    """
    places = [at for at, (_, row) in enumerate(dataset.rows(["question_id"])) if row["question_id"] in wanted]
    languages = languages_of(dataset)
    pictures: dict[str, str] = {}
    items: list[Json] = []
    size = 0
    for place, row in dataset.rows(positions=places) if places else ():
        data = image_bytes(row.get("image")) or b""
        kind = media_type(data) if len(data) <= MAX_PICTURE else None
        name = hashlib.sha256(data).hexdigest()[:16] if kind else ""
        more = 0 if name in {"", *pictures} else len(data)
        if items and (size + more > most or len(items) == MAX_ITEMS):
            yield pictures, items
            pictures, items, size, more = {}, [], 0, len(data) if name else 0
        if more:
            pictures[name] = data_uri(data)
            size += more
        try:
            items.append({"picture": name, **_shown(row, languages)})
        except (TypeError, ValueError) as problem:
            raise DatasetError(f"{place}: {problem}; build or import the question set again.") from None
    if items:
        yield pictures, items


def _page(pictures: Mapping[str, str], items: Sequence[Json], rater: int, draw: Draw) -> Json:
    """What is on a page: its items in an order of its own."""
    rng = rng_for(int(draw.options["seed"]), "audit-order", f"{rater}:{items[0]['id']}")
    return {"pictures": dict(pictures), "items": shuffled(rng, items)}


def _shown(row: Mapping[str, Any], languages: Sequence[str]) -> Json:
    """An item as the page takes it."""
    item = item_of(row, languages)
    asked = asked_of(item.questions)
    return {"id": item.question_id, "path": item.path, "key": item.answer, "trap": item.trap, "questions": asked}


def asked_of(questions: Mapping[str, ChoiceQuestion]) -> list[Json]:
    """The question of an item in all its languages, as ``item.js`` takes it."""
    return [
        {"lang": lang, "dir": direction(lang), "text": question.text, "options": question.options}
        for lang, question in questions.items()
    ]
