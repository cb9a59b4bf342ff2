"""Measure the recall of OCR on the visible words of datasets, and its exact match on the masked spans.

    python scripts/measure_ocr.py data/vcr-en data/vcr-zh [--view tei] [--limit 50] [--workers 2]

Each dataset's outputs are read from DATASET-ocr-VIEW.jsonl beside it, and made there first if there is no such file
(by `vcrgen baseline ocr`, which needs the extra `ocr`). A row of the Markdown table that comes out is a dataset;
figures are percent, the font's size is in pixels:

* recall: the share of the words outside all spans that are in the output, each as often as it is in the caption;
  letters have to agree in case, punctuation does not count. In Chinese, characters take the place of words;
* EM: Exact Match on the spans, by the scorer's `paper` protocol, over the questions that have an output.
"""

import argparse
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vcrgen.cli.baseline import ocr
from vcrgen.core.records import NAMED_MODES
from vcrgen.data.manifest import read_manifest
from vcrgen.data.reader import open_dataset
from vcrgen.data.tasks.vcr import VCR
from vcrgen.scorer import ScoreOptions, Session
from vcrgen.text.languages import LANGUAGES

WORD = re.compile(r"[^\W_]+")


@dataclass
class Measured:
    """Counts over the outputs of one dataset in one mode."""

    questions: int = 0
    units: int = 0
    units_found: int = 0
    spans: int = 0
    spans_found: int = 0

    @property
    def recall(self) -> str:
        """Share of the uncovered words or characters that were read, in percent."""
        return f"{100 * self.units_found / self.units:.1f}" if self.units else "-"

    @property
    def exact(self) -> str:
        """Share of the spans that were recovered, in percent."""
        return f"{100 * self.spans_found / self.spans:.1f}" if self.spans else "-"


def units(text: str, lang: str) -> Counter[str]:
    """The words of a text, or its characters in a language that is written without spaces."""
    words = WORD.findall(text)
    return Counter(words) if LANGUAGES[lang].break_unit == "word" else Counter("".join(words))


def uncovered(caption: str, spans: Iterable[Mapping[str, Any]]) -> str:
    """The caption with a line break in the place of each span."""
    parts, start = [], 0
    for span in sorted(spans, key=lambda span: int(span["start"])):
        parts.append(caption[start : span["start"]])
        start = span["end"]
    return "\n".join([*parts, caption[start:]])


def shown_texts(dataset: Path) -> dict[str, str]:
    """Question id to what is not covered of its caption; it is the same in both modes."""
    data = open_dataset(dataset, VCR)
    rows = data.select(mode=data.modes[0]).rows(["question_id", "caption", "spans"])
    return {row["question_id"]: uncovered(row["caption"], row["spans"]) for _, row in rows}


def measure(dataset: Path, outputs: Path) -> dict[str, Measured]:
    """Compare a file of outputs with a dataset, mode by mode."""
    shown = shown_texts(dataset)
    session = Session(dataset, ScoreOptions(split="all"))
    modes: defaultdict[str, Measured] = defaultdict(Measured)
    for found in session.find_examples(outputs, set(shown)):
        counts = modes[found.mode]
        wanted, read = units(shown[found.question_id], session.key.lang), units(found.output or "", session.key.lang)
        counts.questions += 1
        counts.units += wanted.total()
        counts.units_found += (wanted & read).total()
        counts.spans += len(found.matches)
        counts.spans_found += sum(match.exact for match in found.matches)
    return modes


def row(dataset: Path, outputs: Path) -> str:
    """One row of the table."""
    facts = read_manifest(dataset).signature.facts
    modes = measure(dataset, outputs)
    cells = [dataset.name, facts.get("lang", ""), facts.get("font", "").partition("@")[0], facts.get("size", "")]
    cells.append(f"{max((counts.questions for counts in modes.values()), default=0):,}")
    for mode in NAMED_MODES:
        counts = modes.get(mode.value, Measured())
        cells += [counts.recall, counts.exact]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Parse the arguments, read what was not read yet, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", type=Path, nargs="+", metavar="DATASET", help="folder of a built dataset")
    parser.add_argument("--view", choices=["stacked", "tei"], default="stacked")
    parser.add_argument("--limit", type=int, metavar="N", help="read only the first N questions of each dataset")
    parser.add_argument("--workers", type=int, default=1, help="pictures read at a time (default 1)")
    arguments = parser.parse_args()

    print("| dataset | language | font | size | questions | recall, easy | EM, easy | recall, hard | EM, hard |")
    print("|---|---|---|---|---|---|---|---|---|")
    for dataset in arguments.datasets:
        outputs = dataset.with_name(f"{dataset.name}-ocr-{arguments.view}.jsonl")
        if not outputs.exists():
            ocr(
                dataset,
                out=outputs,
                view=arguments.view,
                mode=None,
                split=None,
                limit=arguments.limit,
                workers=arguments.workers,
            )
        print(row(dataset, outputs), flush=True)


if __name__ == "__main__":
    main()
