"""Measure what the visible pixels of covered texts tell: the template baseline on built datasets or public parts.

    python scripts/measure_pixels.py data/vcr-en data/vcr-zh [--limit 60] [--font NAME]
    python scripts/measure_pixels.py data/vcr-bars --modes bits-4,bits-8

A row of the Markdown table is a dataset in a mode. Outputs are read from DATASET-template-MODE.jsonl beside it, and
made there first if there is no such file. Exact match is that of `vcrgen score`; bits are those of the spans that the
lexicon explains.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

VCRGEN = [sys.executable, "-m", "vcrgen"]


def score(outputs: Path, dataset: Path, limit: int | None) -> dict[str, Any]:
    """Return the scores of a file of outputs, of its one mode."""
    words = [*VCRGEN, "score", str(outputs), "--data", str(dataset), "--format", "json"]
    words += ["--subset", f"first{limit}"] if limit else []
    found = subprocess.run(words, check=True, capture_output=True, text=True)
    (scores,) = json.loads(found.stdout)["runs"][0]["scores"]
    return dict(scores)


def measure(dataset: Path, mode: str, limit: int | None, font: str | None) -> list[str]:
    """Return the cells of a row."""
    outputs, seconds = dataset.with_name(f"{dataset.name}-template-{mode}.jsonl"), ""
    if not outputs.is_file():
        words = [*VCRGEN, "baseline", "template", str(dataset), "--mode", mode, "--out", str(outputs)]
        words += ["--limit", str(limit)] if limit else []
        words += ["--font", font] if font else []
        began = time.monotonic()
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
        seconds = f"{time.monotonic() - began:.0f} s"
    lines = [json.loads(line) for line in outputs.read_text("utf-8").splitlines()]
    bits = [span["bits"] for line in lines for span in line["spans"] if span["bits"] is not None]
    row = score(outputs, dataset, limit)
    return [
        dataset.name,
        mode,
        str(row["spans"]),
        f"{100 * row['metrics']['exact']['value']:.1f}",
        f"{statistics.median(bits):.2f}" if bits else "-",
        f"{sum(value < 1 for value in bits) / len(bits):.0%}" if bits else "-",
        seconds,
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", nargs="+", type=Path)
    parser.add_argument("--modes", default="easy,hard")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--font", help="The face of the datasets; if not given, it is found.")
    given = parser.parse_args()
    print("| dataset | mode | spans | exact match, percent | bits a span (median) | below 1 bit | time |")
    print("|---|---|---|---|---|---|---|")
    for dataset in given.datasets:
        for mode in given.modes.split(","):
            print("|", " | ".join(measure(dataset, mode, given.limit, given.font)), "|", flush=True)


if __name__ == "__main__":
    main()
