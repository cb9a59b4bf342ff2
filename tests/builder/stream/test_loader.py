"""Streams in torch's data loaders, and a training that is stopped and goes on."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from vcrgen.builder.stream import VCRStream, collate
from vcrgen.core.errors import NoPairsError, StreamError

data = pytest.importorskip("torch.utils.data", reason="needs torch (pip install torch)")
pytestmark = pytest.mark.extras
SMALL = {"width": 160, "font_size": 12, "shard_size": 6}
USABLE = 41


@pytest.fixture(scope="module", autouse=True)
def the_pipeline_is_loaded_once() -> None:
    """Workers are forked from this process, and find it loaded."""
    next(iter(VCRStream("samples:16")))


def loader(stream: VCRStream, workers: int, **options: Any) -> Any:
    return data.DataLoader(stream, num_workers=workers, **{"batch_size": 4, "collate_fn": collate} | options)


def names(batches: Any) -> list[str]:
    return [name for batch in batches for name in batch["source_id"]]


def test_a_stream_is_a_dataset_of_torch() -> None:
    assert issubclass(VCRStream, data.IterableDataset) and isinstance(VCRStream("samples:4"), data.IterableDataset)


def test_the_simplest_loader(pairs: str) -> None:
    for batch in data.DataLoader(VCRStream(pairs, epochs=1, **SMALL), num_workers=2):
        assert batch["image"].shape[0] == 1 and batch["image"].shape[3] == 3
    for example in data.DataLoader(VCRStream(pairs, epochs=1, ink=0.3, **SMALL), batch_size=None):
        assert example["image"].ndim == 3 and isinstance(example["answers"][0], str)


def test_ranks_and_workers_share_an_epoch(pairs: str) -> None:
    def epoch(rank: int, world: int, workers: int) -> list[tuple[str, str, bytes]]:
        stream = VCRStream(pairs, epochs=1, rank=rank, world_size=world, **SMALL)
        return [
            (example["source_id"], str(example["answers"]), example["image"].tobytes())
            for batch in loader(stream, workers, collate_fn=list)
            for example in batch
        ]

    whole = epoch(0, 1, 0)
    parts = [epoch(rank, 2, 2) for rank in range(2)]
    assert len(whole) == USABLE and Counter(parts[0] + parts[1]) == Counter(whole) and all(parts)


@pytest.mark.parametrize("persistent", [False, True])
def test_epoch_follows_epoch(pairs: str, persistent: bool) -> None:
    stream = VCRStream(pairs, epochs=1, **SMALL)
    batches = loader(stream, 2, persistent_workers=persistent)
    for epoch in range(3):
        assert stream.epoch == epoch
        found = list(stream.batches(batches))
        assert len(set(names(found))) == len(names(found)) == USABLE
        assert {number for batch in found for number in batch["epoch"]} == {epoch}


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("persistent", [False, True])
def test_the_place_is_that_of_what_was_handed_out(pairs: str, workers: int, persistent: bool) -> None:
    stream = VCRStream(pairs, epochs=1, **SMALL)
    options = {"prefetch_factor": 5, "persistent_workers": persistent} if workers else {}
    found = []
    for number, batch in enumerate(stream.batches(loader(stream, workers, **options))):
        found += batch["source_id"]
        if number == 4:
            break
    rest = VCRStream(pairs, epochs=1, **SMALL)
    rest.load_state_dict(json.loads(json.dumps(stream.state_dict())))
    assert len(found) == 20
    assert sorted(found + [example["source_id"] for example in rest]) == sorted(
        names(loader(VCRStream(pairs, epochs=1, **SMALL), 0))
    )
    assert sorted(found + names(stream.batches(loader(stream, workers, **options)))) == sorted(
        names(loader(VCRStream(pairs, epochs=1, **SMALL), 0))
    )


def test_persistent_workers_that_are_elsewhere(pairs: str) -> None:
    stream = VCRStream(pairs, epochs=1, **SMALL)
    state = stream.state_dict()
    batches = loader(stream, 2, persistent_workers=True)
    assert len(names(stream.batches(batches))) == USABLE
    stream.load_state_dict(state)
    with pytest.raises(StreamError, match="make a new DataLoader"):
        next(stream.batches(batches))


def test_loaders_that_cannot_be_followed(pairs: str) -> None:
    stream = VCRStream(pairs, epochs=1, **SMALL)
    with pytest.raises(StreamError, match="another dataset"):
        next(stream.batches(loader(VCRStream(pairs, **SMALL), 0)))
    with pytest.raises(StreamError, match="lack the `step`"):
        next(stream.batches(loader(stream, 1, collate_fn=len)))


def test_no_usable_pair_is_said_in_the_main_process(pairs: str) -> None:
    stream = VCRStream(pairs, where=("id=nobody",), epochs=1, **SMALL)
    with pytest.raises(NoPairsError):
        next(stream.batches(loader(stream, 2)))


def test_ranks_of_torch_distributed(tmp_path: Path) -> None:
    import torch.distributed as distributed

    if not distributed.is_available():
        pytest.skip("needs torch with torch.distributed")
    distributed.init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    try:
        assert VCRStream("samples:20").state_dict()["shares"][0]["share"] == [0, 1]
    finally:
        distributed.destroy_process_group()


TRAINING = """
import json, sys
from pathlib import Path
import torch
from torch.utils.data import DataLoader
from vcrgen.builder.stream import VCRStream

def features(examples):
    pixels = torch.stack([torch.from_numpy(example["image"]).float().mean((0, 1)) for example in examples])
    return {"x": pixels / 255, "step": [e["step"] for e in examples], "id": [e["source_id"] for e in examples]}

def main(source, workers, most, folder):
    stream = VCRStream(source, seed=5, epochs=1, width=160, font_size=12, shard_size=6)
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    checkpoint = Path(folder) / "checkpoint.pt"
    if checkpoint.exists():
        saved = torch.load(checkpoint, weights_only=True)
        model.load_state_dict(saved["model"])
        stream.load_state_dict(saved["stream"])
    loader = DataLoader(stream, batch_size=4, num_workers=workers, collate_fn=features)
    for number, batch in enumerate(stream.batches(loader), start=1):
        loss = (model(batch["x"]) ** 2).mean()
        optimizer.zero_grad(); loss.backward(); optimizer.step()
        with open(Path(folder) / "seen.txt", "a") as file:
            file.writelines(f"{name}\\n" for name in batch["id"])
        if number == most:
            torch.save({"model": model.state_dict(), "stream": stream.state_dict()}, checkpoint)
            return
    assert stream.epoch == 1

if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
"""


@pytest.mark.parametrize(("before", "after"), [(0, 0), (2, 2), (2, 0)])
def test_a_training_that_is_stopped_sees_each_pair_once(pairs: str, tmp_path: Path, before: int, after: int) -> None:
    script = tmp_path / "train.py"
    script.write_text(TRAINING)
    for workers, most in ((before, 3), (after, -1)):
        command = [sys.executable, str(script), pairs, str(workers), str(most), str(tmp_path)]
        subprocess.run(command, check=True)
    seen = (tmp_path / "seen.txt").read_text().split()
    assert sorted(seen) == sorted(example["source_id"] for example in VCRStream(pairs, epochs=1, **SMALL))


def test_workers_that_are_spawned(pairs: str) -> None:
    stream = VCRStream(pairs, epochs=1, **SMALL)
    batches = stream.batches(loader(stream, 1, multiprocessing_context="spawn"))
    assert len(names(batches)) == USABLE
