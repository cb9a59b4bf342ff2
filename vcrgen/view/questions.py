"""Items of multiple-choice benchmarks (MCQ) as JSON for the page: picture, category, question and options."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

from vcrgen.core.errors import DatasetError
from vcrgen.data.reader import Dataset
from vcrgen.data.tasks.bloom import ChoiceItem, ChoiceQuestion, direction, item_of, languages_of
from vcrgen.view.index import IndexedItem, IndexedRow
from vcrgen.view.pairs import Json, image_json


class Questions:
    """The items of a benchmark, or of the public part of a hidden one, which has no keys. A mode is a language."""

    task = "mcq"

    def __init__(self, data: Dataset) -> None:
        self.data = data
        self.modes = languages_of(data)
        self.is_public_part = data.is_hidden

    def items(self) -> Iterator[IndexedItem]:
        """The items for the index.

        Raises:
            DatasetError: A row has values that vcrgen does not write.
        """
        for split, item in self._items():
            texts = [text for question in item.questions.values() for text in (question.text, *question.options)]
            length = len(next(iter(item.questions.values())).text) if item.questions else 0
            text = "\n".join((item.question_id, item.path, *texts))
            yield IndexedItem(item.question_id, "", split, length, 1, text)

    def rows(self, limit: int | None = None) -> Iterator[IndexedRow]:
        """The first rows of every language for the index: of an item the same in all."""
        for number, (_, item) in enumerate(islice(self._items(), limit)):
            for lang in item.questions:
                yield IndexedRow(item.question_id, lang, number, None)

    def cards(self, rows: Mapping[str, Mapping[str, int]]) -> dict[str, Json]:
        """Picture and questions of some items by id; ``rows`` has of each language the row of each item."""
        numbers = {number for of_language in rows.values() for number in of_language.values()}
        columns = ["question_id"] if self.data.is_hidden else None
        optional = tuple(self.data.kind.features) if self.data.is_hidden else ()
        shown = self.data.rows(columns, optional=optional, positions=sorted(numbers)) if numbers else ()
        cards = (self._card(row) for _, row in shown)
        return {card["id"]: card for card in cards if card}

    def about(self) -> Json:
        """What the head of the page says of the benchmark."""
        manifest = self.data.manifest
        signature = manifest and {"short": manifest.signature.short, "facts": list(manifest.signature.facts.items())}
        return {"source": manifest.source if manifest else None, "signature": signature, "leftOut": 0}

    def _card(self, row: Mapping[str, Any]) -> Json | None:
        try:
            item = item_of(row, self.modes)
        except (TypeError, ValueError):
            return None  # which the index has refused
        try:
            image = image_json(row.get("image"))
        except ValueError:
            image = None
        return {
            "id": item.question_id,
            "path": item.path.split("/") if item.path else [],
            "image": image,
            "questions": question_json(item.questions),
            "key": item.answer,
            "trap": item.trap,
        }

    def _items(self) -> Iterator[tuple[str, ChoiceItem]]:
        """The items without their pictures, each with its split."""
        columns = ["question_id", *(f"{name}_{lang}" for lang in self.modes for name in ("question", "options"))]
        columns += [] if self.data.is_hidden else ["path", "answer", "trap"]
        for file in self.data.files:
            for place, row in replace(self.data, files=(file,)).rows(columns):
                try:
                    yield file.split or "", item_of(row, self.modes)
                except (TypeError, ValueError) as problem:
                    raise DatasetError(f"{place}: {problem}; build or import the benchmark again.") from None


def question_json(questions: Mapping[str, ChoiceQuestion]) -> Json:
    """The questions of an item by language."""
    return {
        lang: {"text": question.text, "options": list(question.options), "direction": direction(lang)}
        for lang, question in questions.items()
    }
