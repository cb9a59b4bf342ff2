"""The log of a service: one JSON object a line on standard error."""

import json
import logging
import sys
import time
import traceback
from contextlib import suppress
from typing import Any

MAX_TEXT = 500


def log_line(what: str, **facts: Any) -> None:
    """Write one line: the time, the event, and facts about it; never anything that somebody handed in."""
    line = {"at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "what": what, **facts}
    with suppress(OSError):  # of a full disk: the service goes on without the line
        sys.stderr.write(json.dumps(line, ensure_ascii=True) + "\n")
        sys.stderr.flush()


def log_library_warnings() -> None:
    """Write warnings of libraries as lines of the same form, from now on."""
    logging.basicConfig(handlers=[_LibraryLog()], level=logging.WARNING, force=True)


def raised_at(problem: Exception) -> str:
    """File and line where an error was raised, for the log: its text could quote anything."""
    frames = traceback.extract_tb(problem.__traceback__)
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""


class _LibraryLog(logging.Handler):
    """Handler that writes the records of libraries in the form of our own lines."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line; of an exception only its class, as its text could quote anything."""
        kind = record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else None
        text = record.getMessage()[:MAX_TEXT]
        log_line("library", name=record.name, level=record.levelname, text=text, exception=kind)
