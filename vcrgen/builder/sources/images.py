"""The encoded image of a row: bytes, base64 or a path. Nothing is decoded here."""

import base64
import binascii
import re
import stat
from collections.abc import Mapping
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from vcrgen.builder.sources.base import MAX_IMAGE_BYTES
from vcrgen.core.errors import ImageProblem
from vcrgen.core.records import RejectReason

_URL = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_DATA_URI = re.compile(r"data:[^,]{0,200};base64,", re.IGNORECASE)
# How JPEG, PNG, GIF, WebP, BMP, TIFF (two) and AVIF/HEIC begin in base64.
_BASE64_MAGIC = ("/9j/", "iVBORw0K", "R0lGOD", "UklGR", "Qk", "SUkq", "TU0A", "AAAA")
_MIN_BASE64 = 64
_MAX_PATH = 4096


def image_bytes(value: Any, *, root: Path | None) -> bytes | None:
    """Return the encoded image; None for an empty value.

    Args:
        value: Bytes; a mapping with ``bytes`` and ``path`` as `datasets` stores images; base64, plain or as a data
            URI; or a path relative to ``root``.
        root: The only folder that files are read from.

    Raises:
        ImageProblem: There should be one, but it cannot be read or may not be.
    """
    if isinstance(value, Mapping):
        value = value.get("bytes") or value.get("path")
    if isinstance(value, str) and value.strip():
        return _from_text(value.strip(), root)
    if isinstance(value, bytes | bytearray):
        if len(value) > MAX_IMAGE_BYTES:
            raise _problem(f"the image is larger than {MAX_IMAGE_BYTES >> 20} MiB")
        return bytes(value) or None
    if value is None or isinstance(value, str):
        return None
    raise _problem(f"the image column holds a value of type {type(value).__name__}")


def _from_text(text: str, root: Path | None) -> bytes:
    if match := _DATA_URI.match(text):
        return _from_base64(text[match.end() :])
    if _URL.match(text):
        raise _problem("image is a URL; vcrgen does not download")
    # Base64 has no full stop, and the path of an image always has one.
    if len(text) >= _MIN_BASE64 and text.startswith(_BASE64_MAGIC) and "." not in text:
        return _from_base64(text)
    if len(text) > _MAX_PATH:
        raise _problem("the image is a long text that is neither a path nor the base64 of an image")
    return _from_file(text, root)


def _from_base64(text: str) -> bytes:
    try:
        data = base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        data = b""
    if not data:
        raise _problem("the base64 text of the image is damaged")
    return data


def _from_file(text: str, root: Path | None) -> bytes:
    if root is None:
        raise _problem("image is a path, but the source has no folder to look in")
    windows, posix = PureWindowsPath(text), PurePosixPath(text)
    if windows.drive or windows.root or posix.is_absolute() or ".." in windows.parts or ".." in posix.parts:
        raise _problem("the image's path leads outside of the source's folder")
    try:
        file = (root / text).resolve()
        if not file.is_relative_to(root.resolve()):
            raise _problem("the image's path leads outside of the source's folder")
        status = file.stat()
        # Opening a pipe or a device could wait for ever.
        if not stat.S_ISREG(status.st_mode):
            raise _problem("the image's path is not a file")
        if status.st_size > MAX_IMAGE_BYTES:
            raise _problem(f"the image is larger than {MAX_IMAGE_BYTES >> 20} MiB")
        with file.open("rb") as handle:
            data = handle.read(status.st_size)
    except FileNotFoundError:
        raise _problem(
            "the image file is missing; its path has to begin at the folder of the file that names it"
        ) from None
    except (OSError, RuntimeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "the path is not usable"
        raise _problem(f"the image file cannot be read: {reason}") from None
    if not data:
        raise _problem("the image file is empty")
    return data


def _problem(detail: str) -> ImageProblem:
    return ImageProblem(RejectReason.NO_IMAGE, detail)
