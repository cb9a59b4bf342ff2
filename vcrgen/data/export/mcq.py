"""An MCQ benchmark in the formats of VLMEvalKit and lmms-eval: a file for each split and language.

VLMEvalKit reads a TSV of a name that it does not know as multiple choice, with the columns ``index``, ``image``
(base64), ``question``, ``A``, ``B`` and so on, and ``answer``, and reports accuracy by ``category`` and
``l2-category``; further columns stay in the tables that it writes. For lmms-eval there is a Parquet file and a task,
which needs no Python: a column's name is a valid ``doc_to_visual``, ``doc_to_text`` and ``doc_to_target``, and the
metric ``bypass`` only keeps the outputs.

``vcrgen bloom import`` reads both again, and finds the same items in one language.
"""

import base64
import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from vcrgen.core.errors import DatasetError
from vcrgen.core.media import media_type
from vcrgen.core.records import SPLIT_NAME
from vcrgen.core.resources import load_object
from vcrgen.data.export.base import origin, template
from vcrgen.data.export.export_formats import ExportFormat
from vcrgen.data.reader import Dataset
from vcrgen.data.schema import IMAGE, STRING, DatasetKind
from vcrgen.data.tables import image_bytes
from vcrgen.data.tasks.bloom import LETTERS, ChoiceQuestion, item_of, languages_of

# How lmms-eval and VLMEvalKit frame options, in every language.
_ASK = "Answer with the option's letter from the given choices directly."
_OURS = ("question_id", "trap", "lang", "view")
_KIND = DatasetKind(
    features=dict.fromkeys(("question_id", "question", "prompt", "answer", "category", "trap", "lang", "view"), STRING)
    | {"options": [STRING], "image": IMAGE},
    descriptions={},
    identifier="question_id",
    answers="answer",
)

Row = Mapping[str, Any]


def export_mcq(dataset: Dataset, to: ExportFormat, folder: Path, *, split: str | None) -> tuple[str, int]:
    """Write an MCQ benchmark into a new folder.

    Args:
        dataset: An MCQ benchmark with its keys.
        split: Only this split.

    Returns:
        The text of the README, and the number of rows in all files.

    Raises:
        ConfigError: There is no such split.
        DatasetError: The benchmark is damaged, or the public part of a hidden one.
    """
    if dataset.is_hidden:
        raise DatasetError(f"{dataset} is the public part of a hidden MCQ benchmark, which has no keys.")
    selected, rows, names = dataset.select(split=split), 0, []
    if not all(SPLIT_NAME.fullmatch(name) for name in selected.splits):
        raise DatasetError(f"The manifest of {dataset} names a split that vcrgen does not build.")
    for name in selected.splits:
        for lang in languages_of(dataset):
            names.append(f"BLOOM_{lang.upper()}_{name.lower()}_{dataset.identity[:8]}")
            rows += load_object(str(to.write_mcq))(selected.select(split=name), lang, folder, names[-1])
    example = names[0] if to.name == "vlmevalkit" else names[0].lower()
    return "\n".join([template(f"{to.name.replace('-', '_')}_mcq.md", example=example), origin(dataset)]), rows


def _rows(dataset: Dataset, lang: str) -> Iterator[tuple[Row, ChoiceQuestion, bytes]]:
    """Yield the rows that are complete in a language, with their question in it and their image."""
    for place, row in dataset.rows():
        try:
            question = item_of(row, [lang]).questions.get(lang)
        except (TypeError, ValueError) as problem:
            raise DatasetError(f"{place}: {problem}; build or import the benchmark again.") from None
        data = image_bytes(row["image"]) or b""
        if media_type(data) is None:
            raise DatasetError(f"{place} has no PNG, WebP or JPEG; build or import the benchmark again.")
        if question:
            yield row, question, data


def write_vlmevalkit(dataset: Dataset, lang: str, folder: Path, name: str) -> int:
    """Write a TSV, and return the number of its rows."""
    count = 0
    most = max((len(row[f"options_{lang}"]) for _, row in dataset.rows([f"options_{lang}"])), default=0)
    with (folder / f"{name}.tsv").open("x", encoding="utf-8", newline="") as handle:
        table = csv.writer(handle, delimiter="\t", lineterminator="\n", quoting=csv.QUOTE_ALL)
        table.writerow(("index", "image", "question", *LETTERS[:most], "answer", "category", "l2-category", *_OURS))
        for count, (row, question, data) in enumerate(_rows(dataset, lang), start=1):
            image, level = base64.b64encode(data).decode("ascii"), row["path"].partition("/")[0]
            empty = [""] * (most - len(question.options))
            options = (*question.options, *empty, row["answer"], row["path"], level)
            table.writerow((count, image, question.text, *options, row["question_id"], row["trap"], lang, "image"))
    return count


def write_lmms_eval(dataset: Dataset, lang: str, folder: Path, name: str) -> int:
    """Write a Parquet file and its task, and return the number of rows."""
    task = name.lower()
    (folder / "data").mkdir(exist_ok=True)
    rows = (_document(row, question, data, lang) for row, question, data in _rows(dataset, lang))
    count = _KIND.write(folder / "data" / f"{task}.parquet", rows)
    with (folder / f"{task}.yaml").open("x", encoding="utf-8", newline="") as file:
        file.write(template("lmms_eval_mcq.yaml", task=task, split=dataset.splits[0]))
    return count


def _document(row: Row, question: ChoiceQuestion, data: bytes, lang: str) -> dict[str, Any]:
    """Return a row in the form of lmms-eval's tasks."""
    options = [f"{letter}. {option}" for letter, option in zip(LETTERS, question.options, strict=False)]
    return {
        "question_id": row["question_id"],
        "question": question.text,
        "options": list(question.options),
        "prompt": "\n".join([question.text, *options, _ASK]),
        "answer": row["answer"],
        "category": row["path"],
        "trap": row["trap"],
        "lang": lang,
        "view": "image",
        "image": {"bytes": data, "path": None},
    }
