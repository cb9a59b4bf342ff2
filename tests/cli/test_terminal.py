"""Output is wrapped for a person before a terminal, and whole for a program that reads a pipe."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from vcrgen.cli.score_output import show_scores, show_signature
from vcrgen.cli.terminal import draw, plain, print_parts
from vcrgen.report.table import Interval, Percent, PValue, Table
from vcrgen.scorer import ScoreOptions, Session
from vcrgen.scorer.citation import citation

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


WIDE = Table(
    title="Title",
    heads=("Mode", "Exact match", "95 % interval", "Boot p", "Holm p"),
    labels=1,
    rows=[("ink-0.05", Percent(1.0), Interval(0.91, 1.0), PValue(0.125), PValue(0.25))],
    breaks=(3,),
)


@pytest.mark.parametrize(
    ("width", "blocks"),
    [
        (46, [["Mode      Exact 95 % interval Boot p Holm p", "ink-0.05 100.00 91.00..100.00  0.125  0.250"]]),
        (42, [["Mode      Exact 95 % interval     p     p", "ink-0.05 100.00 91.00..100.00 0.125 0.250"]]),
        (
            40,
            [
                ["Mode      Exact 95 % interval", "ink-0.05 100.00 91.00..100.00"],
                ["Mode     Boot p Holm p", "ink-0.05  0.125  0.250"],
            ],
        ),
        (
            28,
            [
                ["Mode      Exact", "ink-0.05 100.00"],
                ["Mode     95 % interval", "ink-0.05 91.00..100.00"],
                ["Mode     Boot p Holm p", "ink-0.05  0.125  0.250"],
            ],
        ),
    ],
)
def test_a_table_that_is_too_wide_loses_no_digit(width: int, blocks: list[list[str]]) -> None:
    """At 60 columns a score of 38.57 was printed as "38.5", and at 80 "Holm p" as "Holm"."""
    lines = [line.rstrip() for line in printed(draw(WIDE, ()), width=width)]
    found = "\n".join(lines).strip().split("Title")[1].split("\n\n")
    assert [block.strip("\n").splitlines()[-2:] for block in found] == blocks
    assert all(len(line) <= width for line in lines)


def test_a_label_that_is_wider_than_half_of_a_terminal_is_wrapped() -> None:
    table = Table(title="", heads=("Model", "Exact match"), labels=1, rows=[("long-name-" * 9, Percent(0.5))])
    lines = [line.rstrip() for line in printed(draw(table, ()), width=60)]
    cells = [line.split() for line in lines[-3:]]
    assert "".join(cell[0] for cell in cells[1:]) == "long-name-" * 9 and cells[1][1] == "50.00"


@pytest.mark.parametrize("width", [40, 100])
def test_all_of_a_report_in_a_file(tmp_path: Path, width: int) -> None:
    (tmp_path / "key.jsonl").write_text('{"question_id": "a", "crossed_text": ["one two"]}\n', "utf-8")
    file = tmp_path / f"{'long-name-' * 9}.jsonl"
    file.write_text('{"question_id": "a", "output": "one two"}\n', "utf-8")
    result = Session(tmp_path / "key.jsonl", ScoreOptions()).score(file)
    lines = printed(*show_scores([result], [], details=True), width=width)
    assert lines[0] == citation(result) and lines[2] == f"{file.stem}: vcrgen-jsonl, language en"
    assert lines[-1] == f"Signature {result.signature.short}: {result.signature}"


def test_counts_of_outputs_at_levels_of_ink_fit_80_columns(tmp_path: Path) -> None:
    """The longest names of modes; a head that does not fit loses its end."""
    (tmp_path / "key.jsonl").write_text('{"question_id": "a", "crossed_text": ["one two"]}\n', "utf-8")
    line = {"question_id": "a", "mode": "ink-0.10", "view": "stacked", "output": "one two"}
    (tmp_path / "a.jsonl").write_text(json.dumps(line), "utf-8")
    result = Session(tmp_path / "key.jsonl", ScoreOptions()).score(tmp_path / "a.jsonl")
    assert any(text.endswith("Short Ratio") for text in printed(*show_scores([result], [], details=True)))


def test_a_title_is_wrapped_at_the_terminal_not_at_the_table() -> None:
    table = Table(title="Beside them, in [percent]", heads=("A", "B"), labels=1, rows=[("x", 1)])
    assert [line.rstrip() for line in printed(draw(table, ()))][1:] == ["Beside them, in [percent]", "A B", "x 1"]


def test_heads_are_texts_too() -> None:
    """A model called "[bold]" had a head without a name, and one with a control code moved the terminal."""
    table = Table(title="", heads=("Leaf", "[bold] en", "\x1b[31m"), labels=1, rows=[("x", 1, 2)])
    assert [line.rstrip() for line in printed(draw(table, ()))][-2:] == [
        "Leaf [bold] en \\x1b[31m",
        "x            1        2",
    ]
