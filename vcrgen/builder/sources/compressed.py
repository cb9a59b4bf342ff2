"""Text files, plain or compressed by gzip."""

import gzip
from pathlib import PurePosixPath
from typing import BinaryIO, cast

from vcrgen.core.storage import Folder

_LEAST_LIMIT, _MAX_RATIO = 1 << 30, 200  # of unpacked bytes; text seldom shrinks to less than a twentieth


class GzipText(gzip.GzipFile):
    """An open file that knows how many bytes it may unpack to, so that a small one cannot fill a day."""

    def __init__(self, handle: BinaryIO, size: int) -> None:
        super().__init__(fileobj=handle, mode="rb")
        self._packed = handle
        self.max_bytes = max(_LEAST_LIMIT, _MAX_RATIO * size)

    def close(self) -> None:
        """Close both files."""
        super().close()
        self._packed.close()


def is_compressed(name: str) -> bool:
    """Return True for the name of a file that gzip has compressed."""
    return name.lower().endswith(".gz")


def suffix_of(name: str) -> str:
    """The suffix that tells a file's format, with that of its compression: ``.tsv.gz``."""
    suffixes = [suffix.lower() for suffix in PurePosixPath(name).suffixes[-2:]]
    return "".join(suffixes if suffixes[-1:] == [".gz"] else suffixes[-1:])


def open_text(folder: Folder, name: str) -> BinaryIO:
    """Open a text file for reading from one end to the other; an OSError if it cannot be read."""
    handle = folder.open(name, ahead=True)
    return cast(BinaryIO, GzipText(handle, folder.size(name) or 0)) if is_compressed(name) else handle
