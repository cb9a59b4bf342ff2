"""The log of a service: one JSON object a line on standard error."""

from __future__ import annotations

import json
import logging
import sys
import time
import traceback
from typing import Any

MAX_TEXT = 500


def log_line(what: str, **facts: Any) -> None:
    """Write one line: the time, what happened, and facts about it; never what somebody handed in."""
    line = {"at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "what": what, **facts}
    sys.stderr.write(json.dumps(line, ensure_ascii=True) + "\n")
    sys.stderr.flush()


def log_libraries() -> None:
    """Write what libraries warn of as lines of the same form, from now on."""
    logging.basicConfig(handlers=[_LibraryLog()], level=logging.WARNING, force=True)


def place_of(problem: Exception) -> str:
    """File and line where an error of ours was raised: what the log says of it, as its text could quote anything."""
    frames = traceback.extract_tb(problem.__traceback__)
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""


class _LibraryLog(logging.Handler):
    """What libraries log, in the form of our own lines."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line; of an exception its kind only, as its text could quote anything."""
        kind = record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else None
        text = record.getMessage()[:MAX_TEXT]
        log_line("library", name=record.name, level=record.levelname, text=text, exception=kind)
