"""Every line of Python of docs/stream.md runs; needs torch and transformers."""

from pathlib import Path
from typing import Any

import pytest

from tests.pages import Page
from vcrgen.builder.stream import VCRStream, messages

torch = pytest.importorskip("torch", reason="needs torch (pip install torch)")
pytestmark = pytest.mark.extras


def test_every_example_runs(pairs: str, tinyvlm: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pairs").mkdir()
    Path("pairs/few.parquet").symlink_to(pairs.replace("*", "pairs-1"))
    page = Page("docs/stream.md")
    # Without an end, the page's first loop would go on until a training stops it.
    page.blocks = [(kind, text.replace("seed=1)", "seed=1, epochs=1)")) for kind, text in page.blocks]
    example = next(iter(VCRStream("pairs/*.parquet")))
    question, answer = (message["content"][-1]["text"] for message in messages(example))
    model, processor = tinyvlm.make([question, answer])
    given = {"picture": example["image"], "question": question, "answer": answer, "source": "pairs/*.parquet"}
    # A group of one process, for the states of all ranks.
    torch.distributed.init_process_group("gloo", init_method=f"file://{tmp_path}/group", rank=0, world_size=1)
    try:
        assert page.execute(torch=torch, model=model, processor=processor, world_size=1, **given) == 7
    finally:
        torch.distributed.destroy_process_group()
    assert Path("checkpoint.pt").exists()
