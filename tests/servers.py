"""Files of ``--server`` for tests."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml


def with_file(words: Iterable[Any], folder: Path | None = None) -> list[Any]:
    """Return the words of a command; a mapping among them is written to a file, and ``--server FILE`` stands for it."""
    found: list[Any] = []
    for word in words:
        if isinstance(word, dict):
            file = (folder or Path()) / "server.yaml"
            file.write_text(yaml.safe_dump(word), "utf-8")
            found += ["--server", file]
        else:
            found.append(word)
    return found
