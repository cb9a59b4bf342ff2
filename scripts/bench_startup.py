"""Measure the processor time of small commands: what starting costs before any work is done.

    python scripts/bench_startup.py [--rounds 5] [--imports]

Aims on a quiet core: --help 0.3 s, a score of ten outputs 0.6 s, a build of two pairs 0.9 s, `leaderboard add` 2.5 s.
Yardstick in the same run: the imports of the libraries that both need. Each command is a process of its own, and the
least of the rounds is printed, as everything else on the machine only adds. Bytecode is kept, as that of an installed
package is. --imports lists the modules that each command imports slowest, in one round more.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow.parquet as pq

AIMS = {"--help": 0.3, "build of 2 pairs": 0.9, "score": 0.6, "leaderboard add": 2.5}
LIBRARIES = "import typer.main, pydantic, pyarrow.parquet, PIL.Image; from vcrgen.text.pipelines import import_spacy"
LIBRARIES += "; import_spacy().blank('en')"
SLOWEST = 12  # modules listed by --imports


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--imports", action="store_true", help="List what each command imports slowest.")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = f"{folder}/bytecode"
        for name, words in prepare(Path(folder)).items():
            runs = [run(words, number) for number in range(args.rounds + 1)][1:]  # the first one writes the bytecode
            seconds = min(seconds for seconds, _ in runs)
            aim = f" (aim {AIMS[name]})" if name in AIMS else ""
            print(f"{name:16} {seconds:5.2f} s of CPU{aim}", flush=True)
            if args.imports:
                print("\n".join(slowest_imports(words)), flush=True)


def prepare(folder: Path) -> dict[str, list[str]]:
    """Make datasets, outputs and a board, and return what Python is to run; {} stands for the number of the round."""
    vcrgen, board = ["-m", "vcrgen"], str(folder / "board")
    data, texts = build_with_outputs(folder, "en")
    chinese, _ = build_with_outputs(folder, "zh")
    whole = folder / "whole.jsonl"
    whole.write_text("".join(texts), "utf-8")
    init = [sys.executable, *vcrgen, "leaderboard", "init", board, "--data", f"public:{data}"]
    subprocess.run(init, check=True, stdout=subprocess.DEVNULL)
    add = ["leaderboard", "add", board, str(whole), "--team", "A", "--size", "7B", "--access", "open", "--model", "m{}"]
    score = ["--no-json", "--allow-missing"]
    return {
        "libraries": ["-c", LIBRARIES],
        "--help": [*vcrgen, "--help"],
        "build of 2 pairs": [*vcrgen, "build", "--limit", "2", "--out", f"{folder}/two-{{}}"],
        "score": [*vcrgen, "score", f"{data}.jsonl", "--data", str(data), *score],
        "score, Chinese": [*vcrgen, "score", f"{chinese}.jsonl", "--data", str(chinese), *score],
        "leaderboard add": [*vcrgen, *add],
    }


def build_with_outputs(folder: Path, lang: str) -> tuple[Path, list[str]]:
    """Build a dataset, with ten outputs in a file beside it; the lines of outputs for all of its images."""
    data = folder / lang
    command = [sys.executable, "-m", "vcrgen", "build", "--lang", lang, "--out", str(data)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    rows = [row for file in sorted(data.glob("easy/*.parquet")) for row in pq.read_table(file).to_pylist()]
    lines = [{"question_id": row["question_id"], "mode": "easy", "output": row["caption"]} for row in rows]
    texts = [json.dumps(line) + "\n" for line in lines]
    Path(f"{data}.jsonl").write_text("".join(texts[:10]), "utf-8")
    return data, texts


def run(words: list[str], number: int, *, python: tuple[str, ...] = (), stderr: int | None = None) -> tuple[float, str]:
    """Run a command and return its processor time and its messages."""
    command = [sys.executable, *python, *(word.replace("{}", str(number)) for word in words)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=stderr, text=True)
    messages = process.stderr.read() if process.stderr else ""
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if status:
        sys.exit(f"{' '.join(command)} failed. {messages}")
    return used.ru_utime + used.ru_stime, messages


def slowest_imports(words: list[str]) -> list[str]:
    """Return the modules with the longest time of their own, with what they imported in brackets."""
    messages = run(words, -1, python=("-X", "importtime"), stderr=subprocess.PIPE)[1]
    rows = [line.removeprefix("import time:").split("|") for line in messages.splitlines() if line.count("|") == 2]
    times = [(int(own), int(whole), name.strip()) for own, whole, name in rows if own.strip().isdigit()]
    times.sort(key=lambda row: -row[1])
    return [
        f"    {name:40} {own / 1e3:6.1f} ms, with its imports {whole / 1e3:7.1f}"
        for own, whole, name in times[:SLOWEST]
    ]


if __name__ == "__main__":
    main()
