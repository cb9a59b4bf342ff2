"""The log: one JSON object a line, and of an exception its kind only."""

import errno
import io
import json
import logging
from collections.abc import Iterator

import pytest

from vcrgen.web.log import MAX_TEXT, log_library_warnings, log_line, raised_at


@pytest.fixture
def _root_logger() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:], root.level = handlers, level


def test_a_line_is_one_object_whatever_is_in_it(capsys: pytest.CaptureFixture[str]) -> None:
    log_line("request", path="/a\nb\u2028", size=3)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.isascii()
    values = json.loads(line)
    assert (values["what"], values["path"], values["size"]) == ("request", "/a\nb\u2028", 3)


def test_without_room_for_its_log_a_service_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(io.StringIO):
        def flush(self) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

    full = Full()
    monkeypatch.setattr("sys.stderr", full)
    log_line("worker died", code=1)
    assert "worker died" in full.getvalue()


@pytest.mark.usefixtures("_root_logger")
def test_what_libraries_log_tells_no_text_of_an_exception(capsys: pytest.CaptureFixture[str]) -> None:
    log_library_warnings()
    try:
        raise ValueError("a secret answer")
    except ValueError:
        logging.getLogger("library").exception("it failed %s", "x" * 1000)
    logging.getLogger("library").info("not shown")
    (line,) = capsys.readouterr().err.splitlines()
    values = json.loads(line)
    assert (values["name"], values["level"], values["exception"]) == ("library", "ERROR", "ValueError")
    assert "secret" not in line and len(values["text"]) == MAX_TEXT


def test_the_place_of_an_error_is_where_it_was_raised() -> None:
    try:
        json.loads("{")
    except ValueError as problem:
        assert "decoder.py:" in raised_at(problem)
    assert raised_at(ValueError()) == ""
