"""Folders that appear whole: made at once beside their place, or step by step in a work folder that can be resumed."""

import json
import os
import re
import shutil
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vcrgen.errors import OutputError
from vcrgen.files import fsync, indented_json, output_errors
from vcrgen.storage import Folder
from vcrgen.work.lock import locked

PLAN = "plan.json"
_LONGEST_SHOWN = 24  # characters of a value
_BEFORE = 8  # of them that stand before the first one in which two texts differ
_HASH = re.compile("[0-9a-f]{32,}")
_MOST_SHOWN = 3  # differences


class WorkFolder:
    """The folder inside an output in which a long job keeps what it has done until the output is finished.

    It begins with ``plan.json``: a fingerprint of everything that decides the output. A run with another fingerprint
    does not touch it. On a disk a lock keeps other processes out; an object store has no locks. There the store lets
    one of several runs write the plan, and those of the same plan write the same bytes.

    Args:
        out: The job's output.
        name: The folder's name, as ``.vcrgen-build``.
        making: What the output is called in messages, as in "an unfinished build".
        private: Whether only its owner may enter the folder.

    Raises:
        OutputError: The output is a file.
    """

    def __init__(self, out: Folder, name: str, *, making: str, private: bool = False) -> None:
        self._out, self._name, self._making, self._private = out, name, making, private
        self.folder = out.below(name)  # the folder itself
        with output_errors(out):
            if out.disk and out.disk.is_file():
                raise OutputError(f"{out} is a file; choose a folder for --out.")

    def check_out(self) -> None:
        """See that the output's place is free, or holds unfinished work of this kind.

        Raises:
            OutputError: It holds something else.
        """
        there = self._out.entries()
        if there and self._name not in there:
            raise OutputError(f"{self._out} is not empty and not an unfinished {self._making}; choose another --out.")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Make the folder and keep others out of it; files that a killed process was writing are removed.

        Raises:
            OutputError: Another process is at work in it.
        """
        disk = self.folder.disk
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
        """Write the plan, or see that the one there is the same.

        Args:
            plan: JSON values; ``fingerprint`` stands for all that decides the output, ``facts`` says by name what that
                is.

        Raises:
            OutputError: The folder holds unfinished work of another plan; the message names what differs.
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
        """Leave the output's place as it was before the job."""
        self.folder.remove()
        if not self._out.entries():
            self._out.remove()


def differences(there: Mapping[str, Any], here: Mapping[str, Any]) -> str:
    """What two plans differ in, as part of a sentence: ``seed 0 there, 1 here; font``."""
    names = [name for name in {**here, **there} if there.get(name) != here.get(name)]
    shown = []
    for name in names[:_MOST_SHOWN]:
        told = _told(there.get(name), here.get(name))
        shown.append(f"{name} {told[0]} there, {told[1]} here" if told else name)
    more = [f"{len(names) - len(shown)} more"] if len(names) > len(shown) else []
    return "; ".join(shown + more)


def _told(there: object, here: object) -> tuple[str, str] | None:
    """Two values that differ, as a message shows them: of a long text the part where it differs from the other.

    None for long lists, and for hashes, which tell a person nothing.
    """
    texts = ["none" if value is None else str(value) for value in (there, here)]
    if max(map(len, texts)) <= _LONGEST_SHOWN:
        return texts[0], texts[1]
    if not all(value is None or isinstance(value, str) for value in (there, here)) or any(map(_HASH.fullmatch, texts)):
        return None
    start = max(len(os.path.commonprefix(texts)) - _BEFORE, 0)  # noqa: RUF071 - of texts, by characters
    return _part(texts[0], start), _part(texts[1], start)


def _part(text: str, start: int) -> str:
    """As much of a text as is shown, from one of its characters on, in one line; dots stand for what is left out."""
    end = start + _LONGEST_SHOWN
    return f"{'…' if start else ''}{repr(text[start:end])[1:-1]}{'…' if end < len(text) else ''}"


@contextmanager
def new_folder(out: Path, *, mark: str | None = None) -> Iterator[Path]:
    """A temporary folder beside ``out`` that becomes ``out`` when the block ends well, and goes away when not.

    Args:
        out: A new or an empty folder; or one that holds a file called ``mark``, which is replaced as a whole.
        mark: Name of the file by which an earlier output of the same kind is known.

    Raises:
        OutputError: ``out`` holds something else, or cannot be written.
    """
    with output_errors(out):
        target = out.resolve()  # a link would be replaced, not what it leads to
        check_free(out, mark=mark)
        unique = uuid.uuid4().hex
        temporary, old = (target.with_name(f".vcrgen-{unique}.{kind}") for kind in ("tmp", "old"))
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
    """See that :func:`new_folder` may write a folder, before a long job begins.

    Raises:
        OutputError: ``out`` holds something else, or cannot be looked at.
    """
    with output_errors(out):
        if out.exists() and not _may_be_replaced(out, mark):
            raise OutputError(f"{out} is there and holds something else; choose a new or an empty folder.")


def _may_be_replaced(out: Path, mark: str | None) -> bool:
    return out.is_dir() and (not any(out.iterdir()) or (mark is not None and (out / mark).is_file()))


def _flush(folder: Path) -> None:
    for root, _, files in os.walk(folder, topdown=False):
        for name in files:
            fsync(Path(root, name))
        fsync(Path(root))
