"""Images in folders, each beside a file of the same name with its caption: ``0001.jpg`` and ``0001.txt``."""

import os
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from vcrgen.builder.sources.base import MAX_TEXT_BYTES, PROBLEM, ColumnPath, FileSource, Row, paths_of
from vcrgen.builder.sources.images import ImageFolders, read_file
from vcrgen.builder.sources.tabular import parse_object
from vcrgen.builder.sources.tar import IMAGE_SUFFIXES
from vcrgen.core.errors import ImageProblem, SourceError

CAPTION_SUFFIXES = ("txt", "caption", "json")  # by priority
_FILES = "*"  # the last part of a partition's name: the files of a folder
_SAMPLE_ROWS = 20


def folders_of_files(folder: Path, image_root: Path | None = None) -> list[str]:
    """The partitions of a folder: those with images, in it and below; none if no caption is beside an image.

    Links to folders are followed into ``image_root``; what links within the folder lead to stands there already.

    Raises:
        SourceError: A link leads elsewhere, so that its images would be left out.
    """
    partitions: list[str] = []
    has_pair = False
    followed: set[Path] = set()
    for place, below, names in os.walk(folder, followlinks=True):
        below[:] = [name for name in below if _is_visible(name) and _is_entered(Path(place, name), folder, image_root)]
        targets = {name: Path(place, name).resolve() for name in below if Path(place, name).is_symlink()}
        below[:] = [name for name in below if targets.get(name) not in followed]
        followed.update(targets.values())
        stems = {suffix: set[str]() for suffix in (*IMAGE_SUFFIXES, *CAPTION_SUFFIXES)}
        for name in filter(_is_visible, names):
            stem, suffix = _split(name)
            if suffix in stems:
                stems[suffix].add(stem)
        images = set[str]().union(*(stems[suffix] for suffix in IMAGE_SUFFIXES))
        if images:
            partitions.append((PurePosixPath(Path(place).relative_to(folder).as_posix()) / _FILES).as_posix())
            has_pair = has_pair or any(images & stems[suffix] for suffix in CAPTION_SUFFIXES)
    return partitions if has_pair else []


def _is_entered(below: Path, folder: Path, image_root: Path | None) -> bool:
    """Return True for a folder, and for a link to one in ``image_root``."""
    if not below.is_symlink():
        return True
    target = below.resolve()
    if target.is_relative_to(folder.resolve()):
        return False
    if image_root is not None and target.is_relative_to(image_root.resolve()):
        return True
    raise SourceError(
        f"{below} is a link to {target}, outside of the source's folder; name that folder by --image-root."
    )


class _Files(NamedTuple):
    """The files of one row."""

    name: str  # of the image or, without one, of a text
    has_image: bool
    texts: dict[str, str]  # name by suffix, in the order of their priority


class BesideSource(FileSource):
    """Folders of images. A row is ``{"id", "image", "caption", "txt", "json"}``; the id is the file's path.

    The caption stands in ``NAME.txt``, else in ``NAME.caption``, else in the field ``caption`` of ``NAME.json``.
    A text without an image is a row, too; files of other suffixes are none.
    """

    def __init__(self, *args: Any, image_root: Path | None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._image_root = image_root and image_root.absolute()
        self._listings: dict[str, list[_Files]] = {}

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_listings": {}}

    def _count(self, name: str) -> int:
        return len(self._listing(name))

    def _listing(self, name: str) -> list[_Files]:
        if name not in self._listings:
            names = filter(_is_visible, self.folder.subfolder(str(PurePosixPath(name).parent)).entries())
            self._listings[name] = _rows_of(list(names))
        return self._listings[name]

    def _read_names(self, index: int) -> list[ColumnPath]:
        name = self.files[index]
        numbers = range(min(len(self._listing(name)), _SAMPLE_ROWS))
        rows = [
            row for row in self._read(name, numbers, frozenset(("caption", *CAPTION_SUFFIXES))) if PROBLEM not in row
        ]
        return sorted(dict.fromkeys(path for row in rows for path in paths_of(row)), key=len)

    def _read(self, name: str, numbers: Sequence[int], columns: frozenset[str]) -> Iterator[Row]:
        folder, listing = PurePosixPath(name).parent, self._listing(name)
        for files in (listing[number] for number in numbers if number < len(listing)):
            try:
                yield self._row(folder, files, columns)
            except ImageProblem as problem:
                yield {PROBLEM: problem.detail}

    def _row(self, folder: PurePosixPath, files: _Files, columns: frozenset[str]) -> Row:
        assert self.root  # such a source is a folder of this disk
        image = str(self.root / folder / files.name) if files.has_image else None
        row: dict[str, Any] = {"id": (folder / files.name).as_posix(), "image": image, "caption": None}
        row |= dict.fromkeys(files.texts)
        of_caption = next(iter(files.texts), "") if "caption" in columns else ""
        folders = ImageFolders.of(self.root, image_root=self._image_root)
        for suffix, text in files.texts.items():
            if suffix in columns or suffix == of_caption:
                data = read_file(str(self.root / folder / text), folders, MAX_TEXT_BYTES, what=text)
                row[suffix] = data.removeprefix(BOM_UTF8)
        if "json" in files.texts and row["json"] is not None:
            row["json"] = parse_object(row["json"])
            if isinstance(row["json"], str):
                return {PROBLEM: f"{files.texts['json']}: {row['json']}"}
        if of_caption:
            row["caption"] = row["json"].get("caption") if of_caption == "json" else row[of_caption]
        return row


def _rows_of(names: list[str]) -> list[_Files]:
    """The rows of the files of a folder, in the order of their names."""
    texts: dict[str, dict[str, str]] = {}
    for suffix in CAPTION_SUFFIXES:
        for name in names:
            stem, own_suffix = _split(name)
            if own_suffix == suffix:
                texts.setdefault(stem, {}).setdefault(suffix, name)
    images = [name for name in names if _split(name)[1] in IMAGE_SUFFIXES]
    rows = [_Files(name, True, texts.get(_split(name)[0], {})) for name in images]
    for stem in texts.keys() - {_split(name)[0] for name in images}:
        rows.append(_Files(next(iter(texts[stem].values())), False, texts[stem]))
    return sorted(rows, key=lambda files: files.name)


def _split(name: str) -> tuple[str, str]:
    """The stem of a file's name, and its suffix in small letters without the dot."""
    stem, dot, suffix = name.rpartition(".")
    return (stem, suffix.lower()) if dot else (name, "")


def _is_visible(name: str) -> bool:
    return not name.startswith((".", "_"))
