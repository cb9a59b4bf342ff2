"""Folders on a disk and in an object store (``s3://``, ``gs://``, ``hf://``).

Files are written atomically: on a disk under a temporary name and renamed; to an object store as one upload.
"""

# ruff: noqa: D102 as `Folder` documents the methods of both kinds of folders

import contextlib
import copy
import glob
import hashlib
import io
import os
import re
import shutil
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, BinaryIO, Self, TypeVar

from vcrgen.core.extras import needs_extra
from vcrgen.core.files import atomic_path, fsync, indented_json, write_text

T = TypeVar("T")
V = TypeVar("V")

# A Path has lost one of the slashes.
_URL = re.compile(r"(s3|gs|hf):/{1,2}([^/].*?)/*")
_REQUESTS = 8  # at once; each of them mostly waits, and may hold a row group
_AHEAD = 8 << 20  # bytes fetched at a time from an object that is read from one end to the other


class StorageError(OSError):
    """A failed request to an object store; the text has place and cause."""


class Folder(ABC):
    """A folder. Names are relative to it, with ``/``. An instance is cheap to pickle and holds no open file."""

    local_path: Path | None = None  # None in an object store

    @abstractmethod
    def __str__(self) -> str:
        """Folder as the user wrote it, for messages."""

    @abstractmethod
    def subfolder(self, name: str) -> Self:
        """Return a folder inside this one."""

    @abstractmethod
    def make(self) -> None:
        """Create the folder; no-op in a store."""

    @abstractmethod
    def open(self, name: str, *, ahead: bool = False) -> BinaryIO:
        """Open a file for reading; an OSError if it cannot be read. ``ahead`` is for sequential reads."""

    @abstractmethod
    def size(self, name: str) -> int | None:
        """Bytes of a regular file, or None: a named pipe would block for ever."""

    @abstractmethod
    def entries(self) -> list[str]:
        """Sorted names of the files and folders directly in it; none if it does not exist."""

    @abstractmethod
    def glob(self, pattern: str) -> list[str]:
        """Sorted names of the files that match a pattern; ``**/`` is any folder or none."""

    @abstractmethod
    def writing(self, name: str) -> contextlib.AbstractContextManager[Path]:
        """Yield a local file to write to; it is moved to its place after the block."""

    @abstractmethod
    def create(self, name: str, text: str) -> bool:
        """Write a new file; False if it exists, even if somebody else wrote it just now."""

    @abstractmethod
    def transfer(self, name: str, target: Self, new_name: str) -> None:
        """Move a file or folder to another folder on a disk; copy an object in a store, where others may need it."""

    @abstractmethod
    def remove(self) -> None:
        """Remove the folder with its content, if it exists."""

    @abstractmethod
    def map(self, function: Callable[[V], T], values: Iterable[V]) -> Iterator[T]:
        """Apply a function that waits for files, in order; in a store, several calls run at once."""

    def read_text(self, name: str) -> str:
        """Read a UTF-8 file; an OSError if it cannot be read, a ValueError if it is not UTF-8."""
        with self.open(name, ahead=True) as handle:
            return handle.read().decode("utf-8")

    def write_text(self, name: str, text: str) -> None:
        """Write a text as UTF-8 with its line feeds."""
        with self.writing(name) as file:
            file.write_bytes(text.encode("utf-8"))

    def write_json(self, name: str, value: Any) -> None:
        """Write a value as indented JSON, deterministically."""
        self.write_text(name, indented_json(value))

    def sha256(self, name: str) -> str:
        """SHA-256 of a file in hex."""
        handle: Any
        with self.open(name, ahead=True) as handle:
            return hashlib.file_digest(handle, "sha256").hexdigest()


class DiskFolder(Folder):
    """A folder of this machine, or of a network drive."""

    def __init__(self, path: Path) -> None:
        self._shown = path
        self.local_path: Path = path.absolute()  # another process may have another working folder

    def __str__(self) -> str:
        return str(self._shown)

    def subfolder(self, name: str) -> Self:
        folder = copy.copy(self)  # made here, it would be in this process's working folder
        folder._shown, folder.local_path = self._shown / name, self.local_path / name
        return folder

    def make(self) -> None:
        self.local_path.mkdir(parents=True, exist_ok=True)

    def open(self, name: str, *, ahead: bool = False) -> BinaryIO:
        return (self.local_path / name).open("rb")

    def size(self, name: str) -> int | None:
        file = self.local_path / name
        return file.stat().st_size if file.is_file() else None

    def entries(self) -> list[str]:
        with contextlib.suppress(FileNotFoundError):
            return sorted(os.listdir(self.local_path))  # noqa: PTH208
        return []

    def glob(self, pattern: str) -> list[str]:
        # Path.glob takes no pattern that leads out of the folder.
        names = glob.glob(pattern, root_dir=self.local_path, recursive=True)  # noqa: PTH207
        return sorted(Path(name).as_posix() for name in names if (self.local_path / name).is_file())

    def writing(self, name: str) -> contextlib.AbstractContextManager[Path]:
        return atomic_path(self.local_path / name)

    def create(self, name: str, text: str) -> bool:
        if (self.local_path / name).exists():  # the caller's lock keeps others away
            return False
        write_text(self.local_path / name, text)
        return True

    def transfer(self, name: str, target: Self, new_name: str) -> None:
        goal = target.local_path / new_name
        (self.local_path / name).replace(goal)
        fsync(goal.parent)

    def remove(self) -> None:
        for _ in range(3):  # an abandoned attempt may still be writing
            shutil.rmtree(self.local_path, ignore_errors=True)
            if not self.local_path.exists():
                return

    def map(self, function: Callable[[V], T], values: Iterable[V]) -> Iterator[T]:
        return map(function, values)


class BucketFolder(Folder):
    """``s3://bucket/folder``, ``gs://bucket/folder`` or ``hf://datasets/org/name/folder``, as `fsspec` opens them.

    Credentials are those of the store's own tools.
    """

    def __init__(self, url: str) -> None:
        self._url = url

    def __str__(self) -> str:
        return self._url

    @property
    def _located(self) -> tuple[Any, str]:
        """File system, which `fsspec` caches for the process, and the folder's path in it."""
        import fsspec

        scheme = self._url.partition(":")[0]
        try:
            # Others write to the same folder, so a list that was read a moment ago is not believed.
            system, path = fsspec.core.url_to_fs(self._url, use_listings_cache=False)
        except ImportError:
            raise StorageError(needs_extra(f"{scheme}://", scheme)) from None
        except Exception as error:  # whatever the store's library raises for credentials
            raise StorageError(f"{self._url}: {_reason(error)}") from None
        return system, path

    def _key(self, name: str) -> tuple[Any, str]:
        system, path = self._located
        return system, f"{path}/{name}" if name else path

    @contextlib.contextmanager
    def _storage_errors(self, name: str, *, keep: type[OSError] | None = FileNotFoundError) -> Iterator[None]:
        """Turn exceptions of the store's libraries into a StorageError, except the one that the caller handles."""
        try:
            yield
        except StorageError:
            raise
        except Exception as error:
            if keep and isinstance(error, keep):
                raise keep(error.errno or 0, _reason(error), f"{self._url}/{name}") from None
            raise StorageError(f"{self._url}/{name}: {_reason(error)}") from None

    def subfolder(self, name: str) -> Self:
        return type(self)(f"{self._url}/{name}")

    def make(self) -> None:
        pass  # a store has no folders but those that the names of objects make

    def open(self, name: str, *, ahead: bool = False) -> BinaryIO:
        system, key = self._key(name)
        with self._storage_errors(name):
            cache = {"cache_type": "readahead", "block_size": _AHEAD} if ahead else {"cache_type": "none"}
            handle = system.open(key, "rb", **cache)
        raw = _Object(handle, lambda: self._storage_errors(name))
        return io.BufferedReader(raw) if ahead else raw  # type: ignore[return-value]

    def size(self, name: str) -> int | None:
        system, key = self._key(name)
        with contextlib.suppress(FileNotFoundError), self._storage_errors(name):
            facts = system.info(key)
            return int(facts["size"] or 0) if facts["type"] == "file" else None
        return None

    def entries(self) -> list[str]:
        system, path = self._located
        paths: list[str] = []
        with contextlib.suppress(FileNotFoundError), self._storage_errors(""):
            paths = system.ls(path, detail=False)
        names = {str(name).rstrip("/")[len(path) + 1 :] for name in paths}
        return sorted(names - {""})

    def glob(self, pattern: str) -> list[str]:
        system, path = self._located
        with self._storage_errors(pattern):
            entries = system.glob(f"{path}/{pattern}", detail=True)
        return sorted(str(name)[len(path) + 1 :] for name, facts in entries.items() if facts["type"] == "file")

    @contextlib.contextmanager
    def writing(self, name: str) -> Iterator[Path]:
        system, key = self._key(name)
        with tempfile.TemporaryDirectory(prefix="vcrgen-") as folder:
            file = Path(folder) / Path(name).name
            yield file
            with self._storage_errors(name, keep=None):
                system.put_file(str(file), key)

    def create(self, name: str, text: str) -> bool:
        system, key = self._key(name)
        if self.size(name) is not None:
            return False
        with contextlib.suppress(FileExistsError), self._storage_errors(name, keep=FileExistsError):
            system.pipe_file(key, text.encode("utf-8"), mode="create")  # the store lets one of several win
            return True
        return False

    def transfer(self, name: str, target: Self, new_name: str) -> None:
        system, key = self._key(name)
        with self._storage_errors(name):
            system.cp_file(key, target._key(new_name)[1])  # the bytes stay in the store

    def remove(self) -> None:
        system, path = self._located
        with contextlib.suppress(FileNotFoundError), self._storage_errors(""):
            system.rm(path, recursive=True)

    def map(self, function: Callable[[V], T], values: Iterable[V]) -> Iterator[T]:
        with ThreadPoolExecutor(_REQUESTS) as threads:
            yield from threads.map(function, values)


class _Object(io.RawIOBase):
    """An open object with the errors of `BucketFolder`."""

    def __init__(self, handle: Any, asking: Callable[[], contextlib.AbstractContextManager[None]]) -> None:
        self._handle, self._storage_errors = handle, asking

    def readable(self) -> bool:
        return True

    seekable = readable

    def readinto(self, buffer: Any) -> int:
        with self._storage_errors():
            data = self._handle.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return int(self._handle.seek(offset, whence))

    def tell(self) -> int:
        return int(self._handle.tell())

    def close(self) -> None:
        if not self.closed:
            self._handle.close()
        super().close()


def remote_url(text: str) -> str | None:
    """URL of an object store without trailing slashes; None for other texts."""
    match = _URL.fullmatch(text)
    return f"{match[1]}://{match[2]}" if match else None


def open_folder(place: str | Path | Folder) -> Folder:
    """Open the folder of a path or URL, without a request.

    Raises:
        StorageError: The text is empty, which would be the current folder.
    """
    if isinstance(place, Folder):
        return place
    if place == "":
        raise StorageError("its name is empty; give a folder, a file or an address")
    url = remote_url(place if isinstance(place, str) else place.as_posix())
    return BucketFolder(url) if url else DiskFolder(Path(place))


def _reason(error: Exception) -> str:
    """Cause of a store's error as part of a sentence."""
    if isinstance(error, PermissionError):
        return "access denied; has this account the right to read, list, write and delete there?"
    if type(error).__name__ == "GatedRepoError":  # not imported: other stores need nothing of the Hub's library
        return "the dataset asks for an agreement; accept it on the Hub and log in with `hf auth login`"
    text = " ".join(str(error).split())[:300].rstrip(". ") or type(error).__name__
    return "".join(letter if letter.isprintable() else "?" for letter in text)
