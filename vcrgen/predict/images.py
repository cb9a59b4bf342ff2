"""The pictures of a dataset that a model is to read, one by one; nothing the dataset says of them is trusted."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image

from vcrgen.dataset.manifest import MANIFEST, read_manifest
from vcrgen.dataset.reader import check_files, read_rows
from vcrgen.dataset.views import View
from vcrgen.errors import ConfigError, DatasetError, ImageProblem
from vcrgen.files import sha256_file
from vcrgen.reading import iter_json_lines
from vcrgen.records import Mode, Reason
from vcrgen.text.languages import LANGUAGES

METADATA = "metadata.jsonl"
MAX_METADATA_BYTES = 64 << 20
MAX_BYTES = 32 << 20
# The largest stacked image that a build makes: 4096 px wide and 16384 px high.
MAX_PIXELS = 4096 * 16384
FORMATS = ("PNG", "WEBP")
_FILE_NAME = re.compile(r"[0-9a-f]{32}\.png")


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Which pictures of a dataset are read.

    Attributes:
        views: What of a question is shown; each is a picture of its own.
        mode: Only this mode.
        split: Only this split.
        limit: Questions at most, the first ones; each in all modes and views.
    """

    views: tuple[View, ...] = (View.STACKED,)
    mode: str | None = None
    split: str | None = None
    limit: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """One picture, not decoded.

    Attributes:
        question_id: Of the question it belongs to.
        lang: Language code of its caption.
        view: What it shows.
        mode: ``"easy"`` or ``"hard"``, or None where the dataset does not say.
        data: The encoded image, or None where there is none.
        problem: Why there is none, or the empty string.
    """

    question_id: str
    lang: str
    view: View
    mode: str | None
    data: bytes | None
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pictures:
    """The chosen pictures of a dataset, streamed in an order that is always the same.

    Attributes:
        folder: The dataset.
        identity: Stands for what is in the dataset: equal for equal pictures.
        total: Number of pictures.
        splits: The dataset's splits; none where it is the public part of a hidden test set.
        stream: Starts to read from the beginning.
    """

    folder: Path
    identity: str
    total: int
    splits: tuple[str, ...]
    stream: Callable[[], Iterator[Picture]]


def open_pictures(folder: Path, choice: Choice) -> Pictures:
    """Look at a dataset and choose its pictures; none is read yet.

    Args:
        folder: A dataset that vcrgen built (``manifest.json``), or the public part of a hidden test set
            (``metadata.jsonl`` and PNG files).
        choice: Which pictures.

    Raises:
        ConfigError: The dataset has nothing of that mode or split.
        DatasetError: It is neither of the two, or damaged.
    """
    if (folder / METADATA).is_file():  # beside a manifest of another kind
        return _hidden(folder, choice)
    if (folder / MANIFEST).is_file():
        return _built(folder, choice)
    raise DatasetError(
        f"{folder} is neither a dataset that vcrgen finished (it has no {MANIFEST}) nor the public part of a hidden "
        f"test set (it has no {METADATA})."
    )


def load_picture(picture: Picture) -> Image.Image:
    """Decode a picture.

    Returns:
        An image of mode RGB in its own size.

    Raises:
        ImageProblem: It is missing, too large, or not an image.
    """
    data = picture.data
    if data is None:
        raise ImageProblem(Reason.NO_IMAGE, picture.problem)
    if len(data) > MAX_BYTES:
        raise ImageProblem(Reason.OVERSIZED, f"larger than {MAX_BYTES >> 20} MiB")
    try:
        image = Image.open(io.BytesIO(data), formats=FORMATS)
        # Judged from the header, before anything is decoded.
        if image.width * image.height > MAX_PIXELS:
            raise ImageProblem(
                Reason.OVERSIZED, f"{image.width}x{image.height} pixels, more than {MAX_PIXELS:,} in all"
            )
        return image.convert("RGB")
    except ImageProblem:
        raise
    except Image.DecompressionBombError:
        raise ImageProblem(Reason.OVERSIZED, f"more than {MAX_PIXELS:,} pixels") from None
    except Exception:  # decoders raise anything on hostile files
        raise ImageProblem(Reason.UNDECODABLE, f"not a whole {' or '.join(FORMATS)} image") from None


def _built(folder: Path, choice: Choice) -> Pictures:
    """The pictures of a dataset that vcrgen built: mode by mode, in the order of its rows."""
    manifest = read_manifest(folder)
    if not set(manifest.modes) <= set(Mode):
        raise DatasetError(f"The manifest of {folder} names a mode that vcrgen does not build; build it again.")
    rows: Counter[str] = Counter()
    for file in manifest.files:
        if choice.mode in (None, file.mode) and choice.split in (None, file.split):
            rows[file.mode] += file.rows
    if not rows:
        asked = " and ".join(
            f"{what} {value!r}" for what, value in (("mode", choice.mode), ("split", choice.split)) if value
        )
        have = ", ".join(dict.fromkeys(f"{file.mode}/{file.split}" for file in manifest.files)) or "no files"
        raise ConfigError(f"{folder} has nothing of {asked or 'any mode'}; it has {have}.")
    check_files(folder, manifest)
    columns = ["question_id", "language", *(view.column for view in choice.views)]

    def stream() -> Iterator[Picture]:
        for mode in rows:
            read = read_rows(folder, manifest, mode=mode, split=choice.split, columns=columns, limit=choice.limit)
            for number, row in enumerate(read):
                question_id, lang = _question(row, f"{folder}, row {number} of mode {mode}")
                for view in choice.views:
                    data = (row[view.column] or {}).get("bytes")
                    yield Picture(
                        question_id=question_id, lang=lang, view=view, mode=mode, data=data,
                        problem="" if data else "the dataset holds no image",
                    )  # fmt: skip

    questions = sum(_cut(count, choice.limit) for count in rows.values())
    total = questions * len(choice.views)
    return Pictures(folder=folder, identity=manifest.digest, total=total, splits=manifest.splits, stream=stream)


def _hidden(folder: Path, choice: Choice) -> Pictures:
    """The pictures of a hidden test set, in the order of its metadata."""
    metadata = folder / METADATA
    if choice.mode is not None or choice.split is not None:
        raise ConfigError(f"{folder} is a hidden test set, which has no modes and no splits to choose from.")
    if metadata.stat().st_size > MAX_METADATA_BYTES:
        raise DatasetError(f"{metadata} is larger than {MAX_METADATA_BYTES >> 20} MiB, so it is not a test set's.")
    questions: dict[str, tuple[str, dict[View, str]]] = {}
    for number, row in iter_json_lines(metadata, DatasetError):
        where = f"{metadata}, line {number}"
        question_id, lang = _question(row, where)
        if question_id in questions:
            raise DatasetError(f"{where}: the id {question_id!r} stands there twice; get the test set again.")
        questions[question_id] = lang, {view: _file_name(row, view, where) for view in choice.views}

    def stream() -> Iterator[Picture]:
        for question_id, (lang, names) in list(questions.items())[: choice.limit]:
            for view, name in names.items():
                data, problem = _read_file(folder / name)
                yield Picture(question_id=question_id, lang=lang, view=view, mode=None, data=data, problem=problem)

    total = _cut(len(questions), choice.limit) * len(choice.views)
    return Pictures(folder=folder, identity=sha256_file(metadata), total=total, splits=(), stream=stream)


def _question(row: Mapping[str, Any], where: str) -> tuple[str, str]:
    """Id and language of a row."""
    question_id, lang = row.get("question_id"), row.get("language")
    # Half a surrogate pair, which no file of outputs could hold, is not printable.
    if not isinstance(question_id, str) or not question_id.isprintable() or not 0 < len(question_id) <= 256:
        raise DatasetError(f"{where}: no `question_id` of 1 to 256 printable characters.")
    if not isinstance(lang, str) or lang not in LANGUAGES:
        raise DatasetError(f"{where}: no `language` that is known; known: {', '.join(LANGUAGES)}.")
    return question_id, lang


def _file_name(row: Mapping[str, Any], view: View, where: str) -> str:
    """A file's name from a row, if it is one of the names that a test set gives and so leads nowhere else."""
    column = f"{view.column}_file_name"
    name = row.get(column)
    if isinstance(name, str):
        folder, _, file = name.partition("/")
        if folder == view.column and _FILE_NAME.fullmatch(file):
            return name
    raise DatasetError(f"{where}: `{column}` is not {view.column}/ID.png with an ID of 32 hex digits.")


def _read_file(path: Path) -> tuple[bytes | None, str]:
    """The bytes of a file, not many more than are allowed; or None, and why."""
    try:
        # A named pipe would be waited on for ever, so what is opened has to be a regular file.
        if not path.is_file():
            return None, f"the file {path.name} is missing"
        with path.open("rb") as handle:
            return handle.read(MAX_BYTES + 1), ""
    except OSError as error:
        return None, f"the file {path.name} cannot be read: {error.strerror or error}"


def _cut(count: int, limit: int | None) -> int:
    return count if limit is None else min(count, limit)
