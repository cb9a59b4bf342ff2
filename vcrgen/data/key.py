"""The key of a hidden test set: written by ``vcrgen hidden``, read for scoring.

    key/key.json        description, hashes of the files, and a seal made with the maintainer's secret
    key/answers.jsonl   one item a line, with its split
    key/report.json     statistics of the items

The public part has a commitment: the SHA-256 of the key's description, which holds the hashes of all files and a random
nonce. It proves later that the key was not changed, and answers cannot be tested against it.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from vcrgen.core.errors import HiddenSetError
from vcrgen.core.files import canonical_json, sha256_file
from vcrgen.core.signature import Signature
from vcrgen.data.views import View

VERSION = "vcrgen-hidden-4"
HIDDEN_MODE = "mixed"  # of every question; the modes of its spans are in the key
HIDDEN_VIEWS = (View.STACKED, View.TEI)
# The splits of a hidden set, in the field `part` of the key: scored during the open phase, or at the end.
FEEDBACK, FINAL = HIDDEN_SPLITS = ("feedback", "final")
# Of a public part, behind its name.
NO_ANSWERS = (
    "which has no answers: its maintainer scores with the key, and its board checks and scores what teams submit."
)
KEY_FILE, ANSWERS, REPORT = "key.json", "answers.jsonl", "report.json"
MAX_KEY_BYTES = 1 << 20
MAX_LINE_BYTES = 4 << 20
PUBLIC_NOTE = (
    "Pictures that may be public: they were compared with no others. Whoever finds one finds what is written about it, "
    "so a score may be that of a search."
)
SCENES_NOTE = (
    "Drawn scenes: answers can be taken from public ones. Whoever draws 3,600 public scenes, and takes the answer of "
    "the nearest picture with the same question, is right in 51 % of the items; chance is 25 %. So this set leads no "
    "ranking."
)


class Pictures(StrEnum):
    """The source of a hidden set's pictures: a fact of its signature and its public part."""

    COMPARED = "compared"  # none is in the data of --not-in
    PUBLIC = "public"  # they may be
    DRAWN = "drawn"  # built-in, and drawn from the secret

    def note(self, *, mcq: bool) -> str:
        """What the pictures of such a set give away; "" if nothing is known."""
        if self is Pictures.PUBLIC:
            return PUBLIC_NOTE
        return SCENES_NOTE if mcq and self is Pictures.DRAWN else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyManifest:
    """The content of ``key.json``."""

    version: str  # `VERSION`
    language: str  # language code; several with ``+`` between them
    items: int  # questions in the set
    canary: str  # the line that every file of the public part carries
    nonce: str  # random digits that keep the commitment from being guessed
    fingerprint: str  # of source, options, versions and secret
    signature: str  # the signature of scores against this key
    files: Mapping[str, str]  # the key's other files, each with its SHA-256 in hex
    public: str  # SHA-256 over names and hashes of the public images and questions, in hex
    seal: str = ""  # HMAC-SHA256 of all that by the maintainer's secret, in hex
    task: str | None = None  # the task of the questions, as in a dataset's manifest

    def __post_init__(self) -> None:
        if self.version != VERSION:
            raise ValueError(f"version {str(self.version)[:40]!r} is not {VERSION}")
        texts = (
            self.language,
            self.canary,
            self.nonce,
            self.fingerprint,
            self.signature,
            self.public,
            self.seal,
            self.task or "",
        )
        if not isinstance(self.files, Mapping) or set(self.files) != {ANSWERS, REPORT} or type(self.items) is not int:
            raise ValueError("not the description of a key")
        "".join(texts).encode()  # raises where one is no text, or holds half a character, which cannot be hashed
        if Signature.parse(self.signature).facts.get("pictures") not in list(Pictures):
            raise ValueError("not the signature of a key")

    @property
    def pictures(self) -> Pictures:
        """The source of the set's pictures."""
        return Pictures(Signature.parse(self.signature).facts["pictures"])

    @property
    def values(self) -> dict[str, Any]:
        """Content of ``key.json``; a set of pairs has no ``task`` in it."""
        return {name: value for name, value in asdict(self).items() if name != "task" or value is not None}

    @property
    def sealed(self) -> bytes:
        """All of the content but the seal, as canonical JSON: what is sealed and committed to."""
        return canonical_json({name: value for name, value in self.values.items() if name != "seal"}).encode()

    @property
    def commitment(self) -> str:
        """SHA-256 in hex that stands in the public part."""
        return hashlib.sha256(self.sealed).hexdigest()


def note_of(facts: Mapping[str, str], *, mcq: bool) -> str:
    """What the pictures of a set give away, by the facts of a signature; "" for most sets."""
    return Pictures(facts["pictures"]).note(mcq=mcq) if "pictures" in facts else ""


def is_key(folder: Path) -> bool:
    """Return True if a folder is the key of a hidden set."""
    return (folder / KEY_FILE).is_file()


def read_key(folder: Path) -> KeyManifest:
    """Read the description of a key and check the hashes of its files.

    Raises:
        HiddenSetError: The folder is no key, its description is damaged, or a file is missing or was changed.
    """
    file = folder / KEY_FILE
    try:
        if file.stat().st_size > MAX_KEY_BYTES:
            raise HiddenSetError(f"{file} is larger than {MAX_KEY_BYTES >> 20} MiB, so it is not a key.")
        key = KeyManifest(**json.loads(file.read_text("utf-8")))
    except OSError:
        raise HiddenSetError(f"{folder} is not the key of a hidden set (it has no {KEY_FILE}).") from None
    except (ValueError, TypeError, AttributeError, RecursionError):
        raise HiddenSetError(f"{file} is damaged, or of another version of vcrgen.") from None
    for name, digest in key.files.items():
        try:
            same = sha256_file(folder / name) == digest
        except OSError:
            same = False
        if not same:
            raise HiddenSetError(f"{folder / name} is missing or was changed after the set was made.")
    return key


def read_answers(folder: Path) -> Iterator[dict[str, Any]]:
    """Stream the items of a key as JSON objects.

    Raises:
        HiddenSetError: A line is no item or longer than 4 MiB. The message has the line's number, never its text.
    """
    with (folder / ANSWERS).open("rb") as lines:
        for number, line in enumerate(iter(lambda: lines.readline(MAX_LINE_BYTES + 1), b""), start=1):
            try:
                item = json.loads(line.decode("utf-8")) if len(line) <= MAX_LINE_BYTES else None
            except (ValueError, RecursionError):
                item = None
            if not isinstance(item, dict):
                raise HiddenSetError(f"{folder / ANSWERS}, line {number}: not an item of a key.")
            yield item
