"""Accuracy of regex-based answer extraction on published outputs of models, per key letter.

    git clone https://github.com/MMMU-Benchmark/MMMU && git -C MMMU show e3be6827 --stat   # two revisions have outputs
    python scripts/measure_extraction.py FOLDER [--differences FILE]

FOLDER holds files ``*.jsonl`` of MMMU-Pro: those of ``mmmu-pro/output`` at HEAD and of ``mmmu-pro/temp_output`` at
e3be6827. Nothing of them is in the project. An output declares its answer in the asked form if it has a line
``Answer: X``; right is then the label of the last such line, by the expression below.
"""

import argparse
import ast
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from vcrgen.data.tasks.bloom import LETTERS
from vcrgen.scorer.mcq.choices import read_choice

ASKED = re.compile(
    r"^[ \t*#>]*(?:final )?answer[ \t*]*:[ \t*$]*\(?([A-J])\)?(?=$|[\s.*,:;)$])", re.IGNORECASE | re.MULTILINE
)


class Output(NamedTuple):
    """One published output."""

    file: str
    text: str
    options: tuple[str, ...]
    key: int

    @property
    def asked(self) -> int | None:
        """The label of its last line ``Answer: X``, from 0; -1 for one that no option has; None without such a line."""
        lines = ASKED.findall(self.text)
        label = LETTERS.find(lines[-1].upper()) if lines else None
        return -1 if label is not None and label >= len(self.options) else label


def outputs(folder: Path) -> Iterator[Output]:
    """The outputs of a folder; those of items whose options or key are not what the file says are left out."""
    for file in sorted(folder.rglob("*.jsonl")):
        for line in file.read_text("utf-8").splitlines():
            row: dict[str, Any] = json.loads(line)
            four = "4opts" in file.name or "shuffled_options" not in row
            shown = row["options"] if four else row["shuffled_options"]
            options = ast.literal_eval(shown) if isinstance(shown, str) else shown
            key = LETTERS.find(str(row["answer"] if four else row.get("shuffled_options_answer")))
            if isinstance(row.get("response"), str) and len(options) <= len(LETTERS):
                yield Output(file.name, row["response"], tuple(map(str, options)), key)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--differences", type=Path, help="A file for the outputs that are read otherwise.")
    options = parser.parse_args()
    by_letter: dict[str, Counter[str]] = {}
    kinds: dict[str, Counter[str]] = {}
    different: list[str] = []
    for output in outputs(options.folder):
        reading = read_choice(output.text, output.options)
        kinds.setdefault(output.file, Counter())[reading.kind.value] += 1
        if output.asked is None:
            continue
        wanted = None if output.asked < 0 else output.asked
        outcome = "right" if reading.choice == wanted else "unread" if reading.choice is None else "wrong"
        by_letter.setdefault(LETTERS[wanted] if wanted is not None else "none", Counter())[outcome] += 1
        if outcome != "right":
            different.append(
                f"{outcome} {output.file} {output.options}\n{output.asked} {reading}\n{output.text}\n{'=' * 80}\n"
            )
    print("| label | outputs | right | wrong | unread |\n|---|---|---|---|---|")
    for letter, counts in [*sorted(by_letter.items()), ("all", sum(by_letter.values(), Counter()))]:
        shares = " | ".join(f"{100 * counts[kind] / counts.total():.2f} %" for kind in ("right", "wrong", "unread"))
        print(f"| {letter} | {counts.total():,} | {shares} |")
    print("\n| file | outputs | read | ambiguous | invalid | refused | empty |\n|---|---|---|---|---|---|---|")
    names = ("chosen", "ambiguous", "invalid", "refused", "empty")
    for file, counts in [*kinds.items(), ("all", sum(kinds.values(), Counter()))]:
        shares = " | ".join(f"{100 * counts[kind] / counts.total():.1f} %" for kind in names)
        print(f"| {file} | {counts.total():,} | {shares} |")
    if options.differences:
        options.differences.write_text("".join(different), "utf-8")


if __name__ == "__main__":
    main()
