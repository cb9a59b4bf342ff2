"""Whoever goes on with a stream, with however many ranks and workers: each row comes once. No pixel is drawn."""

import json
import pickle
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import vcrgen.builder.stream.stream as module
from vcrgen.builder.stream import VCRStream
from vcrgen.core.errors import StreamError

EPOCHS = 2


class Rows(VCRStream):
    """A stream whose examples are nothing but their steps; every fifth row cannot be used."""

    def _window(self, window: int, done: int) -> Iterator[tuple[int, dict[str, Any]]]:
        for row in range(done, self._order.size(window)):
            step = self._order.step(window, row)
            if step % 5 != 3:
                yield row, {"step": step}


class Loader:
    """A data loader with workers: copies of a stream, batches in turn, prefetched."""

    worker: tuple[int, int] | None = None

    def __init__(self, stream: VCRStream, workers: int, ahead: int = 2, batch: int = 3) -> None:
        self.dataset, self.num_workers, self.ahead, self.batch = stream, workers, ahead, batch

    def __iter__(self) -> Iterator[dict[str, list[int]]]:
        copies = [iter(pickle.loads(pickle.dumps(self.dataset))) for _ in range(self.num_workers)]
        ready: list[list[dict[str, list[int]]]] = [[] for _ in copies]
        ended = [False for _ in copies]
        turn = 0
        while not all(ended) or any(ready):
            for number, copy in enumerate(copies):
                while len(ready[number]) < self.ahead and not ended[number]:
                    steps = self._steps(number, copy)
                    if steps:
                        ready[number].append({"step": steps})
                    ended[number] = len(steps) < self.batch
            if ready[turn]:
                yield ready[turn].pop(0)
            turn = (turn + 1) % self.num_workers

    def _steps(self, number: int, copy: Iterator[dict[str, Any]]) -> list[int]:
        Loader.worker = number, self.num_workers
        try:
            return [example["step"] for example in islice(copy, self.batch)]
        finally:
            Loader.worker = None


@pytest.fixture(scope="module", autouse=True)
def workers_are_simulated() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "find_worker", lambda: Loader.worker)
        yield


def make(rows: int, size: int, rank: int = 0, world: int = 1, **options: Any) -> Rows:
    return Rows(f"samples:{rows}", shard_size=size, rank=rank, world_size=world, **({"epochs": EPOCHS} | options))


def run(stream: VCRStream, workers: int, most: int) -> tuple[list[int], bool]:
    """Up to so many batches' steps, and whether the stream came to its end."""
    found: list[int] = []
    if not workers:
        iteration = iter(stream)
        for _ in range(3 * most):
            if (example := next(iteration, None)) is None:
                return found, True
            found.append(example["step"])
        return found, False
    batches = stream.batches(Loader(stream, workers))
    for _ in range(most):
        if (batch := next(batches, None)) is None:
            return found, True
        found += batch["step"]
    return found, False


PHASES = st.lists(
    st.tuples(st.integers(1, 4), st.integers(0, 3), st.lists(st.integers(0, 9), min_size=4, max_size=4)), max_size=4
)


# At the end only rows are left that cannot be used, but the others were made before it.
@example(11, 1, 0, [(1, 0, [0] * 4), (3, 0, [4, 1, 0, 0]), (2, 0, [2, 0, 0, 0]), (1, 1, [1, 0, 0, 0])], True)
@settings(deadline=None, max_examples=50)
@given(st.integers(1, 70), st.integers(1, 12), st.integers(0, 3), PHASES, st.booleans())
def test_every_split_and_every_stop_gives_a_partition(
    rows: int, size: int, seed: int, phases: list[Any], shuffle: bool
) -> None:
    found: Counter[int] = Counter()
    states: list[dict[str, Any]] = []
    ended = [False]
    for world, workers, stops in [*phases, (1, 0, [10**6])]:
        streams = [make(rows, size, rank, world, seed=seed, shuffle=shuffle) for rank in range(world)]
        for stream in streams:
            if states:
                stream.load_state_dict(json.loads(json.dumps(states)))
        if all(ended):
            break
        ended = []
        for stream, stop in zip(streams, stops, strict=False):
            steps, end = run(stream, workers, stop)
            found.update(steps)
            ended.append(end)
        states = [stream.state_dict() for stream in streams]
    assert found == Counter(step for step in range(EPOCHS * rows) if step % 5 != 3)


@settings(deadline=None, max_examples=25)
@given(st.integers(1, 60), st.integers(1, 9), st.integers(1, 3), st.integers(0, 25))
def test_a_worker_goes_on_from_its_own_state(rows: int, size: int, workers: int, stop: int) -> None:
    """As torchdata's StatefulDataLoader does: a state for each worker's copy, loaded in a new copy of it."""
    found: Counter[int] = Counter()
    for number in range(workers):
        Loader.worker = number, workers
        try:
            first = make(rows, size)
            found.update(example["step"] for example in islice(first, stop))
            second = make(rows, size)
            iter(second)
            second.load_state_dict(json.loads(json.dumps(first.state_dict())))
            if second.epoch < EPOCHS:
                found.update(example["step"] for example in second)
        finally:
            Loader.worker = None
    assert found == Counter(step for step in range(EPOCHS * rows) if step % 5 != 3)


@pytest.mark.parametrize("workers", [0, 1, 2, 3])
def test_iterations_follow_one_another(workers: int) -> None:
    stream = make(50, 6, epochs=1)
    for epoch in range(4):
        assert stream.epoch == epoch
        steps, _ = run(stream, workers, 10**6)
        assert sorted(steps) == [step for step in range(50 * epoch, 50 * (epoch + 1)) if step % 5 != 3]


def test_an_endless_stream_keeps_its_ranks_together() -> None:
    firsts = []
    for rank in range(3):
        steps, ended = run(make(56, 7, rank, 3, epochs=None), 0, 400)
        firsts.append(steps)
        assert not ended
    assert len({steps[-1] // 56 for steps in firsts}) <= 2
    least = min(steps[-1] for steps in firsts)
    together = sorted(step for steps in firsts for step in steps if step < least - 60)
    assert together == [step for step in range(together[-1] + 1) if step % 5 != 3]


def test_states_stay_small() -> None:
    stream = make(5000, 10, epochs=None)
    run(stream, 3, 5000)
    assert len(json.dumps(stream.state_dict())) < 1000


def test_an_older_iteration_ends_when_a_newer_one_begins() -> None:
    stream = make(50, 7)
    old = iter(stream)
    first, second = next(old), next(iter(stream))
    assert first["step"] != second["step"]
    with pytest.raises(StreamError, match="moved"):
        next(old)


def test_a_loaded_state_ends_the_iteration() -> None:
    stream = make(50, 7)
    state = stream.state_dict()
    first = [example["step"] for example in islice(stream, 10)]
    iteration = iter(stream)
    next(iteration)
    stream.load_state_dict(state)
    with pytest.raises(StreamError, match="moved"):
        next(iteration)
    assert [example["step"] for example in islice(stream, 10)] == first


def broken(change: Callable[[dict[str, Any]], Any]) -> Any:
    state = make(50, 7).state_dict()
    changed = change(state)
    return state if changed is None else changed


@pytest.mark.parametrize(
    ("state", "says"),
    [
        (lambda s: {}, "no state of a stream"),
        (lambda s: {"a": 1}, "no state of a stream"),
        (lambda s: ["a"], "no state of a stream"),
        (lambda s: s.pop("shares") and None, "no state of a stream"),
        (lambda s: s | {"done": {"start": -1, "rows": {}}}, "no state of a stream"),
        (lambda s: s | {"shares": [{"done": s["done"], "share": [1, 1]}]}, "no state of a stream"),
        (lambda s: s | {"version": 99}, "format 99"),
        (lambda s: s | {"fingerprint": "x"}, "another source or of other options"),
        (lambda s: s | {"shares": []}, "not that of rank 0 of 1"),
        (lambda s: [], "not that of rank 0 of 1"),
        (lambda s: s | {"shares": [{"done": s["done"], "share": [1, 2]}]}, "not that of rank 0 of 1"),
    ],
)
def test_states_that_do_not_fit(state: Callable[[dict[str, Any]], Any], says: str) -> None:
    with pytest.raises(StreamError, match=says):
        make(50, 7).load_state_dict(broken(state))


@pytest.mark.parametrize(
    "other",
    [{"seed": 3}, {"views": ("tei",)}, {"font": "caladea"}],
)
def test_a_state_fits_its_own_options_only(other: dict[str, Any]) -> None:
    with pytest.raises(StreamError, match="other options"):
        make(50, 7, **other).load_state_dict(make(50, 7).state_dict())
    with pytest.raises(StreamError, match="other options"):
        make(49, 7).load_state_dict(make(50, 7).state_dict())
    make(50, 7, epochs=None).load_state_dict(make(50, 7).state_dict())


def test_the_state_of_one_rank_is_not_taken_by_another() -> None:
    with pytest.raises(StreamError, match="not that of rank 1 of 2"):
        make(50, 7, 1, 2).load_state_dict(make(50, 7, 0, 2).state_dict())
    with pytest.raises(StreamError, match="list of the states of all ranks"):
        make(50, 7).load_state_dict(make(50, 7, 0, 2).state_dict())
    make(50, 7, 1, 2).load_state_dict(make(50, 7).state_dict())
