"""The manifest of a finished dataset: ``manifest.json``."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from vcrgen.core.errors import DatasetError
from vcrgen.core.plurals import pluralize
from vcrgen.core.records import RejectReason
from vcrgen.core.signature import Signature
from vcrgen.core.storage import Folder, StorageError, open_folder

MANIFEST = "manifest.json"
MAX_MANIFEST_BYTES = 256 << 20
DATA_FOLDER = "data"  # of the files of a task without modes
_LANGUAGE = re.compile(r"[a-z]{2,3}")
_FOLDER = re.compile(r"[0-9]{1,9}")  # of some files of a mode with very many


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetFile:
    """One Parquet file.

    Attributes:
        path: Path inside of the dataset's folder, with ``/``.
        mode: Mode such as ``"easy"``, or None for a task without modes.
        split: Name of the split.
        rows: Pairs in it.
        bytes: Its size.
        sha256: Hash of its bytes, in hex.
    """

    path: str
    mode: str | None
    split: str
    rows: int
    bytes: int
    sha256: str

    def __post_init__(self) -> None:
        numbers = (self.rows, self.bytes)
        texts = (self.path, self.mode or "", self.split, self.sha256)
        if not all(type(n) is int and n >= 0 for n in numbers) or not all(isinstance(text, str) for text in texts):
            raise ValueError(f"{self.path!r} is not described as a data file")
        # A path from a file is not trusted: it has to be exactly MODE/NAME, MODE/NUMBER/NAME, or data/NAME.
        mode, *folders, name = self.path.split("/") if "/" in self.path else ("", "")
        expected = DATA_FOLDER if self.mode is None else self.mode
        numbered = len(folders) < 2 and all(map(_FOLDER.fullmatch, folders))
        if mode != expected or not numbered or not name or {"\\", "\0"} & set(name) or {mode, name} & {".", ".."}:
            raise ValueError(f"{self.path!r} is not a file of mode {self.mode!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRows:
    """The rows of a source that a build has read.

    Attributes:
        rows: All of them.
        unmatched: Those that do not meet the conditions.
        captions: Captions in the others, each of which has at least one, if an empty one.
        left_out: Captions that the choice of captions leaves out; the others are pairs or rejected.
    """

    rows: int
    unmatched: int
    captions: int
    left_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The content of ``manifest.json``.

    Attributes:
        fingerprint: Hash of everything that decided the bytes.
        signature: Signature of the dataset.
        source: One line on where the pairs come from.
        config: The configuration, without names of local files.
        read: Pairs read.
        rejected: Number of rejected pairs by reason.
        files: All data files.
        source_rows: Rows of its source; None where pairs are not read from one.
        task: The task of its rows; None for Visual Caption Restoration.
        languages: Language codes of multilingual rows, in column order.
        uncompared: Groups of too many pictures that look alike, in which near copies were not looked for.
        cleaned: Number of pairs by kind of what was cleaned in their captions, duplicates among them.
    """

    fingerprint: str
    signature: Signature
    source: str
    config: Mapping[str, Any]
    read: int
    rejected: Mapping[str, int]
    files: tuple[DatasetFile, ...]
    source_rows: SourceRows | None = None
    task: str | None = None
    languages: tuple[str, ...] = ()
    uncompared: int = 0
    cleaned: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_task(self.task, self.languages)

    def __repr__(self) -> str:
        files = pluralize(len(self.files), "file")
        return f"<Manifest {self.fingerprint[:12]}: {self.pairs:,} of {pluralize(self.read, 'pair')}, {files}>"

    @property
    def modes(self) -> tuple[str, ...]:
        """Modes of the data files, in their order."""
        return tuple(dict.fromkeys(file.mode for file in self.files if file.mode is not None))

    @property
    def splits(self) -> tuple[str, ...]:
        """Splits of the data files, in their order."""
        return tuple(dict.fromkeys(file.split for file in self.files))

    def folder_pattern(self, mode: str) -> str:
        """A pattern of the folders that hold the files of a mode: its own, or the numbered ones in it."""
        nested = any(file.mode == mode and file.path.count("/") > 1 for file in self.files)
        return f"{mode}/*" if nested else mode

    @property
    def sum(self) -> str:
        """What became of the rows of the source, in one line; empty where it is unknown."""
        if (source := self.source_rows) is None:
            return ""
        duplicates = self.rejected.get(RejectReason.DUPLICATE, 0)
        terms = [pluralize(self.pairs, "pair")]
        terms += [f"{rejected:,} rejected"] if (rejected := self.read - self.pairs - duplicates) else []
        terms += [pluralize(duplicates, "duplicate")] if duplicates else []
        terms += [f"{pluralize(source.left_out, 'caption')} left out"] if source.left_out else []
        whole, unmatched = pluralize(source.rows, "row"), f"{source.unmatched:,} that --where leaves out"
        if source.captions != source.rows - source.unmatched:
            whole += f" without the {unmatched}" if source.unmatched else ""
            whole += f" with {pluralize(source.captions, 'caption')}"
        elif source.unmatched:
            terms.append(unmatched)
        return f"{whole} = {' + '.join(terms)}"

    @property
    def digest(self) -> str:
        """Return a hash of all data files, sixteen hex digits."""
        return hashlib.sha256("".join(file.sha256 for file in self.files).encode()).hexdigest()[:16]

    @property
    def pairs(self) -> int:
        """Pairs that were built; each is a row in every mode."""
        return sum(file.rows for file in self.files if file.mode == self.files[0].mode)


def check_task(task: object, languages: Sequence[object]) -> None:
    """Raise a ValueError for an invalid task or language codes, which name columns."""
    codes = [code for code in languages if isinstance(code, str) and _LANGUAGE.fullmatch(code)]
    if not isinstance(task, str | None) or len(set(codes)) != len(languages) or (task is None) != (not languages):
        raise ValueError("not a task and its languages")


def write_manifest(dataset: str | Path | Folder, manifest: Manifest) -> None:
    """Write the manifest into a dataset's folder atomically."""
    values = asdict(manifest) | {"signature": str(manifest.signature)}
    if manifest.task is None:
        del values["task"], values["languages"]
    if not manifest.uncompared:
        del values["uncompared"]
    if not manifest.cleaned:
        del values["cleaned"]
    if manifest.source_rows is None:
        del values["source_rows"]
    open_folder(dataset).write_json(MANIFEST, values)


def read_manifest(dataset: str | Path | Folder) -> Manifest:
    """Read the manifest of a dataset's folder.

    Raises:
        DatasetError: The folder is not a finished dataset of vcrgen, or its manifest is damaged.
    """
    folder = open_folder(dataset)
    file = f"{folder}/{MANIFEST}"
    try:
        if (folder.size(MANIFEST) or 0) > MAX_MANIFEST_BYTES:
            raise DatasetError(f"{file} is larger than {MAX_MANIFEST_BYTES >> 20} MiB, so it is not a manifest.")
        values = json.loads(folder.read_text(MANIFEST))
    except StorageError as error:
        raise DatasetError(f"The dataset cannot be read: {error}.") from None
    except OSError:
        raise DatasetError(f"{folder} is not a dataset that vcrgen finished (it has no {MANIFEST}).") from None
    except (ValueError, RecursionError):
        raise DatasetError(f"{file} is damaged (not JSON); build the dataset again.") from None
    try:
        signature = Signature.parse(values.pop("signature"))
        files = tuple(DatasetFile(**entry) for entry in values.pop("files"))
        languages = tuple(values.pop("languages", ()))
        rows = SourceRows(**values.pop("source_rows")) if "source_rows" in values else None
        return Manifest(**values, signature=signature, files=files, source_rows=rows, languages=languages)
    except (ValueError, TypeError, KeyError, AttributeError):
        raise DatasetError(
            f"{file} is damaged or of another version (keys missing or unknown); build the dataset again."
        ) from None
