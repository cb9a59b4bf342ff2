"""The preview of multiple-choice benchmarks (MCQ): image, category, and the question with its options per language.

The page needs no script. Texts of languages that are written from right to left are set so.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from vcrgen.core.errors import DatasetError
from vcrgen.core.media import data_uri, media_type
from vcrgen.data.reader import Dataset
from vcrgen.data.tables import image_bytes
from vcrgen.data.tasks.bloom import LETTERS, direction, item_of, languages_of
from vcrgen.report.templating import Templates

MAX_IMAGE_BYTES = 32 << 20


def mcq_page(datasets: Sequence[Dataset], limit: int) -> tuple[str, int]:
    """Render MCQ benchmarks, and count the items on the page; it marks the keys, so it is for maintainers."""
    benchmarks = [_describe(dataset, limit) for dataset in datasets]
    page = Templates("vcrgen.view", style="preview_mcq.css").render(
        "preview_mcq.html", title="Multiple-choice benchmarks by Bloom's levels", benchmarks=benchmarks
    )
    return page, sum(len(benchmark["items"]) for benchmark in benchmarks)


def _describe(dataset: Dataset, limit: int) -> dict[str, Any]:
    """Return all that the page shows of one benchmark."""
    total, languages = dataset.count(), languages_of(dataset)
    positions = [number * total // min(limit, total) for number in range(min(limit, total))]
    items, optional = [], () if not dataset.is_hidden else tuple(dataset.kind.features)
    columns = ["question_id"] if dataset.is_hidden else None
    for place, row in dataset.rows(columns, optional=optional, positions=positions):
        try:
            items.append(_item(row, languages))
        except LookupError:
            continue  # counted below
        except (TypeError, ValueError) as problem:
            raise DatasetError(f"{place}: {problem}; build or import the benchmark again.") from None
    manifest = dataset.manifest
    return {
        "name": dataset.folder.local_path.resolve().name if dataset.folder.local_path else dataset.name,
        "source": manifest.source if manifest else "a hidden benchmark, whose keys only its maintainer has",
        "signature": str(manifest.signature) if manifest else "",
        "total": total,
        "languages": languages,
        "items": items,
        "left_out": len(positions) - len(items),
    }


def _item(row: Mapping[str, Any], languages: Sequence[str]) -> dict[str, Any]:
    """Return an item for the template; a LookupError if it has no image that a browser shows."""
    data = image_bytes(row.get("image")) or b""
    if media_type(data) is None or len(data) > MAX_IMAGE_BYTES:
        raise LookupError("no image")
    item = item_of(row, languages)
    marks = {item.trap: "trap", item.answer: "key"}
    questions = [
        {
            "lang": lang,
            "direction": direction(lang),
            "text": question.text,
            "options": [
                {"letter": letter, "text": text, "mark": marks.get(number, "")}
                for number, (letter, text) in enumerate(zip(LETTERS, question.options, strict=False))
            ],
        }
        for lang, question in item.questions.items()
    ]
    return {
        "id": item.question_id,
        "path": item.path.split("/") if item.path else [],
        "questions": questions,
        "image": data_uri(data),
    }
