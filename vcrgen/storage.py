"""Folders of a disk and of an object store (``s3://``, ``gs://``, ``hf://``): what builds read from and write to.

Files appear whole or not at all. On a disk they are written under a temporary name and renamed; an object store shows
an object when all of it has arrived, so there they are written beside it and put under their final name.
"""

# ruff: noqa: D102 as :class:`Folder` documents the methods of both kinds of folders

import contextlib
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

from vcrgen.files import atomic_path, fsync, indented_json, write_text

T = TypeVar("T")
V = TypeVar("V")

# A Path has lost one of the slashes.
_URL = re.compile(r"(s3|gs|hf):/{1,2}([^/].*?)/*")
_EXTRAS = {"s3": "s3", "gs": "gs"}
_REQUESTS = 8  # at once; each of them mostly waits, and may hold a row group
_AHEAD = 8 << 20  # bytes fetched at a time from an object that is read from one end to the other


class StorageError(OSError):
    """An object store does not do what it is asked; the text says where and why."""


class Folder(ABC):
    """A folder. Names are relative to it, with ``/``; an instance is cheap to pickle and holds nothing open."""

    disk: Path | None = None  # where it is on this machine; None in an object store

    @abstractmethod
    def __str__(self) -> str:
        """As the user wrote it."""

    @abstractmethod
    def below(self, name: str) -> Self:
        """A folder inside this one."""

    @abstractmethod
    def make(self) -> None:
        """Make the folder, where folders have to be made."""

    @abstractmethod
    def open(self, name: str, *, ahead: bool = False) -> BinaryIO:
        """Open a file for reading; an OSError if it is not there, or cannot be read.

        ``ahead`` says that it is read mostly from one end to the other; otherwise only what is asked for is fetched.
        """

    @abstractmethod
    def size(self, name: str) -> int | None:
        """Bytes of a regular file, or None where there is none: a named pipe would be waited on for ever."""

    @abstractmethod
    def entries(self) -> list[str]:
        """Sorted names of the files and folders directly in it; none where it is not there."""

    @abstractmethod
    def glob(self, pattern: str) -> list[str]:
        """Sorted names of the files that match a pattern, in which ``**/`` is any folder or none."""

    @abstractmethod
    def writing(self, name: str) -> contextlib.AbstractContextManager[Path]:
        """A file of this machine to write to; it is in its place, whole, when the block has ended well."""

    @abstractmethod
    def create(self, name: str, text: str) -> bool:
        """Write a file that is not there yet; False where it is, even if somebody else wrote it just now."""

    @abstractmethod
    def bring(self, name: str, target: Self, new_name: str) -> None:
        """Bring a file to another folder of the same kind.

        On a disk, where it may be a folder too, it is moved; in a store it is copied, as others may look for it here.
        """

    @abstractmethod
    def remove(self) -> None:
        """Remove the folder and all that is in it, if it is there."""

    @abstractmethod
    def each(self, function: Callable[[V], T], values: Iterable[V]) -> Iterator[T]:
        """The results of a function that waits for files of the folder, in order; in a store, several run at once."""

    def read_text(self, name: str) -> str:
        """The text of a UTF-8 file; an OSError if it cannot be read, a ValueError if it is not UTF-8."""
        with self.open(name, ahead=True) as handle:
            return handle.read().decode("utf-8")

    def write_text(self, name: str, text: str) -> None:
        """Write a text as UTF-8, with line feeds as they are."""
        with self.writing(name) as file:
            file.write_bytes(text.encode("utf-8"))

    def write_json(self, name: str, value: Any) -> None:
        """Write a value as indented JSON; the same value gives the same bytes."""
        self.write_text(name, indented_json(value))

    def sha256(self, name: str) -> str:
        """The SHA-256 of a file's bytes, in hex."""
        handle: Any
        with self.open(name, ahead=True) as handle:
            return hashlib.file_digest(handle, "sha256").hexdigest()


class DiskFolder(Folder):
    """A folder of this machine, or of a network drive."""

    def __init__(self, path: Path) -> None:
        self._shown = path
        self.disk: Path = path.absolute()  # another process may have another working folder

    def __str__(self) -> str:
        return str(self._shown)

    def below(self, name: str) -> Self:
        return type(self)(self._shown / name)

    def make(self) -> None:
        self.disk.mkdir(parents=True, exist_ok=True)

    def open(self, name: str, *, ahead: bool = False) -> BinaryIO:
        return (self.disk / name).open("rb")

    def size(self, name: str) -> int | None:
        file = self.disk / name
        return file.stat().st_size if file.is_file() else None

    def entries(self) -> list[str]:
        with contextlib.suppress(FileNotFoundError):
            return sorted(os.listdir(self.disk))  # noqa: PTH208
        return []

    def glob(self, pattern: str) -> list[str]:
        # Path.glob takes no pattern that leads out of the folder.
        found = glob.glob(pattern, root_dir=self.disk, recursive=True)  # noqa: PTH207
        return sorted(Path(name).as_posix() for name in found if (self.disk / name).is_file())

    def writing(self, name: str) -> contextlib.AbstractContextManager[Path]:
        return atomic_path(self.disk / name)

    def create(self, name: str, text: str) -> bool:
        if (self.disk / name).exists():  # the caller's lock keeps others away
            return False
        write_text(self.disk / name, text)
        return True

    def bring(self, name: str, target: Self, new_name: str) -> None:
        goal = target.disk / new_name
        (self.disk / name).replace(goal)
        fsync(goal.parent)

    def remove(self) -> None:
        for _ in range(3):  # an attempt that nobody waits for may still be writing; what is left does no harm
            shutil.rmtree(self.disk, ignore_errors=True)
            if not self.disk.exists():
                return

    def each(self, function: Callable[[V], T], values: Iterable[V]) -> Iterator[T]:
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
        """The file system, of which `fsspec` keeps one for each process, and the folder's path in it."""
        import fsspec

        scheme = self._url.partition(":")[0]
        try:
            # Others write to the same folder, so a list that was read a moment ago is not believed.
            system, path = fsspec.core.url_to_fs(self._url, use_listings_cache=False)
        except ImportError:
            raise StorageError(f'{scheme}:// needs an extra: pip install "vcrgen[{_EXTRAS[scheme]}]"') from None
        except Exception as error:  # whatever the store's library raises for credentials
            raise StorageError(f"{self._url}: {_reason(error)}") from None
        return system, path

    def _key(self, name: str) -> tuple[Any, str]:
        system, path = self._located
        return system, f"{path}/{name}" if name else path

    @contextlib.contextmanager
    def _asking(self, name: str, *, passing: type[OSError] | None = FileNotFoundError) -> Iterator[None]:
        """Make one kind of error of what the store's libraries raise, all but the one that the caller can do with."""
        try:
            yield
        except StorageError:
            raise
        except Exception as error:
            if passing and isinstance(error, passing):
                raise passing(error.errno or 0, _reason(error), f"{self._url}/{name}") from None
            raise StorageError(f"{self._url}/{name}: {_reason(error)}") from None

    def below(self, name: str) -> Self:
        return type(self)(f"{self._url}/{name}")

    def make(self) -> None:
        pass  # a store has no folders but those that the names of objects make

    def open(self, name: str, *, ahead: bool = False) -> BinaryIO:
        system, key = self._key(name)
        with self._asking(name):
            cache = {"cache_type": "readahead", "block_size": _AHEAD} if ahead else {"cache_type": "none"}
            handle = system.open(key, "rb", **cache)
        raw = _Object(handle, lambda: self._asking(name))
        return io.BufferedReader(raw) if ahead else raw  # type: ignore[return-value]

    def size(self, name: str) -> int | None:
        system, key = self._key(name)
        with contextlib.suppress(FileNotFoundError), self._asking(name):
            found = system.info(key)
            return int(found["size"] or 0) if found["type"] == "file" else None
        return None

    def entries(self) -> list[str]:
        system, path = self._located
        found: list[str] = []
        with contextlib.suppress(FileNotFoundError), self._asking(""):
            found = system.ls(path, detail=False)
        names = {str(name).rstrip("/")[len(path) + 1 :] for name in found}
        return sorted(names - {""})

    def glob(self, pattern: str) -> list[str]:
        system, path = self._located
        with self._asking(pattern):
            found = system.glob(f"{path}/{pattern}", detail=True)
        return sorted(str(name)[len(path) + 1 :] for name, facts in found.items() if facts["type"] == "file")

    @contextlib.contextmanager
    def writing(self, name: str) -> Iterator[Path]:
        system, key = self._key(name)
        with tempfile.TemporaryDirectory(prefix="vcrgen-") as folder:
            file = Path(folder) / Path(name).name
            yield file
            with self._asking(name, passing=None):
                system.put_file(str(file), key)

    def create(self, name: str, text: str) -> bool:
        system, key = self._key(name)
        if self.size(name) is not None:
            return False
        with contextlib.suppress(FileExistsError), self._asking(name, passing=FileExistsError):
            system.pipe_file(key, text.encode("utf-8"), mode="create")  # the store lets one of several win
            return True
        return False

    def bring(self, name: str, target: Self, new_name: str) -> None:
        system, key = self._key(name)
        with self._asking(name):
            system.cp_file(key, target._key(new_name)[1])  # the bytes stay in the store

    def remove(self) -> None:
        system, path = self._located
        with contextlib.suppress(FileNotFoundError), self._asking(""):
            system.rm(path, recursive=True)

    def each(self, function: Callable[[V], T], values: Iterable[V]) -> Iterator[T]:
        with ThreadPoolExecutor(_REQUESTS) as threads:
            yield from threads.map(function, values)


class _Object(io.RawIOBase):
    """An open object; whatever goes wrong while it is read is said as for every other request."""

    def __init__(self, handle: Any, asking: Callable[[], contextlib.AbstractContextManager[None]]) -> None:
        self._handle, self._asking = handle, asking

    def readable(self) -> bool:
        return True

    seekable = readable

    def readinto(self, buffer: Any) -> int:
        with self._asking():
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
    """The URL of an object store, without slashes at its end; None for anything else."""
    found = _URL.fullmatch(text)
    return f"{found[1]}://{found[2]}" if found else None


def open_folder(place: str | Path | Folder) -> Folder:
    """The folder that a path or URL names; nothing is asked of a store yet."""
    if isinstance(place, Folder):
        return place
    url = remote_url(place if isinstance(place, str) else place.as_posix())
    return BucketFolder(url) if url else DiskFolder(Path(place))


def _reason(error: Exception) -> str:
    """What a store said, as part of a sentence."""
    if isinstance(error, PermissionError):
        return "access denied; has this account the right to read, list, write and delete there?"
    if type(error).__name__ == "GatedRepoError":  # not imported: other stores need nothing of the Hub's library
        return "the dataset asks for an agreement; accept it on the Hub and log in with `hf auth login`"
    said = " ".join(str(error).split())[:300].rstrip(". ") or type(error).__name__
    return "".join(letter if letter.isprintable() else "?" for letter in said)
