"""Folders that appear whole: written beside their place, or step by step in a resumable work folder."""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vcrgen.core.errors import OutputError
from vcrgen.core.files import fsync, indented_json, output_errors
from vcrgen.core.lock import locked
from vcrgen.core.storage import Folder

PLAN = "plan.json"
_LONGEST_SHOWN = 24  # characters of a value
_BEFORE = 8  # of them that stand before the first one in which two texts differ
_HASH = re.compile("[0-9a-f]{32,}")
_MOST_SHOWN = 3  # differences


class WorkFolder:
    """The folder inside an output that holds the results of a long job until the output is finished.

    Its ``plan.json`` has a fingerprint of everything that decides the output; a run with another one is refused. On a
    disk a lock excludes other processes. An object store has no locks: it accepts the plan of one run, and runs of the
    same plan write the same bytes.

    Args:
        name: Name of the folder, as ``.vcrgen-build``.
        making: Name of the output in messages, as in "an unfinished build".
        private: Whether only the owner may enter the folder.

    Raises:
        OutputError: The output is a file.
    """

    def __init__(self, out: Folder, name: str, *, making: str, private: bool = False) -> None:
        self._out, self._name, self._making, self._private = out, name, making, private
        self.folder = out.subfolder(name)  # the folder itself
        with output_errors(out):
            if out.local_path and out.local_path.is_file():
                raise OutputError(f"{out} is a file; choose a folder for --out.")

    def check_out(self) -> None:
        """Raise an OutputError unless the output is free, or holds unfinished work of this kind."""
        there = self._out.entries()
        if there and self._name not in there:
            raise OutputError(f"{self._out} is not empty and not an unfinished {self._making}; choose another --out.")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Create and lock the folder, and remove temporary files; an OutputError if another process has it."""
        disk = self.folder.local_path
        if disk is None:
            yield
            return
        disk.mkdir(parents=True, exist_ok=True)
        if self._private:
            disk.chmod(0o700)
        busy = OutputError(f"Another process is writing to {self._out}; wait for it or choose another --out.")
        with locked(disk / "lock", busy):
            for half in disk.rglob(".*.tmp"):
                half.unlink(missing_ok=True)
            yield

    def freeze(self, plan: Mapping[str, Any]) -> None:
        """Write the plan, or compare it with the plan that is there.

        Args:
            plan: JSON values; ``facts`` decide the output, ``fingerprint`` is their hash.

        Raises:
            OutputError: The folder holds unfinished work of another plan; the message names the differences.
        """
        text = indented_json(plan)
        if self.folder.create(PLAN, text):
            return
        there, here = json.loads(self.folder.read_text(PLAN)), json.loads(text)
        if there.get("fingerprint") != here["fingerprint"]:
            raise OutputError(
                f"{self.folder} holds an unfinished {self._making} of another plan "
                f"({differences(there.get('facts', {}), here['facts'])}); finish that one with its own command, or "
                "remove that folder."
            )

    def clear(self) -> None:
        """Remove the folder, and an empty output."""
        self.folder.remove()
        if not self._out.entries():
            self._out.remove()


def differences(there: Mapping[str, Any], here: Mapping[str, Any]) -> str:
    """Differences of two plans as part of a sentence: ``seed 0 there, 1 here; font``."""
    names = [name for name in {**here, **there} if there.get(name) != here.get(name)]
    differing = []
    for name in names[:_MOST_SHOWN]:
        values = _shown_values(there.get(name), here.get(name))
        differing.append(f"{name} {values[0]} there, {values[1]} here" if values else name)
    more = [f"{len(names) - len(differing)} more"] if len(names) > len(differing) else []
    return "; ".join(differing + more)


def _shown_values(there: object, here: object) -> tuple[str, str] | None:
    """Return two different values for a message, long texts shortened; None for long lists and hashes."""
    texts = ["none" if value is None else str(value) for value in (there, here)]
    if max(map(len, texts)) <= _LONGEST_SHOWN:
        return texts[0], texts[1]
    if not all(value is None or isinstance(value, str) for value in (there, here)) or any(map(_HASH.fullmatch, texts)):
        return None
    start = max(len(os.path.commonprefix(texts)) - _BEFORE, 0)  # noqa: RUF071 - of texts, by characters
    return _part(texts[0], start), _part(texts[1], start)


def _part(text: str, start: int) -> str:
    """Return an excerpt of a text in one line, with dots for omitted parts."""
    end = start + _LONGEST_SHOWN
    return f"{'…' if start else ''}{repr(text[start:end])[1:-1]}{'…' if end < len(text) else ''}"


@contextmanager
def new_folder(out: Path, *, mark: str | None = None) -> Iterator[Path]:
    """Open a temporary folder that becomes ``out`` when the block ends well, and is removed otherwise.

    What a killed process left beside ``out`` is removed first.

    Args:
        out: A new or empty folder, or one with a file called ``mark``, which is replaced.
        mark: File that identifies an earlier output of the same kind.

    Raises:
        OutputError: ``out`` holds something else, another process is writing it, or it cannot be written.
    """
    with output_errors(out):
        target = out.resolve()  # a link would be replaced, not what it leads to
        check_free(out, mark=mark)
        name = hashlib.sha256(os.fsencode(target.name)).hexdigest()[:16]
        temporary, old, lock = (target.with_name(f".vcrgen-{name}.{kind}") for kind in ("tmp", "old", "lock"))
        with locked(lock, OutputError(f"Another process is writing {out}; wait for it or choose another folder.")):
            if old.exists() and not target.exists():
                old.replace(target)
            for left in (temporary, old):
                shutil.rmtree(left, ignore_errors=True)
            temporary.mkdir(parents=True)
            try:
                yield temporary
                _flush(temporary)
                if target.exists():
                    target.replace(old)
                temporary.replace(target)
                fsync(target.parent)
                shutil.rmtree(old, ignore_errors=True)
            finally:
                shutil.rmtree(temporary, ignore_errors=True)


def check_free(out: Path, *, mark: str | None = None) -> None:
    """Raise an OutputError if `new_folder` could not write ``out``, before a long job begins."""
    with output_errors(out):
        if out.exists() and not _may_be_replaced(out, mark):
            content = "files already" if mark is None else "something else"
            raise OutputError(f"{out} is there and holds {content}; choose a new or an empty folder.")


def _may_be_replaced(out: Path, mark: str | None) -> bool:
    return out.is_dir() and (not any(out.iterdir()) or (mark is not None and (out / mark).is_file()))


def _flush(folder: Path) -> None:
    for root, _, files in os.walk(folder, topdown=False):
        for name in files:
            fsync(Path(root, name))
        fsync(Path(root))
