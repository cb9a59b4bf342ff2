"""The maintainer's secret: every choice of a hidden set comes from it, and it is never shown."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
from pathlib import Path
from random import Random

from vcrgen.errors import HiddenSetError
from vcrgen.rng import secret_rng

SECRET_BYTES = 32
LEAST_BYTES = 16  # 128 bits
MAX_FILE_BYTES = 4096
_HEX = re.compile(r"(?:[0-9a-fA-F]{2})+")


class Secret:
    """At least 128 secret bits, for choices, ids and seals. It has no text form that could reach a log."""

    __slots__ = ("_key",)

    def __init__(self, value: bytes) -> None:
        self._key = hashlib.sha256(b"vcrgen-hidden\0" + value).digest()

    def __repr__(self) -> str:
        return "Secret(...)"

    def random(self, stage: str, item_id: str) -> Random:
        """A generator for one choice."""
        return secret_rng(self._key, stage, item_id)

    def token(self, purpose: str, text: str) -> str:
        """32 hex digits that look random and are the same for the same purpose and text."""
        return self._mac(f"token\0{purpose}\0{text}".encode())[:32]

    def seal(self, data: bytes) -> str:
        """HMAC-SHA256 of some bytes, in hex."""
        return self._mac(b"seal\0" + data)

    def _mac(self, data: bytes) -> str:
        return hmac.new(self._key, data, hashlib.sha256).hexdigest()


def load_secret(file: Path, *, create: bool) -> tuple[Secret, bool]:
    """Read the secret of a file of at least 32 hexadecimal digits, and say whether it was made.

    With ``create``, a file that is not there is made, and only its owner can read it.

    Raises:
        HiddenSetError: The file is readable by others, too short, or not hexadecimal; the message does not quote it.
    """
    made = create and not file.exists()
    if made:
        _make(file)
    try:
        status = file.stat()
        text = file.read_text("ascii").strip() if status.st_size <= MAX_FILE_BYTES else ""
    except OSError as error:
        raise HiddenSetError(f"The secret file {file} cannot be read: {(error.strerror or '').lower()}.") from None
    except UnicodeDecodeError:
        text = ""
    if os.name == "posix" and status.st_mode & 0o077:
        raise HiddenSetError(f"The secret file {file} can be read by others; protect it with `chmod 600 {file}`.")
    if not _HEX.fullmatch(text):
        raise HiddenSetError(f"The secret file {file} does not hold hexadecimal digits, in pairs, on one line.")
    value = bytes.fromhex(text)
    if len(value) < LEAST_BYTES:
        raise HiddenSetError(
            f"The secret in {file} has {8 * len(value)} bits, and at least {8 * LEAST_BYTES} are needed; "
            "name a file that does not exist yet, and a secret is made there."
        )
    return Secret(value), made


def _make(file: Path) -> None:
    """A new secret, never on disk with other permissions than its owner's."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as handle:
            handle.write(os.urandom(SECRET_BYTES).hex() + "\n")
            handle.flush()
            os.fsync(handle.fileno())
    except OSError as error:
        raise HiddenSetError(f"The secret file {file} cannot be made: {(error.strerror or '').lower()}.") from None
