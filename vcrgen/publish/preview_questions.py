"""One HTML file that shows items of question sets: picture, leaf, and the question in every language with its options.

The page needs no script. Texts from the right to the left are set so, whatever the page's own language is.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from vcrgen.dataset.reader import Dataset
from vcrgen.dataset.tables import image_bytes
from vcrgen.errors import ConfigError, DatasetError, OutputError
from vcrgen.files import output_errors, write_text
from vcrgen.media import data_uri, media_type
from vcrgen.report.pages import Templates
from vcrgen.tasks.bloom import LETTERS, direction, item_of, languages_of

MAX_IMAGE_BYTES = 32 << 20


def write_question_preview(datasets: Sequence[Dataset], out: Path, *, limit: int = 48) -> int:
    """Write a page that shows items of some question sets; for maintainers, since it marks the right options.

    Args:
        datasets: Question sets, as :func:`vcrgen.tasks.opening.open_any` opens them.
        out: A new HTML file.
        limit: Items of each set, at most; they are spread evenly over it.

    Returns:
        Items on the page. One whose picture is neither PNG, JPEG nor WebP is left out, and the page says how many were.

    Raises:
        VcrgenError: ``limit`` is not positive, ``out`` cannot be written, or a set is damaged.
    """
    if limit < 1:
        raise ConfigError(f"The limit of the preview is {limit}; it has to be 1 or more.")
    if out.exists():
        raise OutputError(f"{out} exists; choose another file, or remove that one.")
    sets = [_described(dataset, limit) for dataset in datasets]
    page = Templates("vcrgen.publish", style="questions.css").render(
        "questions.html", title="Question sets by Bloom's levels", sets=sets
    )
    with output_errors(out):
        out.parent.mkdir(parents=True, exist_ok=True)
        write_text(out, page)
    return sum(len(each["shown"]) for each in sets)


def _described(dataset: Dataset, limit: int) -> dict[str, Any]:
    """All that the page shows of one set."""
    total, languages = dataset.count(), languages_of(dataset)
    chosen = [number * total // min(limit, total) for number in range(min(limit, total))]
    shown, optional = [], () if not dataset.is_hidden else tuple(dataset.kind.features)
    columns = ["question_id"] if dataset.is_hidden else None
    for place, row in dataset.rows(columns, optional=optional, positions=chosen):
        try:
            shown.append(_shown(row, languages))
        except LookupError:
            continue  # counted below
        except (TypeError, ValueError) as problem:
            raise DatasetError(f"{place}: {problem}; build or import the question set again.") from None
    manifest = dataset.manifest
    return {
        "name": dataset.folder.disk.resolve().name if dataset.folder.disk else dataset.name,
        "source": manifest.source if manifest else "a hidden set, whose right options only its maintainer knows",
        "signature": str(manifest.signature) if manifest else "",
        "total": total, "languages": languages, "shown": shown, "left_out": len(chosen) - len(shown),
    }  # fmt: skip


def _shown(row: Mapping[str, Any], languages: Sequence[str]) -> dict[str, Any]:
    """An item as the template takes it; a LookupError where it has no picture that a browser shows."""
    data = image_bytes(row.get("image")) or b""
    if media_type(data) is None or len(data) > MAX_IMAGE_BYTES:
        raise LookupError("no picture")
    item = item_of(row, languages)
    marks = {item.trap: "trap", item.answer: "right"}
    questions = [
        {
            "lang": lang, "direction": direction(lang), "text": question.text,
            "options": [
                {"letter": letter, "text": text, "mark": marks.get(number, "")}
                for number, (letter, text) in enumerate(zip(LETTERS, question.options, strict=True))
            ],
        }
        for lang, question in item.questions.items()
    ]  # fmt: skip
    return {
        "id": item.question_id,
        "path": item.path.split("/") if item.path else [],
        "questions": questions,
        "image": data_uri(data),
    }
