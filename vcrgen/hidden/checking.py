"""What the checks of hidden sets share: how one fails, and what is read again and again."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from vcrgen.dataset.key import FEEDBACK, FINAL, REPORT, VERSION
from vcrgen.dataset.manifest import MANIFEST
from vcrgen.dataset.tables import METADATA
from vcrgen.hidden.public import README, public_files, read_file

TEXT_FILES = (METADATA, MANIFEST, README)
ITEM_ID = re.compile(r"[0-9a-f]{32}")
COMMITMENT = re.compile(r"[0-9a-f]{64}")
_BY_CHANCE = re.compile(r"[0-9a-fA-F]{0,11}|.{0,3}")  # ids of a source that random ids hold by chance


class CheckFailed(Exception):
    """What a check found; its text shows no answer."""


def fail_if(condition: object, detail: str) -> None:
    """Let a check fail."""
    if condition:
        raise CheckFailed(detail)


def public_facts(public: Path) -> dict[str, Any]:
    """What the public part says of itself."""
    value = json.loads(read_file(public / MANIFEST))
    fail_if(not isinstance(value, dict) or value.get("version") != VERSION, "the manifest is of another version")
    return dict(value)


def public_rows(public: Path) -> list[dict[str, Any]]:
    """The rows of the questions' file."""
    return [dict(json.loads(line)) for line in read_file(public / METADATA).splitlines()]


def look_for(texts: set[str], public: Path) -> None:
    """Fail if a file's name or text holds one of some texts, whatever the case."""
    secrets = {form.casefold() for text in texts for form in (text, json.dumps(text)[1:-1])}
    files = list(public_files(public))
    names = "\n".join(file.relative_to(public).as_posix() for file in files).casefold()
    written = "\n".join(read_file(public / name).decode() for name in TEXT_FILES).casefold()
    for secret in secrets:
        fail_if(secret in names, "a file's name holds a text of the key")
        fail_if(secret in written, f"{', '.join(TEXT_FILES)}: one of them holds a text of the key")


def source_ids(answers: Sequence[Mapping[str, Any]]) -> set[str]:
    """The ids that items have in the source, but for those that random digits hold by chance."""
    return {item["source_id"] for item in answers if not _BY_CHANCE.fullmatch(item["source_id"])}


def check_part_sizes(key_folder: Path, answers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Every item is in one of the two parts, as many as the report of the key says; gives that report."""
    counts = Counter(answer.get("part") for answer in answers)
    fail_if(not set(counts) <= {FEEDBACK, FINAL}, "an item of the key is in neither part")
    report = json.loads(read_file(key_folder / REPORT))
    told = {part: counted["items"] for part, counted in report["parts"].items()}
    fail_if(Counter(told) != counts, "the parts are not as large as the report says")
    return dict(report)
