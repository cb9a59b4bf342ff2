"""Measure the cost of `vcrgen predict` beside the calls themselves, as ratios to loops in the same run.

    python scripts/bench_predict.py [--pictures 600] [--concurrency 16,64,256] [--rounds 5] [--memory 100000]

A server in a process of its own answers after 50 ms. Programs ask it about the same pictures on disk, small and large:

- a bare loop: asyncio and httpx2, as few lines as do it, no retries, nothing kept;
- `vcrgen predict`: requests with names, a ledger, the file of outputs;
- with ``--vlmevalkit``, VLMEvalKit's way of calling (e8e78f05) rebuilt: threads, 0 to 0.5 s of sleep
  before each call, the picture as JPEG, and after each answer a pickle of all of them.

With ``--memory`` the most memory that `vcrgen predict` has while it asks about so many small pictures is told.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import io
import json
import os
import pickle
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx2
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import requests
from PIL import Image

from vcrgen.data.pictures import PictureSelection
from vcrgen.data.reader import open_dataset
from vcrgen.data.tasks.vcr import VCR
from vcrgen.models.address import parse_address
from vcrgen.models.connection import Limits
from vcrgen.models.endpoint import EndpointModel
from vcrgen.models.predict.job import predict
from vcrgen.models.predict.prompts import make_prompt
from vcrgen.text.languages import LANGUAGES

ROOT = Path(__file__).resolve().parents[1]
SERVER = ROOT / "tests" / "models" / "fault_server.py"
QUESTION = LANGUAGES["en"].question


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pictures", type=int, default=600)
    parser.add_argument("--sides", default="32,208", help="px; noise, so about 3 and 130 kB")
    parser.add_argument("--concurrency", default="16,64,256")
    parser.add_argument("--delay", type=float, default=0.05, help="seconds until the server answers")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--vlmevalkit", action="store_true", help="measure VLMEvalKit's way of calling, too")
    parser.add_argument("--memory", type=int, default=0, metavar="N", help="ask about N small pictures instead")
    args = parser.parse_args()
    at_once = [int(word) for word in args.concurrency.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        if args.memory:
            memory(Path(folder), args.memory, at_once[0])
            return
        print(f"{args.pictures} pictures, {args.delay} s each; medians of {args.rounds} interleaved rounds")
        for side in map(int, args.sides.split(",")):
            file = write_pictures(Path(folder) / f"{side}.parquet", args.pictures, side)
            for concurrency in at_once:
                compare(file, concurrency, args)


def compare(file: Path, concurrency: int, args: argparse.Namespace) -> None:
    ways: dict[str, Callable[[Path, str, int, Path], int]] = {"bare loop": bare_loop, "vcrgen predict": vcrgen_predict}
    if args.vlmevalkit:
        ways["VLMEvalKit's way"] = vlmevalkit
    walls: dict[str, list[float]] = {name: [] for name in ways}
    cpus: dict[str, list[float]] = {name: [] for name in ways}
    with server(args.delay) as url:
        for _ in range(args.rounds):
            for name, way in ways.items():
                with tempfile.TemporaryDirectory() as out:
                    wall, cpu = time.perf_counter(), time.process_time()
                    count = way(file, url, concurrency, Path(out))
                    walls[name].append(time.perf_counter() - wall)
                    cpus[name].append(time.process_time() - cpu)
                assert count == args.pictures, (name, count)
    print(f"{file.stem} px, {concurrency} at once; ideal {args.pictures / concurrency * args.delay:.1f} s")
    for name in ways:
        wall, cpu = statistics.median(walls[name]), statistics.median(cpus[name])
        print(
            f"  {name:18} wall {wall:5.1f} s (of {shown(walls[name])})   CPU {1000 * cpu / args.pictures:.1f} ms a call"
        )
    for other in [name for name in ways if name != "vcrgen predict"]:
        ratios = [
            f"{what} {statistics.median(a / b for a, b in zip(of['vcrgen predict'], of[other], strict=True)):.2f}"
            for what, of in (("wall", walls), ("CPU", cpus))
        ]
        print(f"  vcrgen predict / {other}: {', '.join(ratios)}", flush=True)


def shown(seconds: list[float]) -> str:
    return ", ".join(f"{value:.1f}" for value in seconds)


@contextmanager
def server(delay: float) -> Iterator[str]:
    command = [sys.executable, str(SERVER), str(delay)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}/v1"
        finally:
            process.terminate()


def write_pictures(file: Path, count: int, side: int) -> Path:
    """A Parquet file of noise, in row groups as VCR-WIKI has them."""
    schema = pa.schema([("question_id", pa.string()), ("language", pa.string()), *VCR.schema("stacked_image")])
    generator = np.random.default_rng(0)
    with pq.ParquetWriter(file, schema) as writer:
        for start in range(0, count, 100):
            rows = []
            for number in range(start, min(start + 100, count)):
                noise = generator.integers(0, 256, (side, side, 3), dtype=np.uint8)
                Image.fromarray(noise).save(data := io.BytesIO(), "PNG", compress_level=1)
                image = {"bytes": data.getvalue(), "path": None}
                rows.append({"question_id": f"{number:020x}", "language": "en", "stacked_image": image})
            writer.write_table(pa.Table.from_pylist(rows, schema=schema))
    return file


def read_pictures(file: Path) -> Iterator[tuple[str, bytes]]:
    for batch in pq.ParquetFile(file).iter_batches(16, columns=["question_id", "stacked_image"]):
        for row in batch.to_pylist():
            yield row["question_id"], row["stacked_image"]["bytes"]


def body(url: str) -> dict[str, object]:
    content = [{"type": "image_url", "image_url": {"url": url}}, {"type": "text", "text": QUESTION}]
    return {"model": "m", "messages": [{"role": "user", "content": content}], "temperature": 0, "max_tokens": 256}


def bare_loop(file: Path, url: str, concurrency: int, out: Path) -> int:
    async def run() -> list[str]:
        pool = httpx2.Limits(max_connections=concurrency, max_keepalive_connections=concurrency)
        async with httpx2.AsyncClient(limits=pool, timeout=60, trust_env=False) as client:
            pictures, texts = read_pictures(file), []

            async def work() -> None:
                for _, data in pictures:
                    picture = f"data:image/png;base64,{base64.b64encode(data).decode()}"
                    reply = await client.post(f"{url}/chat/completions", json=body(picture))
                    texts.append(reply.json()["choices"][0]["message"]["content"])

            await asyncio.gather(*(work() for _ in range(concurrency)))
            return texts

    return len(asyncio.run(run()))


def vcrgen_predict(file: Path, url: str, concurrency: int, out: Path) -> int:
    model = EndpointModel(parse_address(url, "m"), "m", limits=Limits(concurrency=concurrency))
    prompt = make_prompt(None, {})
    result = predict(open_dataset(file, VCR), PictureSelection(), out=out / "preds.jsonl", model=model, prompt=prompt)
    return result.tally.replies


def vlmevalkit(file: Path, url: str, concurrency: int, out: Path) -> int:
    answers: dict[str, str] = {}
    lock = threading.Lock()

    def call(question_id: str, data: bytes) -> None:
        time.sleep(random.random() * 0.5)
        Image.open(io.BytesIO(data)).convert("RGB").save(jpeg := io.BytesIO(), "JPEG")
        picture = f"data:image/jpeg;base64,{base64.b64encode(jpeg.getvalue()).decode()}"
        headers = {"Content-Type": "application/json"}
        reply = requests.post(f"{url}/chat/completions", headers=headers, data=json.dumps(body(picture)), timeout=66)
        with lock:
            answers[question_id] = reply.json()["choices"][0]["message"]["content"].strip()
            with (out / "answers.pkl").open("wb") as pickled:
                pickle.dump(answers, pickled)

    with ThreadPoolExecutor(concurrency) as pool:
        for done in [pool.submit(call, *picture) for picture in read_pictures(file)]:
            done.result()
    return len(answers)


def memory(folder: Path, count: int, concurrency: int) -> None:
    file = write_pictures(folder / "pictures.parquet", count, 16)
    script = (
        "import sys, bench_predict as b; from pathlib import Path\n"
        "file, url, concurrency, out, count = sys.argv[1:]\n"
        "assert b.vcrgen_predict(Path(file), url, int(concurrency), Path(out)) == int(count)\n"
    )
    began = time.perf_counter()
    with server(0.0) as url:
        words = [sys.executable, "-c", script, str(file), url, str(concurrency), str(folder), str(count)]
        path = os.pathsep.join([str(Path(__file__).parent), str(ROOT)])
        subprocess.run(words, check=True, env=os.environ | {"PYTHONPATH": path})
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"{count:,} requests: {most:,.0f} MB at most, {time.perf_counter() - began:,.0f} s")


if __name__ == "__main__":
    main()
