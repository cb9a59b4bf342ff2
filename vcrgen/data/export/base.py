"""Parts of every format: the job, its rows, and the README."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, NamedTuple

from vcrgen.core.errors import ConfigError, DatasetError
from vcrgen.core.media import media_type
from vcrgen.core.reading import without_marks
from vcrgen.core.records import SPLIT_NAME, is_mode
from vcrgen.data.reader import Dataset
from vcrgen.data.tables import image_bytes
from vcrgen.data.tasks.vcr import fill_metadata
from vcrgen.text.languages import LANGUAGES, LanguageRow


class Part(NamedTuple):
    """All rows of one split in one mode."""

    mode: str
    split: str

    def __str__(self) -> str:
        return f"{self.mode}-{self.split}"


class ExportRow:
    """A row of the dataset, checked value by value when one is read. Errors call it ``where``."""

    def __init__(self, values: Mapping[str, Any], *, number: int, where: str) -> None:
        self._values, self._where = values, where  # as `vcrgen.data.reader.Dataset.rows` gives them
        self.number = number  # in the part, from 0

    def text(self, column: str) -> str:
        """Text of a column of the row; a DatasetError if the value is none."""
        value = self._values[column]
        if not isinstance(value, str):
            raise self._damaged(f"has no text in {column!r}")
        return value

    @property
    def answers(self) -> list[str]:
        """The texts of the masked spans; a DatasetError if there are none, or one is not a text."""
        answers = self._values["crossed_text"]
        if not answers or not all(isinstance(answer, str) for answer in answers):
            raise self._damaged("has no list of texts in 'crossed_text'")
        return list(answers)

    def image(self, column: str) -> bytes:
        """Return an encoded image; a DatasetError if it is not PNG, WebP or JPEG."""
        data = image_bytes(self._values[column]) or b""
        if not media_type(data):
            raise self._damaged(f"has neither a PNG, a WebP nor a JPEG in {column!r}")
        return data

    def _damaged(self, problem: str) -> DatasetError:
        return DatasetError(f"{self._where} {problem}; copy or build the dataset again.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportJob:
    """A dataset and its parts that are exported."""

    dataset: Dataset  # all its files have a mode and a split
    parts: tuple[Part, ...]  # in the order of the files
    language: LanguageRow  # the dataset's language

    def rows(self, part: Part, *, columns: Sequence[str]) -> Iterator[ExportRow]:
        """Stream the rows of a part with these columns.

        Raises:
            DatasetError: A file is missing or damaged, or lacks a column.
        """
        dataset = self.dataset.select(mode=part.mode, split=part.split)
        optional = () if dataset.manifest else ("mode",)
        for number, (place, values) in enumerate(dataset.rows(columns, optional=optional)):
            if values.get("mode", part.mode) != part.mode:
                raise DatasetError(f"{place} is of mode {values['mode']!r} among rows of mode {part.mode}; part them.")
            yield ExportRow(values, number=number, where=place)

    @property
    def example(self) -> Part:
        """The part that a README shows: a test split where there is one."""
        return next((part for part in self.parts if part.split == "test"), self.parts[0])


def plan_export(dataset: Dataset, *, mode: str | None, split: str | None) -> ExportJob:
    """Choose the parts of a dataset; ``mode`` and ``split`` also apply to files that do not state theirs.

    Raises:
        ConfigError: The dataset has no such mode or split, or not both together.
        DatasetError: It has names that no build writes, or its files cannot be read.
    """
    if dataset.manifest is None:
        dataset = fill_metadata(dataset, mode=mode, split=split)
        langs = {str(file.constants["language"]) for file in dataset.files}
        lang = langs.pop() if len(langs) == 1 else None
    else:
        config = dataset.manifest.config
        lang = config.get("lang") if isinstance(config, Mapping) else None
    # These names become names of files, and the dataset may come from anywhere.
    is_valid = all(is_mode(file.mode) and SPLIT_NAME.fullmatch(str(file.split)) for file in dataset.files)
    if not is_valid or not isinstance(lang, str) or lang not in LANGUAGES:
        what = "The manifest of" if dataset.manifest else "The metadata of"
        raise DatasetError(f"{what} {dataset} names a mode, split or language that vcrgen does not build.")
    for what, value, choice in (("mode", mode, dataset.modes), ("split", split, dataset.splits)):
        if value is not None and value not in choice:
            raise ConfigError(f"{dataset} has no {what} {value!r}; it has {', '.join(choice) or 'none'}.")
    files = dataset.select(mode=mode, split=split).files
    parts = tuple(dict.fromkeys(Part(str(file.mode), str(file.split)) for file in files))
    return ExportJob(dataset=dataset, parts=parts, language=LANGUAGES[lang])


def template(name: str, **values: object) -> str:
    """Fill in a text file of ``vcrgen/data/export/templates``."""
    return (files("vcrgen.data.export") / "templates" / name).read_text(encoding="utf-8").format(**values)


def readme(job: ExportJob, *texts: str) -> str:
    """Fill the README in Markdown: contents and use, then the origin."""
    return "\n".join([*texts, origin(job.dataset)])


def origin(dataset: Dataset) -> str:
    """Origin of a dataset, as the end of a README: source, signature, license."""
    manifest = dataset.manifest
    if manifest is None:
        return "Exported by vcrgen from a dataset that vcrgen did not build: no signature.\n"
    licence = without_marks(str(manifest.config.get("source_license") or "not stated"))
    signature = " ".join(str(manifest.signature).replace("`", "").split())
    return (
        f"Exported by vcrgen from a dataset built of: {without_marks(str(manifest.source))}. "
        f"Licence of the source: {licence}.\n\nSignature: `{signature}`\n"
    )
