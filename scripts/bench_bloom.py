"""Speed of MCQ benchmarks, as ratios to yardsticks measured in the same run.

    python scripts/bench_bloom.py [--parts making models checks scoring] [--items 7747] [--languages en,ar] ...

Making: the items of a built-in set (facts, questions in two languages, the second opinion on every option), divided by
drawing and encoding the pictures that they are about. It may take a tenth of that.

Models: a set made with models, 50 ms a call and 16 at a time, by the imitation in tests/bloom/author.py: the time that
its calls need at least, divided by that of the whole run, which ought to give 0.8; the best of three runs. Its pictures
are 600 scenes as JPEG with noise, 500 px wide, in a Parquet file with groups of 100 rows: drawing built-in scenes takes
longer than a photograph takes to be read, so ``samples:N`` would measure that.

Checks: what looks at 100,000 items without a model (each item on its own; near-duplicates among them), divided by
writing these items as a set, with pictures of 40 and of 10 kB and without any. It ought to take no longer.

Scoring: a set as large as BloomBench (7,747 items on 2,060 pictures, filed under 106 categories) in two languages, with
an output and log-probabilities of all options for every item. From the two files to all metrics, groups and intervals
it may take ten times what ``json.loads`` takes for the lines of the file of outputs. One process, one core.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from vcrgen.bloom.generation.deduplication import near_duplicates
from vcrgen.bloom.generation.generate_set import generate_set
from vcrgen.bloom.generation.item_checks import check_item
from vcrgen.bloom.options import BloomGenerationOptions, BloomSceneOptions
from vcrgen.bloom.rejects import ItemRejected, RejectLog
from vcrgen.bloom.scenes.generator import generate_scene_items, items_of_another_seed
from vcrgen.bloom.scenes.vocabulary import QUESTION_LANGUAGES
from vcrgen.bloom.shortcuts import ShortcutGate
from vcrgen.bloom.taxonomy import default_taxonomy
from vcrgen.bloom.write import write_set
from vcrgen.data.tasks.bloom import LETTERS, ChoiceQuestion, item_of
from vcrgen.models.address import parse_address
from vcrgen.models.connection import Limits
from vcrgen.models.endpoint import EndpointModel
from vcrgen.samples.pairs import caption, picture
from vcrgen.scorer.options import ScoreOptions
from vcrgen.scorer.run import open_session

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("making", "models", "checks", "scoring")
CALL_SECONDS = 0.05
PICTURES = 2_060
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c4944415478da63f8ffff3f0005fe02fe"
    "a73581840000000049454e44ae426082"
)
WORDS = {
    "en": ["a", "red", "small", "boat", "under", "the", "old", "bridge", "near", "houses"],
    "ar": ["قارب", "صغير", "أحمر", "تحت", "جسر", "قديم"],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=7_747)
    parser.add_argument("--languages", default="en,ar")
    parser.add_argument("--made", type=int, default=1000, help="items of the built-in set that are made")
    parser.add_argument(
        "--per-category", type=int, default=2, help="places of each category, of the set made with models"
    )
    parser.add_argument("--runs", type=int, default=3, help="how often it is made")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    args = parser.parse_args()
    if "making" in args.parts:
        making(args.made)
    if "models" in args.parts:
        with tempfile.TemporaryDirectory() as folder:
            models(Path(folder), args.per_category, args.runs)
    if "checks" in args.parts:
        checks(100_000)
    if "scoring" in args.parts:
        with tempfile.TemporaryDirectory() as folder:
            scoring(Path(folder), args.items, args.languages.split(","))


def making(items: int) -> None:
    """Make built-in items, draw and encode their pictures, and read the items without them as the gate does."""
    made = list(generate_scene_items(BloomSceneOptions(items=items), RejectLog()))
    seconds = min(
        timed(lambda: list(generate_scene_items(BloomSceneOptions(items=items), RejectLog()))) for _ in range(3)
    )
    drawing = min(timed(lambda: [picture(index) for index, _ in made]) for _ in range(3))
    asked = [item_of(row, QUESTION_LANGUAGES) for _, rows in made for row in rows]
    gate = ShortcutGate(training=lambda count: items_of_another_seed(count, 0))
    reading = min(timed(lambda: gate.section(asked)) for _ in range(3))
    print(
        f"making {items:,} items about {len(made):,} pictures: {seconds / drawing:.3f} of drawing and encoding them; "
        f"the gate: {reading / drawing:.3f}"
    )


def models(folder: Path, per_category: int, runs: int) -> None:
    """Make a set of the 106 categories with models that take 50 ms a call, and again of the replies that are there."""
    photographs(folder / "pairs.parquet", 600)
    options: dict[str, Any] = {
        "source": str(folder / "pairs.parquet"),
        "model": "M",
        "judge": "J",
        "per_category": per_category,
        "concurrency": 16,
    }
    command = [sys.executable, "-m", "tests.bloom.author", str(CALL_SECONDS)]
    for run in range(runs):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as server:
            assert server.stdout is not None
            address = f"http://127.0.0.1:{server.stdout.readline().strip()}/v1"
            limits = Limits(concurrency=16)
            asked = {name: EndpointModel(parse_address(address, name), name, limits=limits) for name in ("M", "J")}
            began, busy = time.perf_counter(), time.process_time()
            out = folder / f"made-{run}"
            made = generate_set(BloomGenerationOptions(**options, endpoint=address), out, asked)
            seconds, busy = time.perf_counter() - began, time.process_time() - busy
            server.terminate()
        began = time.perf_counter()
        ledger = out.with_name(f"{out.name}.ledger")
        generate_set(BloomGenerationOptions(**options, offline=True, ledger=ledger), folder / f"again-{run}", {})
        rest = time.perf_counter() - began
        calls = made.usage.calls.total()
        ideal = calls * CALL_SECONDS / 16
        print(
            f"models: {calls:,} calls need {ideal:.1f} s, {ideal / seconds:.2f} of the {seconds:.1f} s of the run; "
            f"its processor time {busy:.1f} s; of the replies that are there {rest:.1f} s; "
            f"load of the machine {os.getloadavg()[0]:.1f}"
        )


def photographs(file: Path, count: int) -> None:
    """Built-in scenes as JPEG with noise, about 40 kB each, with their captions."""
    generator = np.random.default_rng(0)
    rows = []
    for number in range(count):
        scene = Image.open(io.BytesIO(picture(number))).convert("RGB").resize((500, 375))
        noisy = np.asarray(scene).astype(np.int16) + generator.integers(-12, 13, (375, 500, 3), dtype=np.int16)
        Image.fromarray(noisy.clip(0, 255).astype(np.uint8)).save(data := io.BytesIO(), "JPEG", quality=85)
        image = {"bytes": data.getvalue(), "path": None}
        rows.append({"id": f"pair-{number:06d}", "image": image, "caption": caption("en", number)})
    pq.write_table(pa.Table.from_pylist(rows), file, row_group_size=100)


def checks(count: int) -> None:
    """Look at items without a model, and write them; their words are about as frequent as words of English are."""
    rng = random.Random(0)
    letters = {"en": "abcdefghijklmnoprstuvw", "ar": "ابتثجحخدذرزسشصطعغفقكلمنهو"}
    words = {
        lang: ["".join(rng.choices(few, k=rng.randint(3, 8))) for _ in range(20_000)] for lang, few in letters.items()
    }
    weights = list(accumulate(1 / (rank + 3) for rank in range(20_000)))
    categories = default_taxonomy().paths
    rows: list[dict[str, Any]] = []
    for number in range(count):
        row: dict[str, Any] = {"question_id": f"leaf-{number % 106 + 1:03d}-{number // 106:04d}"}
        row |= {"path": categories[number % 106], "answer": LETTERS[number % 4], "trap": LETTERS[(number + 1) % 4]}
        for lang, few in words.items():
            drawn = rng.choices(few, cum_weights=weights, k=22)
            row[f"question_{lang}"] = " ".join(drawn[:10]) + "?"
            row[f"options_{lang}"] = [" ".join(drawn[at : at + 3]) for at in range(10, 22, 3)]
        rows.append(row)
    items = [
        {lang: ChoiceQuestion(row[f"question_{lang}"], tuple(row[f"options_{lang}"])) for lang in ("en", "ar")}
        for row in rows
    ]

    def each() -> None:
        for questions in items:
            with contextlib.suppress(ItemRejected):
                check_item(questions, "bench")

    alone = timed(each)
    texts = [" ".join((item["en"].text, *item["en"].options)) for item in items]
    near = timed(lambda: near_duplicates(texts))
    print(f"{count:,} items: looked at one by one {alone:.1f} s; near-duplicates among them {near:.1f} s")
    for size, part in ((0, 1), (10_000, 1), (40_000, 5)):  # of the largest, a fifth of the items are enough
        noise = random.Random(1).randbytes(size)

        def written(noise: bytes = noise, part: int = part) -> Iterator[dict[str, Any]]:
            for number, row in enumerate(rows[: count // part]):
                data = number.to_bytes(4, "big") + noise if noise else b""
                yield row | {"image": {"bytes": data, "path": None}, "source": "bench"}

        given: dict[str, Any] = {"languages": ("en", "ar"), "taxonomy": default_taxonomy(), "source": "bench"}
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder, "set")
            seconds = timed(lambda: write_set(out, written(), **given, config={}, rejects=RejectLog()))  # noqa: B023
        seconds *= part
        what = f"with pictures of {size // 1000} kB" if size else "without pictures"
        print(f"  writing them {what}: {seconds:.1f} s; both are {(alone + near) / seconds:.2f} of it")


def scoring(folder: Path, items: int, languages: list[str]) -> None:
    """Score one file of outputs of a made set."""
    rng = random.Random(0)
    taxonomy = default_taxonomy()
    rows = []
    for number in range(items):
        row = {
            "question_id": f"item-{number:06d}",
            "image": {"bytes": PIXEL + (number % PICTURES).to_bytes(4, "big"), "path": None},
            "path": taxonomy.paths[number % len(taxonomy.paths)],
            "source": "bench",
            "answer": "ABCD"[number % 4],
            "trap": "ABCD"[(number + 1) % 4],
        }
        for lang in languages:
            row[f"question_{lang}"] = "?"
            row[f"options_{lang}"] = [" ".join(rng.choices(WORDS[lang], k=4)) + f" {place}" for place in "1234"]
        rows.append(row)
    data = folder / "set"
    write_set(data, rows, languages=languages, taxonomy=taxonomy, source="bench", config={}, rejects=RejectLog())
    file = folder / "preds.jsonl"
    with file.open("w", encoding="utf-8") as handle:
        for row in rows:
            for lang in languages:
                logprobs = [[-rng.expovariate(1) for _ in range(rng.randint(2, 12))] for _ in range(4)]
                output = rng.choice("ABCD") if rng.random() < 0.9 else f"The answer is {rng.choice('ABCD')}."
                line = {"question_id": row["question_id"], "lang": lang, "view": "image", "output": output}
                handle.write(json.dumps(line | {"logprobs": logprobs}) + "\n")
    texts = file.read_text("utf-8").splitlines()
    yardstick = min(timed(lambda: [json.loads(text) for text in texts]) for _ in range(5))

    def whole() -> None:
        open_session(data, ScoreOptions()).score(file)

    seconds = min(timed(whole) for _ in range(3))
    session = open_session(data, ScoreOptions())
    alone = min(timed(lambda: session.score(file)) for _ in range(3))
    print(f"{items:,} items in {' and '.join(languages)}, {file.stat().st_size / 1e6:.1f} MB of outputs")
    print(f"json.loads of the lines  {yardstick:.2f} s")
    print(f"from files to intervals  {seconds:.2f} s, {seconds / yardstick:.1f} times (at most 10)")
    print(f"  the answers read before {alone:.2f} s, {alone / yardstick:.1f} times")


def timed(call: object) -> float:
    began = time.process_time()
    call()  # type: ignore[operator]
    return time.process_time() - began


if __name__ == "__main__":
    main()
