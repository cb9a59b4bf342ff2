"""The maintainer's secret, from which all random choices of a hidden set are derived."""

import hashlib
import hmac
import os
import re
from pathlib import Path
from random import Random

from vcrgen.core.errors import HiddenSetError
from vcrgen.core.files import fsync
from vcrgen.core.rng import secret_rng

SECRET_BYTES = 32
MIN_BYTES = 16  # 128 bits
MAX_FILE_BYTES = 4096
_MADE = "made "
_HEX = re.compile(r"(?:[0-9a-fA-F]{2})+")


class Secret:
    """A secret of at least 128 bits for choices, ids and seals, without a text form that could reach a log."""

    __slots__ = ("_key",)

    def __init__(self, value: bytes) -> None:
        self._key = hashlib.sha256(b"vcrgen-hidden\0" + value).digest()

    def __repr__(self) -> str:
        return "Secret(...)"

    def random(self, stage: str, item_id: str) -> Random:
        """Random generator of one choice: equal words give equal choices."""
        return secret_rng(self._key, stage, item_id)

    def token(self, purpose: str, text: str) -> str:
        """Return 32 pseudorandom hex digits for a purpose and a text."""
        return self._mac(f"token\0{purpose}\0{text}".encode())[:32]

    def number(self, purpose: str) -> int:
        """Return a pseudorandom number of 256 bits for a purpose."""
        return int(self._mac(f"number\0{purpose}".encode()), 16)

    def seal(self, data: bytes) -> str:
        """HMAC-SHA256 of some bytes under the secret, in hex."""
        return self._mac(b"seal\0" + data)

    def _mac(self, data: bytes) -> str:
        return hmac.new(self._key, data, hashlib.sha256).hexdigest()


def load_secret(file: Path, *, create: bool) -> Secret:
    """Read the secret of a file of at least 32 hexadecimal digits.

    Further lines name its set: see `remember_set`. With ``create``, a missing file is created, readable only by
    its owner.

    Raises:
        HiddenSetError: The file is readable by others, too short, or not hexadecimal; the message does not quote it.
    """
    if create and not file.exists():
        _make(file)
    try:
        status = file.stat()
        text = _lines(file)[0].strip()
    except OSError as error:
        raise HiddenSetError(f"The secret file {file} cannot be read: {(error.strerror or '').lower()}.") from None
    except UnicodeDecodeError:
        text = ""
    if os.name == "posix" and status.st_mode & 0o077:
        raise HiddenSetError(f"The secret file {file} can be read by others; protect it with `chmod 600 {file}`.")
    if not _HEX.fullmatch(text):
        raise HiddenSetError(f"The secret file {file} does not hold hexadecimal digits, in pairs, on one line.")
    value = bytes.fromhex(text)
    if len(value) < MIN_BYTES:
        raise HiddenSetError(
            f"The secret in {file} has {8 * len(value)} bits, and at least {8 * MIN_BYTES} are needed; "
            "name a file that does not exist yet, and a secret is made there."
        )
    return Secret(value)


def open_secret(file: Path, out: Path) -> Secret:
    """Load the secret of a set, and create one for a new set only; see `load_secret`.

    Raises:
        HiddenSetError: The file is inside of the set, or unusable.
    """
    if file.resolve().is_relative_to(out.resolve()):
        raise HiddenSetError(f"The secret file {file} lies inside {out}; keep it away from what is published.")
    is_new = not (out.is_dir() and any(out.iterdir()))
    if not is_new and not file.exists():
        raise HiddenSetError(
            f"There is no secret file {file}, and {out} is not empty; name the secret of the set there, or another "
            "folder for --out."
        )
    return load_secret(file, create=is_new)


def check_unused(file: Path, fingerprint: str) -> None:
    """Raise a HiddenSetError if the secret of a file has made another set than the one of this fingerprint."""
    fingerprints = {line.removeprefix(_MADE) for line in _lines(file)[1:]}
    if fingerprints - {fingerprint}:
        raise HiddenSetError(
            f"The secret in {file} has made another hidden set already, and two sets of one secret have the same "
            "canary, and the same ids for the same pairs; name a new file for --secret-file, or give --reuse-secret if "
            "nobody has seen that set."
        )


def remember_set(file: Path, fingerprint: str) -> None:
    """Append the fingerprint of its set to the file of a secret: a line ``made FINGERPRINT``.

    Raises:
        HiddenSetError: It cannot be written.
    """
    check_unused(file, fingerprint)  # another run may have made one since the beginning
    if f"{_MADE}{fingerprint}" in _lines(file):
        return
    try:
        with file.open("a", encoding="ascii") as handle:
            handle.write(("" if file.read_bytes().endswith(b"\n") else "\n") + f"{_MADE}{fingerprint}\n")
        fsync(file)
    except OSError as error:
        raise HiddenSetError(
            f"The secret file {file} cannot be written, and it is to name the set that was made of it: "
            f"{(error.strerror or '').lower()}; let its owner write it, or give --reuse-secret."
        ) from None


def _lines(file: Path) -> list[str]:
    """Digits of a file of a secret, and the lines after them; an empty text for other files."""
    text = file.read_text("ascii") if file.stat().st_size <= MAX_FILE_BYTES else ""
    first, *others = text.strip().split("\n")
    return [first, *others] if all(line.startswith(_MADE) for line in others) else [""]


def _make(file: Path) -> None:
    """Create a new secret with its owner's permissions only."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "w", encoding="ascii") as handle:
                handle.write(os.urandom(SECRET_BYTES).hex() + "\n")
                handle.flush()
                os.fsync(handle.fileno())
        except BaseException:
            file.unlink()  # a part of a secret would be in the way of the next try
            raise
    except OSError as error:
        raise HiddenSetError(f"The secret file {file} cannot be made: {(error.strerror or '').lower()}.") from None
