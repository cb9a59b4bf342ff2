"""The encoded image of a row: bytes, base64 or a path. Nothing is decoded here."""

import base64
import binascii
import os
import re
import stat
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath
from typing import Any, Self

from vcrgen.builder.sources.base import MAX_IMAGE_BYTES
from vcrgen.core.errors import ImageProblem
from vcrgen.core.records import RejectReason

_URL = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_DATA_URI = re.compile(r"data:[^,]{0,200};base64,", re.IGNORECASE)
# How JPEG, PNG, GIF, WebP, BMP, TIFF (two) and AVIF/HEIC begin in base64.
_BASE64_MAGIC = ("/9j/", "iVBORw0K", "R0lGOD", "UklGR", "Qk", "SUkq", "TU0A", "AAAA")
_MIN_BASE64 = 64
_MAX_PATH = 4096
_MAX_SHOWN = 120  # characters of a path in a message


@dataclass(frozen=True, slots=True)
class ImageFolders:
    """The folders that files are read from. Each is vouched for by being named: nothing else is ever read."""

    bases: tuple[Path, ...]  # where relative paths begin: the first that has the file counts
    vouched: tuple[Path, ...]  # without links
    option: str = "--image-root"  # which names another one

    @classmethod
    def of(
        cls, source: Path | None, *, inside: str = "", image_root: Path | None = None, option: str = "--image-root"
    ) -> Self:
        """Make the folders of a source.

        Args:
            source: Its folder; None for a source without one.
            inside: The folder in it of the file that names the images.
            image_root: Another folder, in which relative paths begin first.
            option: The option that names such a folder, for errors.
        """
        named = [folder for folder in (image_root, source) if folder]
        bases = [image_root] if image_root else []
        vouched = [folder.resolve() for folder in named]
        stored = [blobs for folder in vouched if (blobs := _blobs_of(folder))]
        return cls((*bases, *([source / inside] if source else ())), (*vouched, *stored), option)

    def find(self, text: str, what: str = "image") -> Path:
        """The file of a path, without links; ``what`` it holds is for errors.

        Raises:
            ImageProblem: It leads outside of the folders, or there is no such file.
            OSError, RuntimeError, ValueError: It cannot be followed.
        """
        if not self.bases:
            raise _problem(f"{what} is a path, but the source has no folder to look in; name one by {self.option}")
        windows = PureWindowsPath(text)
        is_windows_path = os.name != "nt" and (
            windows.drive or ("\\" in text and (windows.root or ".." in windows.parts))
        )
        inside = False
        places = [base / name for base in self.bases for name in _spellings(text)]
        for place in () if is_windows_path else places:
            file = place.resolve()
            if any(file.is_relative_to(folder) for folder in self.vouched):
                inside = True
                if file.exists():
                    return file
        if inside:
            slashes = "; its folders have to be separated by / instead" if "\\" in text else ""
            raise _problem(
                f"the {what} file {text[:_MAX_SHOWN]!r} is missing; its path has to begin at the folder of the file "
                f"that names it, or at {self.option}{slashes}"
            )
        raise _problem(
            f"the {what}'s path leads outside of the source's folder; name the folder that it is in by {self.option}"
        )


def _spellings(path: str) -> Iterable[str]:
    """A path as it stands, and with its accents in the other form: macOS writes names in one, tables in the other."""
    return dict.fromkeys((path, unicodedata.normalize("NFC", path), unicodedata.normalize("NFD", path)))


def _blobs_of(folder: Path) -> Path | None:
    """The folder of the Hub's cache that the links of a dataset's snapshot lead to."""
    for place in (folder, *folder.parents):
        dataset = place.parent.parent
        if place.parent.name == "snapshots" and dataset.name.startswith("datasets--"):
            return dataset / "blobs"  # where it is a link itself, no file without links is in it
    return None


def image_bytes(value: Any, *, folders: ImageFolders) -> bytes | None:
    """The encoded image; None for an empty value.

    Args:
        value: Bytes; a mapping with ``bytes`` and ``path`` as `datasets` stores images; base64, plain or as a data
            URI; or a path.
        folders: The only folders that files are read from.

    Raises:
        ImageProblem: There should be one, but it cannot be read or may not be.
    """
    if isinstance(value, Mapping):
        value = value.get("bytes") or value.get("path")
    if isinstance(value, str) and value.strip():
        return _from_text(value.strip(), folders)
    if isinstance(value, bytes | bytearray):
        if len(value) > MAX_IMAGE_BYTES:
            raise _problem(f"the image is larger than {MAX_IMAGE_BYTES >> 20} MiB")
        return bytes(value) or None
    if value is None or isinstance(value, str):
        return None
    raise _problem(f"the image column holds a value of type {type(value).__name__}")


def _from_text(text: str, folders: ImageFolders) -> bytes:
    if match := _DATA_URI.match(text):
        return _from_base64(text[match.end() :])
    if _URL.match(text):
        raise _problem("image is a URL; vcrgen does not download")
    # Base64 has no full stop, and the path of an image always has one.
    if len(text) >= _MIN_BASE64 and text.startswith(_BASE64_MAGIC) and "." not in text:
        return _from_base64(text)
    if len(text) > _MAX_PATH:
        raise _problem("the image is a long text that is neither a path nor the base64 of an image")
    data = read_file(text, folders, MAX_IMAGE_BYTES)
    if not data:
        raise _problem("the image file is empty")
    return data


def _from_base64(text: str) -> bytes:
    try:
        data = base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        data = b""
    if not data:
        raise _problem("the base64 text of the image is damaged")
    return data


def read_file(text: str, folders: ImageFolders, limit: int, *, what: str = "image") -> bytes:
    """Read a file of at most ``limit`` bytes; ``what`` it holds is for errors.

    Raises:
        ImageProblem: It may not be read, or cannot be.
    """
    try:
        file = folders.find(text, what)
        status = file.stat()
        # Opening a pipe or a device could wait for ever.
        if not stat.S_ISREG(status.st_mode):
            raise _problem(f"the {what}'s path is not a file")
        if status.st_size > limit:
            raise _problem(f"the {what} is larger than {limit >> 20} MiB")
        with file.open("rb") as handle:
            return handle.read(status.st_size)
    except (OSError, RuntimeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "the path is not usable"
        raise _problem(f"the {what} file cannot be read: {reason}") from None


def _problem(detail: str) -> ImageProblem:
    return ImageProblem(RejectReason.NO_IMAGE, detail)
