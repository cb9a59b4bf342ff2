"""Accuracy of regex-based answer extraction on the labelled corpus of outputs, per key letter.

    python scripts/measure_extraction.py

The corpus is tests/scorer/mcq/answers.txt, each template filled for every key letter. The table is of the half of the
templates that a hash holds back; below it, the other half, and the kinds of which not all is read. First for items of
four options, then of ten.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.scorer.mcq.answers import Answer, answers
from vcrgen.data.tasks.bloom import LETTERS
from vcrgen.scorer.mcq.grammar import read_choice


def main() -> None:
    for options in (4, 10):
        print(f"{options} options\n")
        measure(answers(options))


def measure(corpus: Sequence[Answer]) -> None:
    """Print the tables of a corpus."""
    held = [each for each in corpus if each.held_back]
    print("| key | outputs | right | wrong | unread |\n|---|---|---|---|---|")
    for key in sorted({each.key for each in held}):
        print(row(LETTERS[key], [each for each in held if each.key == key]))
    print(row("all", held))
    print(f"\nNot held back:\n{row('all', [each for each in corpus if not each.held_back])}\n\nKinds, held back:")
    for kind in dict.fromkeys((each.lang, each.kind) for each in held):
        some = [each for each in held if (each.lang, each.kind) == kind]
        if outcomes(some)["right"] < len(some):
            print(row(" ".join(kind), some))
    print()


def outcomes(some: Iterable[Answer]) -> Counter[str]:
    """Count the outputs that are read right, wrong, or not at all."""
    read = [(read_choice(each.output, each.options).choice, each.choice) for each in some]
    return Counter("right" if got == known else "unread" if got is None else "wrong" for got, known in read)


def row(name: str, some: list[Answer]) -> str:
    """One row of the table, in percent."""
    found = outcomes(some)
    shares = " | ".join(f"{100 * found[kind] / len(some):.2f} %" for kind in ("right", "wrong", "unread"))
    return f"| {name} | {len(some):,} | {shares} |"


if __name__ == "__main__":
    main()
