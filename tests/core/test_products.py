"""Matrix products on one thread, in processes of other people."""

import ast
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

from vcrgen.core.products import product

ROOT = Path(__file__).resolve().parents[2]
LARGE = {"analysis"}  # tables of any size, in commands of their own
NAMES = {"dot", "inner", "linalg", "matmul", "tensordot", "vdot"}
PRODUCT = re.compile(rf" @ |\.(?:{'|'.join(NAMES)})\b")

# The script of somebody else: numpy is there before vcrgen, with its threads. It prints the processor time of these
# threads, in ticks, after each entry.
ENTRIES = """
import os, sys
import numpy
from pathlib import Path

tasks = Path("/proc/self/task")
threads = [task.name for task in tasks.iterdir() if task.name != str(os.getpid())]

def ticks():
    fields = [(tasks / thread / "stat").read_text("utf-8").rpartition(")")[2].split() for thread in threads]
    return sum(int(user) + int(system) for user, system in (values[11:13] for values in fields))

from vcrgen import VCRTransform, build
from vcrgen.builder.stream import VCRStream
from vcrgen.samples import sample_pair

start = ticks()
pair = sample_pair("en", 0)
VCRTransform(mode="bits=4", cover="bars")({"image": pair.image, "caption": pair.caption})
after_transform = ticks()
next(iter(VCRStream("samples:8", mode="bits-4", cover="bars")))
after_stream = ticks()
build("samples:2", out=sys.argv[1], mode="bits=4", cover="bars")
print(len(threads), after_transform - start, after_stream - after_transform, ticks() - after_stream)
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs the processor time of each thread")
def test_threads_of_a_process_that_loaded_numpy_first_do_nothing(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "4"}
    command = [sys.executable, "-c", ENTRIES, str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == 0, done.stderr
    threads, *ticks = map(int, done.stdout.split())
    if not threads:
        pytest.skip("numpy has one thread on this machine")
    assert max(ticks) <= 2, ticks  # with all threads 14, 16 and 48; the first wait for work may end late


def numbers_of_threads() -> list[int]:
    return [library["num_threads"] for library in ThreadpoolController().select(user_api="blas").info()]


def test_the_number_of_threads_is_as_before() -> None:
    matrix = np.arange(6.0).reshape(2, 3)
    with ThreadpoolController().limit(limits=2):
        before = numbers_of_threads()
        assert product(matrix, matrix.T).tolist() == [[5, 14], [14, 50]]
        with pytest.raises(ValueError, match="matmul"):
            product(matrix, matrix)
        others = [threading.Thread(target=product, args=(np.ones((300, 300)), np.ones((300, 300)))) for _ in range(8)]
        for thread in others:
            thread.start()
        for thread in others:
            thread.join()
        assert numbers_of_threads() == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that are forked")
def test_a_process_forked_during_a_product_multiplies() -> None:
    stop, matrix = threading.Event(), np.ones((200, 200))

    def multiply() -> None:
        while not stop.is_set():
            product(matrix, matrix)

    thread = threading.Thread(target=multiply)
    thread.start()
    try:
        for _ in range(5):
            if not (child := os.fork()):
                signal.alarm(20)
                product(matrix[:2], matrix)
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        thread.join()


def test_nothing_else_multiplies_matrices() -> None:
    for file in sorted((ROOT / "vcrgen").rglob("*.py")):
        source = file.read_text("utf-8")
        if LARGE & set(file.parts) or file.name == "products.py" or not PRODUCT.search(source):
            continue
        nodes = list(ast.walk(ast.parse(source)))
        lines = [node.lineno for node in nodes if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)]
        lines += [node.lineno for node in nodes if isinstance(node, ast.Attribute) and node.attr in NAMES]
        assert not lines, f"{file} multiplies matrices in lines {lines}: use core.products"
