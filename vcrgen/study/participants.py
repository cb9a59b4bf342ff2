"""Participants of Prolific: the form of their ids, lists of them, and the hash that stands for one."""

import hashlib
import hmac
import re
from pathlib import Path

from sqlalchemy import Connection

from vcrgen.core.errors import StudyError
from vcrgen.core.reading import check_file_size, iter_lines
from vcrgen.study.store.designs import read_secret

PARTICIPANT = "[0-9a-f]{24}"  # the id of somebody at Prolific
MAX_BYTES = 4 << 20  # of a list


def read_participants(file: Path) -> list[str]:
    """Read a list of ids, one a line, each once.

    Raises:
        StudyError: It cannot be read, is empty, or a line is no id; the message has the line.
    """
    check_file_size(file, MAX_BYTES, "it is not a list of participants", StudyError)
    participants: dict[str, None] = {}
    for number, participant in iter_lines(file, StudyError):
        if not re.fullmatch(PARTICIPANT, participant):
            raise StudyError(
                f"{file}, line {number}: {participant[:40]!r} is no id of Prolific (24 digits of 0-9 and a-f); write"
                " one id a line."
            )
        participants[participant] = None
    if not participants:
        raise StudyError(f"{file} has no id; write one id of Prolific a line.")
    return list(participants)


def visitor_hash(connection: Connection, participant: str) -> str:
    """The hash that stands for a participant in this study, keyed by its secret."""
    return hmac.new(read_secret(connection).encode(), f"visitor {participant}".encode(), hashlib.sha256).hexdigest()
