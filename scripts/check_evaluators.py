"""Run what `vcrgen export` writes in lmms-eval and VLMEvalKit as they are, and compare it with vcrgen's own runs.

    python scripts/check_evaluators.py lmms-eval
    python scripts/check_evaluators.py vlmevalkit --folder VLMEvalKit  # a checkout: no registry has it

Each program is installed in an environment of its own (--environment keeps it; some GB) and asks a server of this
script, which knows some answers. `vcrgen predict` asks the same server with the program's preset. Printed are the
spans or questions that either run answers alike, and the scores; for multiple choice also the accuracy that VLMEvalKit
prints. Exit code 1: something differs. Of VLMEvalKit's and lmms-eval's own scores of VCR nothing is run, as they need
spaCy pipelines that no registry has; `tests/scorer` holds the protocols against recorded figures.
"""

import argparse
import base64
import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow.parquet as pq
from PIL import Image

LMMS_EVAL = "lmms-eval==0.7.3"
FORGOTTEN = ("setuptools", "rouge-score")  # which VLMEvalKit imports and its requirements lack
TORCH = ("torch==2.13.0", "torchvision==0.28.0")  # which must be of one build
PRESETS = {"lmms-eval": "lmms-eval-chat", "vlmevalkit": "vlmevalkit-gpt-high"}
SIDE = 24  # px of the thumbnails by which a picture is known in any encoding


class Known(NamedTuple):
    """A picture that may be asked about, with what the server says."""

    thumbnail: np.ndarray[Any, Any]
    question: str  # part of what is asked; the same picture has several
    output: str


class Row(NamedTuple):
    """Figures of one exported set."""

    name: str
    spans: int  # or questions
    same: int  # matched in the same way
    program: float
    ours: float
    printed: float | None = None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", choices=list(PRESETS))
    parser.add_argument("--folder", type=Path, help="a checkout of VLMEvalKit")
    parser.add_argument("--environment", type=Path, help="a folder for the environment; used again if it is there")
    args = parser.parse_args()
    if args.program == "vlmevalkit" and not args.folder:
        parser.error("VLMEvalKit is on no registry: give --folder, a checkout of it.")
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        python = install(args.program, args.environment or work / "environment", args.folder)
        pairs, items = work / "pairs", work / "items"
        vcrgen("build", "samples:20", "--mode", "hard", "--splits", "test=...", "--out", pairs)
        vcrgen("bloom", "build", "--items", "46", "--allow-shortcuts", "--out", items)
        with server([*known_pairs(pairs), *known_items(items)]) as url:
            run = {"lmms-eval": run_lmms_eval, "vlmevalkit": run_vlmevalkit}[args.program]
            rows = [row for data in (pairs, items) for row in run(python, url, data, work, args.folder)]
    print(f"{'set':46} spans  read alike  program's run  vcrgen's run  program prints")
    for row in rows:
        printed = "" if row.printed is None else f"{row.printed:.2f}"
        print(f"{row.name:46} {row.spans:5} {row.same:11} {row.program:14.2f} {row.ours:13.2f} {printed:>15}")
    sound = all(row.same == row.spans and row.program == row.ours for row in rows)
    return 0 if sound and all(row.printed in (None, row.ours) for row in rows) else 1


def install(program: str, folder: Path, checkout: Path | None) -> Path:
    """Make the program's environment, unless it is there, and return its Python."""
    python = folder.absolute() / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        needs = ["-r", str(checkout / "requirements.txt"), *FORGOTTEN] if checkout else [LMMS_EVAL]
        subprocess.run([python, "-m", "pip", "install", "--quiet", *TORCH, *needs], check=True)
    return python


def vcrgen(*words: object) -> str:
    done = subprocess.run([sys.executable, "-m", "vcrgen", *map(str, words)], text=True, capture_output=True)
    if done.returncode:
        raise SystemExit(f"vcrgen {' '.join(map(str, words))}: {done.stderr or done.stdout}")
    return done.stdout


def thumbnail(data: bytes) -> np.ndarray[Any, Any]:
    picture = Image.open(io.BytesIO(data)).convert("L")
    aspect = np.full((1, SIDE), 255.0 * picture.width / (picture.width + picture.height))
    return np.vstack([np.asarray(picture.resize((SIDE, SIDE), Image.Resampling.BOX), float), aspect])


def known_pairs(data: Path) -> Iterator[Known]:
    """Yield both views of each pair; of three outputs one is wrong and one has only the first covered text."""
    for row in (row for file in sorted(data.glob("hard/*.parquet")) for row in pq.read_table(file).to_pylist()):
        texts = row["crossed_text"]
        output = (", ".join(texts), texts[0], "nothing to be seen")[zlib.crc32(row["question_id"].encode()) % 3]
        for column in ("stacked_image", "only_it_image"):
            yield Known(thumbnail(row[column]["bytes"]), "", output)


def known_items(data: Path) -> Iterator[Known]:
    """Yield each item in each language; one answer of three is wrong."""
    for row in (row for file in sorted(data.glob("data/*.parquet")) for row in pq.read_table(file).to_pylist()):
        picture = thumbnail(row["image"]["bytes"])
        for lang in ("en", "ar"):
            if question := row[f"question_{lang}"]:
                place = "ABCD".index(row["answer"]) + (zlib.crc32(f"{row['question_id']}{lang}".encode()) % 3 == 0)
                yield Known(picture, question, "ABCD"[place % len(row[f"options_{lang}"])])


@contextmanager
def server(known: list[Known]) -> Iterator[str]:
    """A server of OpenAI's chat protocol that answers by the nearest picture among those of the same question."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            parts = [part for message in asked["messages"] for part in parts_of(message["content"])]
            text = "\n".join(part["text"] for part in parts if part["type"] == "text")
            (url,) = (part["image_url"]["url"] for part in parts if part["type"] == "image_url")
            picture = thumbnail(base64.b64decode(url.partition(",")[2]))
            asked_for = [each for each in known if each.question and each.question in text]
            of = asked_for or [each for each in known if not each.question]
            best = min(of, key=lambda each: float(np.abs(each.thumbnail - picture).mean()))
            message = {"role": "assistant", "content": best.output}
            usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            choices = [{"index": 0, "finish_reason": "stop", "message": message}]
            reply = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": choices}
            body = json.dumps(reply | {"usage": usage}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=listening.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listening.server_address[1]}/v1"
    finally:
        listening.shutdown()


def parts_of(content: Any) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def run_lmms_eval(python: Path, url: str, data: Path, work: Path, _: Path | None) -> Iterator[Row]:
    """Run all tasks of an export but those that need spaCy's pipelines."""
    folder, out = work / f"{data.name}-export", work / f"{data.name}-out"
    vcrgen("export", data, "--to", "lmms-eval", "--out", folder)
    tasks = [file.stem for file in sorted(folder.glob("*.yaml")) if not file.stem.endswith("_published")]
    model = ["--model", "openai", "--model_args", f"model_version=m,base_url={url},api_key=none,num_concurrent=4"]
    where = ["--include_path", folder, "--tasks", ",".join(tasks), "--log_samples", "--output_path", out]
    run_program([python, "-m", "lmms_eval", *model, *where], folder, {})
    for task in tasks:
        (log,) = out.rglob(f"*_samples_{task}.jsonl")
        yield compared(task, log, url, data, "lmms-eval", view="tei" if task.endswith("_tei") else None)


def run_vlmevalkit(python: Path, url: str, data: Path, work: Path, checkout: Path | None) -> Iterator[Row]:
    """Run all tables of an export; of multiple choice also VLMEvalKit's scorer, without a judge."""
    assert checkout
    folder, out = work / f"{data.name}-export", work / f"{data.name}-out"
    vcrgen("export", data, "--to", "vlmevalkit", "--out", folder)
    tables = sorted(folder.glob("*.tsv"))
    choice = data.name == "items"
    kind = "CustomMCQDataset" if choice else "CustomVQADataset"
    model: dict[str, Any] = {"class": "GPT4V", "model": "m", "api_base": f"{url}/chat/completions", "key": "none"}
    model |= {"img_detail": "high", "img_size": -1, "temperature": 0}
    config = work / f"{data.name}.json"
    chosen = {table.stem: {"class": kind, "dataset": table.stem} for table in tables}
    config.write_text(json.dumps({"model": {"m": model}, "data": chosen}))
    words = ["--mode", "all", "--judge", "exact_matching"] if choice else ["--mode", "infer"]
    settings = {"LMUData": str(folder), "PRED_FORMAT": "tsv", "EVAL_FORMAT": "csv"}
    run_program([python, "run.py", "--config", config, "--work-dir", out, *words], checkout, settings)
    for table in tables:
        (outputs,) = (file for file in out.rglob(f"m_{table.stem}.tsv") if not file.is_symlink())
        row = compared(table.stem, outputs, url, data, "vlmevalkit", view="tei" if "_TEI_" in table.stem else None)
        if choice:
            (accuracy,) = (file for file in out.rglob(f"m_{table.stem}_acc.csv") if not file.is_symlink())
            with accuracy.open(newline="") as file:
                row = row._replace(printed=round(100 * float(next(csv.DictReader(file))["Overall"]), 2))
        yield row


def run_program(words: list[Any], folder: Path, settings: dict[str, str]) -> None:
    """Run a program without a way to any hub; show what it said if it fails."""
    without = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    settings = without | {"HF_HUB_OFFLINE": "1", "OPENAI_API_KEY": "none"} | settings
    done = subprocess.run(list(map(str, words)), cwd=folder, env=settings, text=True, capture_output=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, words))}:\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}")


def compared(name: str, outputs: Path, url: str, data: Path, program: str, *, view: str | None) -> Row:
    """Score a program's outputs, run vcrgen with its preset, and compare output by output."""
    ours = outputs.with_name(f"ours-{name}.jsonl")
    lang = re.match("bloom_(en|ar)_", name.lower())
    # The presets are of restoration: multiple choice is asked in vcrgen's own words.
    asked = ["--lang", lang[1]] if lang else ["--preset", PRESETS[program]]
    asked += ["--view", view] if view else []
    vcrgen("predict", data, "--endpoint", url, "--model", "m", "--out", ours, *asked)
    options = ["--lang", lang[1]] if lang else ["--protocol", program]
    (theirs, spans), (score, own_spans) = (scored(file, data, options) for file in (outputs, ours))
    same = sum(one == other for one, other in zip(spans, own_spans, strict=True))
    return Row(name, len(spans), same, theirs, score)


def scored(outputs: Path, data: Path, options: list[str]) -> tuple[float, list[dict[str, Any]]]:
    """Return the main score in percent, and how each span or question was matched."""
    evidence, report = outputs.with_name(f"{outputs.name}.spans.jsonl"), outputs.with_name(f"{outputs.name}.json")
    vcrgen("score", outputs, "--data", data, "--spans", evidence, "--format", "json", "--out", report, *options)
    metrics = json.loads(report.read_text())["runs"][0]["scores"][0]["metrics"]
    spans = [json.loads(line) for line in evidence.read_text().splitlines()]
    kept = [{name: value for name, value in span.items() if name not in ("run", "model")} for span in spans]
    return round(100 * metrics[next(iter(metrics))]["value"], 2), kept


if __name__ == "__main__":
    sys.exit(main())
