"""What every format shares: the parts to write, and rows that were looked at."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from vcrgen.config import SPLIT_NAME
from vcrgen.dataset.reader import Dataset
from vcrgen.dataset.tables import image_bytes
from vcrgen.dataset.views import View
from vcrgen.errors import ConfigError, DatasetError
from vcrgen.media import media_type
from vcrgen.reading import one_line
from vcrgen.records import Mode
from vcrgen.tasks.vcr import VCR
from vcrgen.text.languages import LANGUAGES, LanguageRow

SHORT_NAMES = {"image": "image"} | {view.column: view.value for view in View}  # image column to name of its files
ROWS_TOGETHER = 1000
"""Pairs of a shard or of a folder, at most; also what file names are unique among, so that memory stays flat."""

_MAX_NAME = 64
_FALLBACK = "row-"


class Part(NamedTuple):
    """All rows of one split in one mode."""

    mode: str
    split: str

    def __str__(self) -> str:
        return f"{self.mode}-{self.split}"


class EncodedImage(NamedTuple):
    """An encoded image and the extension that its first bytes ask for."""

    data: bytes
    extension: str


class ExportRow:
    """A row of the dataset; what it holds is checked when it is asked for. In errors it is called ``where``."""

    def __init__(self, values: Mapping[str, Any], *, number: int, where: str) -> None:
        self._values, self._where = values, where  # as :meth:`vcrgen.dataset.reader.Dataset.rows` gives them
        self.number = number  # in the part, from 0

    def text(self, column: str) -> str:
        """The text of a column; a DatasetError if there is none."""
        value = self._values[column]
        if not isinstance(value, str):
            raise self._damaged(f"has no text in {column!r}")
        return value

    @property
    def answers(self) -> list[str]:
        """The spans' texts; a DatasetError if there are none, or one is not a text."""
        answers = self._values["crossed_text"]
        if not answers or not all(isinstance(answer, str) for answer in answers):
            raise self._damaged("has no list of texts in 'crossed_text'")
        return list(answers)

    def picture(self, column: str) -> EncodedImage:
        """An image, whatever its stored path; a DatasetError if it is neither PNG nor WebP."""
        data = image_bytes(self._values[column]) or b""
        extension = (media_type(data) or "").removeprefix("image/")
        if extension not in ("png", "webp"):
            raise self._damaged(f"has neither a PNG nor a WebP in {column!r}")
        return EncodedImage(data, extension)

    def other_columns(self, **more: Any) -> str:
        """All columns but the images, and ``more``, as one line of JSON.

        Raises:
            DatasetError: There are no answers, or a number is not finite, which JSON cannot say.
        """
        values = more | {name: value for name, value in self._values.items() if name not in VCR.images}
        values["crossed_text"] = self.answers
        try:
            return json.dumps(values, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        except ValueError:
            raise self._damaged("holds a number that is not finite") from None

    def _damaged(self, problem: str) -> DatasetError:
        return DatasetError(f"{self._where} {problem}; copy or build the dataset again.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportJob:
    """What is exported."""

    dataset: Dataset  # what is exported, with its manifest
    parts: tuple[Part, ...]  # the chosen parts, in the manifest's order
    language: LanguageRow  # the dataset's language

    def rows(self, part: Part, *, columns: Sequence[str] | None = None) -> Iterator[ExportRow]:
        """Stream the rows of a part; a DatasetError if a file is missing or damaged."""
        rows = self.dataset.select(mode=part.mode, split=part.split).rows(columns)
        for number, (place, values) in enumerate(rows):
            yield ExportRow(values, number=number, where=place)

    @property
    def example(self) -> Part:
        """The part that a README shows: a test split where there is one."""
        return next((part for part in self.parts if part.split == "test"), self.parts[0])


Format = Callable[[ExportJob, Path], str]
"""Writes the parts of a job into a new folder and returns the text of its README."""


def plan_job(dataset: Dataset, *, mode: str | None, split: str | None) -> ExportJob:
    """Choose the parts of a dataset; a ConfigError if it has no such mode or split, a DatasetError for odd names."""
    manifest = dataset.built
    lang = manifest.config.get("lang") if isinstance(manifest.config, Mapping) else None
    # These names become names of files, and the manifest is a file that may come from anywhere.
    known = all(file.mode in set(Mode) and SPLIT_NAME.fullmatch(str(file.split)) for file in manifest.files)
    if not known or not isinstance(lang, str) or lang not in LANGUAGES:
        raise DatasetError(f"The manifest of {dataset} names a mode, split or language that vcrgen does not build.")
    for what, value, choice in (("mode", mode, manifest.modes), ("split", split, manifest.splits)):
        if value is not None and value not in choice:
            raise ConfigError(f"{dataset} has no {what} {value!r}; it has {', '.join(choice) or 'none'}.")
    parts = tuple(dict.fromkeys(Part(file.mode, file.split) for file in manifest.files))
    chosen = tuple(part for part in parts if mode in (None, part.mode) and split in (None, part.split))
    if not chosen:
        have = ", ".join(f"{part.mode}/{part.split}" for part in parts) or "no rows at all"
        raise ConfigError(f"{dataset} has nothing of that mode and split; it has {have}.")
    return ExportJob(dataset=dataset, parts=chosen, language=LANGUAGES[lang])


class FileNames:
    """Names for files, made of ids that may be anything; each is given once, also where case does not count."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def name(self, row: ExportRow) -> str:
        """Letters, digits, ``_`` and ``-`` of the row's id, or its number where that is not enough.

        No full stop: WebDataset's key ends at the first one. No ``_`` at the start: WebDataset skips ``__`` names.
        """
        name = re.sub(r"[^A-Za-z0-9_-]", "_", row.text("question_id")[:_MAX_NAME]).lstrip("_-")
        folded = name.lower()
        if not name or folded in self._taken or folded.startswith(_FALLBACK):
            return f"{_FALLBACK}{row.number:08d}"
        self._taken.add(folded)
        return name


def readme(job: ExportJob, title: str, *sections: str, head: str = "") -> str:
    """Markdown for the README: what this is, how to use it, where it comes from."""
    manifest = job.dataset.built
    licence = one_line(str(manifest.config.get("source_license") or "not stated"))
    signature = " ".join(str(manifest.signature).replace("`", "").split())
    origin = (
        f"Exported by vcrgen from a dataset built of: {one_line(str(manifest.source))}. "
        f"Licence of the source: {licence}.\n\nSignature: `{signature}`"
    )
    return head + "\n\n".join([f"# {title}", *sections, origin]) + "\n"
