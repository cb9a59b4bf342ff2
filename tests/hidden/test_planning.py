"""Plans that are made ahead are those of one after the other, whatever is rejected."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tests.hidden.conftest import samples_of, write_pairs
from vcrgen.core.records import Item, RejectReason
from vcrgen.hidden import HiddenResult
from vcrgen.hidden.planning import Candidate, Plans, PlansAhead, PlanTask

Make = Callable[..., HiddenResult]
SETTLED, IN_REFERENCE = RejectReason.SETTLED, RejectReason.IN_REFERENCE


def select(fates: list[str], *, ahead: int, pairs: int, items: int) -> list[tuple[int, object]]:
    """Every candidate with what becomes of it, until enough pairs are taken; its fate may hang on its number."""

    def submit(task: PlanTask) -> Future[Plans]:
        future: Future[Plans] = Future()
        fate = fates[int(task.item.source_id)]
        is_settled = fate == "settled" or (fate == "odd" and task.number % 2 == 1)
        future.set_result(SETTLED if is_settled else [task.number])  # type: ignore[list-item]
        return future

    candidates: Iterator[Candidate] = (
        Candidate(
            read=place + 1,
            item=Item(source_id=str(place), image=b"", caption=""),
            picture=None,
            refusal=IN_REFERENCE if fate == "known" else None,
        )
        for place, fate in enumerate(fates)
    )
    plans, outcomes, taken = PlansAhead(submit, ahead, pairs), list[tuple[int, object]](), 0
    while taken < items and (candidate := plans.next(candidates, taken, items - taken)):
        outcome = candidate.refusal or (candidate.plans and candidate.plans.result())
        taken += isinstance(outcome, list)
        outcomes.append((candidate.read, outcome))
    return outcomes


@given(
    st.lists(st.sampled_from(("taken", "settled", "odd", "known")), max_size=30),
    st.integers(2, 9),
    st.integers(1, 3),
    st.integers(1, 12),
)
def test_whatever_is_rejected(fates: list[str], ahead: int, pairs: int, items: int) -> None:
    expected = select(fates, ahead=1, pairs=pairs, items=items)
    assert select(fates, ahead=ahead, pairs=pairs, items=items) == expected
    numbers = [outcome[0] for _, outcome in expected if isinstance(outcome, list)]
    assert numbers == [place // pairs for place in range(len(numbers))]


def test_any_number_of_workers_gives_one_set(
    make: Make, tree: Callable[[Path], dict[str, bytes]], tmp_path: Path
) -> None:
    """With a pair that is there twice, and one that cannot be masked."""
    pairs = samples_of(range(5))
    pairs += [pairs[0], (pairs[1][0], "the of and")]
    source = str(write_pairs(tmp_path / "pairs.parquet", pairs))
    for workers in (1, 2):
        make(tmp_path / str(workers), source=source, items=5, fonts=("open-sans",), workers=workers)
    assert tree(tmp_path / "1") == tree(tmp_path / "2")
