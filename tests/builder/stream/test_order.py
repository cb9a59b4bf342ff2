"""The order of a stream."""

from hypothesis import given
from hypothesis import strategies as st

from vcrgen.builder.shards import Task
from vcrgen.builder.stream.order import Order

SIZES = st.lists(st.integers(1, 9), min_size=1, max_size=12)


def tasks(sizes: list[int]) -> list[Task]:
    return [Task(index=index, partition=index, start=3, stop=3 + size) for index, size in enumerate(sizes)]


@given(SIZES, st.integers(0, 5), st.integers(0, 4), st.booleans(), st.integers(1, 5))
def test_an_epoch_has_every_run_once(sizes: list[int], seed: int, epoch: int, shuffle: bool, runs: int) -> None:
    order = Order(tasks(sizes), seed=seed, shuffle=shuffle, runs=runs)
    windows = range(epoch * order.windows, (epoch + 1) * order.windows)
    assert sorted(run.index for window in windows for run in order.runs(window)) == list(range(len(sizes)))
    assert all(len(order.runs(window)) == runs for window in windows[:-1])
    assert {order.epoch(window) for window in windows} == {epoch}
    steps = [order.step(window, row) for window in windows for row in range(order.size(window))]
    assert steps == list(range(epoch * sum(sizes), (epoch + 1) * sum(sizes)))


@given(SIZES, st.integers(0, 500), st.booleans(), st.integers(1, 5))
def test_a_step_is_found(sizes: list[int], step: int, shuffle: bool, runs: int) -> None:
    order = Order(tasks(sizes), seed=1, shuffle=shuffle, runs=runs)
    window, row = order.find(step)
    assert order.step(window, row) == step and 0 <= row < order.size(window)


def test_epochs_and_seeds_have_orders_of_their_own() -> None:
    def windows(seed: int, epoch: int, shuffle: bool = True) -> list[int]:
        order = Order(tasks([5] * 40), seed=seed, shuffle=shuffle)
        return [order.runs(epoch * 40 + number)[0].index for number in range(40)]

    assert len({tuple(windows(seed, epoch)) for seed in (0, 1) for epoch in (0, 1, 2)}) == 6
    assert windows(0, 2) == windows(0, 2)
    assert windows(0, 1, shuffle=False) == list(range(40))


def test_rows_of_a_window_are_arranged_anew_in_every_epoch() -> None:
    order = Order(tasks([20]), seed=0, shuffle=True)
    first, second = (list(order.shuffled_rows(window, range(20))) for window in (0, 1))
    assert sorted(first) == sorted(second) == list(range(20)) and first != second != list(range(20))
    assert list(Order(tasks([20]), seed=0, shuffle=False).shuffled_rows(1, range(20))) == list(range(20))
