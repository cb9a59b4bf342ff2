"""What is printed: wrapped for a person before a terminal, whole for a program that reads a pipe."""

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from vcrgen.cli.terminal import draw, plain, print_parts, show_scores, show_signature
from vcrgen.report.table import Interval, Percent, Table
from vcrgen.scorer import Options, Session

SIGNATURE = "|".join(f"name{number}:value{number}" for number in range(30))
SENTENCE = " ".join(f"word{number}" for number in range(40))


def printed(*parts: Any, terminal: bool = False, width: int = 80) -> list[str]:
    page = io.StringIO()
    print_parts(Console(file=page, width=width, force_terminal=terminal, color_system=None), parts)
    return page.getvalue().splitlines()


def test_piped_text_is_not_wrapped() -> None:
    """A signature was broken every 80 characters, within words."""
    assert printed(plain(SENTENCE), show_signature("abcd", SIGNATURE)) == [SENTENCE, f"Signature abcd: {SIGNATURE}"]


def test_a_sentence_is_wrapped_on_a_terminal_and_a_signature_is_not() -> None:
    *lines, last = printed(plain(SENTENCE), show_signature("", SIGNATURE), terminal=True)
    assert len(lines) > 3 and all(len(line) <= 80 for line in lines) and " ".join(map(str.strip, lines)) == SENTENCE
    assert last == f"Signature: {SIGNATURE}"


def test_a_document_is_written_as_it_is() -> None:
    assert printed(f"{SENTENCE}[bold]\n") == [f"{SENTENCE}[bold]"]


def test_a_table_is_drawn_without_the_columns_left_out() -> None:
    rows = [("a\x1b[31m[bold]", "b", Percent(-0.00001), Interval(0.5, 0.75))]
    table = Table(title="Title", heads=("A", "B", "Exact match", "95 % interval"), labels=2, rows=rows)
    lines = [line.rstrip() for line in printed(draw(table, {"B"}))]
    assert lines[-2:] == ["A               Exact 95 % interval", "a\\x1b[31m[bold]  0.00  50.00..75.00"]
    assert "Title" in lines[-3]


@pytest.mark.parametrize("width", [40, 100])
def test_all_of_a_report_in_a_file(tmp_path: Path, width: int) -> None:
    (tmp_path / "key.jsonl").write_text('{"question_id": "a", "crossed_text": ["one two"]}\n', "utf-8")
    file = tmp_path / f"{'long-name-' * 9}.jsonl"
    file.write_text('{"question_id": "a", "output": "one two"}\n', "utf-8")
    result = Session(tmp_path / "key.jsonl", Options()).score(file)
    lines = printed(*show_scores([result], [], groups=True), width=width)
    assert lines[0] == f"{file.stem}: vcrgen-jsonl, language en"
    assert lines[-1] == f"Signature {result.signature.short}: {result.signature}"
