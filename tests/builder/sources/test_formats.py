"""Properties of every format: nothing is lost or reordered, wherever reading starts."""

import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.builder.sources.conftest import items_of, pairs_in
from vcrgen.builder.options import BuildConfig
from vcrgen.builder.shards import divide_tasks, neighbours
from vcrgen.builder.sources import items_at, iter_items, limit_partitions, open_source
from vcrgen.core.errors import SourceError


def test_round_trip(written: str, pairs: list[tuple[str, bytes, str]]) -> None:
    items = items_of(BuildConfig(source=written))
    assert [(item.source_id, item.image, item.caption) for item in items] == pairs_in(written, pairs)
    assert {item.problem for item in items} == {""}


@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_window_gives_the_rows_of_a_full_read(written: str, pairs: Any, data: st.DataObject) -> None:
    config = BuildConfig(source=written)
    source = open_source(config)
    partitions = source.partitions()
    for _ in range(3):  # a read may go on where the one before it ended
        index = data.draw(st.integers(0, len(partitions) - 1))
        start = data.draw(st.integers(0, partitions[index].rows))
        stop = data.draw(st.integers(start, partitions[index].rows))
        before = sum(partition.rows for partition in partitions[:index])
        got = [(i.source_id, i.image, i.caption) for i in iter_items(source, config, index, start, stop)]
        assert got == pairs_in(written, pairs[before + start : before + stop])


def test_a_row_group_is_decoded_once_for_all_tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = pa.table({"image": [b"%03d" % number for number in range(200)], "caption": ["words"] * 200})
    pq.write_table(rows, tmp_path / "x.parquet")  # one row group, as by default
    source = open_source(BuildConfig(source=str(tmp_path / "x.parquet")))
    begun = []
    real = pq.ParquetFile.iter_batches
    monkeypatch.setattr(pq.ParquetFile, "iter_batches", lambda *args, **kw: begun.append(kw) or real(*args, **kw))

    def numbers(start: int, stop: int) -> list[int]:
        return [int(row["image"]) for row in source.rows(0, range(start, stop), frozenset({"image"}))]

    for start in range(0, 200, 10):
        assert numbers(start, start + 10) == [*range(start, start + 10)]
    assert len(begun) == 1
    assert next(iter(source.rows(0, range(50, 90), frozenset({"image"}))))["image"] == b"050"  # left half-way
    assert numbers(52, 95) == [*range(52, 95)] and numbers(3, 40) == [*range(3, 40)]
    parts = [(0, 70), (60, 130), (30, 95), (90, 180)]
    often = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # a thread may take over between any two steps of another
    try:
        for _ in range(100):
            with ThreadPoolExecutor(4) as threads:
                assert [*threads.map(numbers, *zip(*parts, strict=True))] == [[*range(*part)] for part in parts]
    finally:
        sys.setswitchinterval(often)


def test_tasks_of_a_row_group_go_together(tmp_path: Path) -> None:
    """Each file is read by one process where there are files enough, and no process waits long for the others."""
    rows = pa.table({"image": [b"%03d" % number for number in range(320)], "caption": ["words"] * 320})
    for name in "abcdefgh":
        pq.write_table(rows, tmp_path / f"{name}.parquet")

    def groups(pattern: str, processes: int) -> list[tuple[tuple[int, int], ...]]:
        config = BuildConfig(source=str(tmp_path / pattern), shard_size=40)
        source = open_source(config)
        _, tasks = divide_tasks(config, source.partitions())
        found = neighbours(tasks, source, processes)
        assert [task for group in found for task in group] == list(tasks)
        return [tuple((task.partition, task.start) for task in group) for group in found]

    assert groups("*.parquet", 2) == [tuple((file, start) for start in range(0, 320, 40)) for file in range(8)]
    assert groups("a.parquet", 1) == [tuple((0, 40 * task) for task in half) for half in (range(4), range(4, 8))]
    assert [len(group) for group in groups("a.parquet", 2)] == [2] * 4
    assert [len(group) for group in groups("a.parquet", 8)] == [1] * 8
    pq.write_table(rows, tmp_path / "small.parquet", row_group_size=40)
    assert [len(group) for group in groups("small.parquet", 1)] == [1] * 8


@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_rows_are_those_of_a_full_read(written: str, pairs: Any, data: st.DataObject) -> None:
    config = BuildConfig(source=written)
    source = open_source(config)
    before = 0
    for index, partition in enumerate(source.partitions()):
        numbers = sorted(data.draw(st.sets(st.integers(0, partition.rows - 1), max_size=6)))
        got = [(i.source_id, i.image, i.caption) for i in items_at(source, config, index, numbers) if i]
        assert got == pairs_in(written, [pairs[before + number] for number in numbers])
        before += partition.rows


def test_a_source_pickles_small_and_reads_the_same(written: str) -> None:
    config = BuildConfig(source=written)
    source = open_source(config)
    fresh = pickle.loads(pickle.dumps(source))
    source.partitions()
    source.names()
    data = pickle.dumps(source)
    assert len(data) < 3000
    copy = pickle.loads(data)
    assert copy.partitions() == source.partitions() == fresh.partitions()
    expected = list(iter_items(source, config, 0, 270, 330))
    assert list(iter_items(copy, config, 0, 270, 330)) == expected
    assert list(iter_items(fresh, config, 0, 270, 330)) == expected


def test_a_limit_cuts_the_partitions(written: str, pairs: Any) -> None:
    for limit in (1, 350, 351, 9999):
        config = BuildConfig(source=written, limit=limit)
        source = open_source(config)
        cut = limit_partitions(source, config)
        items = [i for n, part in enumerate(cut) for i in iter_items(source, config, n, 0, part.rows)]
        assert [item.source_id for item in items] == [pair[0] for pair in pairs[:limit]]


def test_the_missing_column_is_named_with_the_nearest_one(written: str) -> None:
    config = BuildConfig(source=written, caption_column="captoin")
    with pytest.raises(SourceError, match=r"'captoin'.*nearest name is 'caption'.*Known: ") as error:
        list(iter_items(open_source(config), config, 0, 0, 1))
    assert "\n" not in str(error.value)
    config = BuildConfig(source=written, caption_column="xyz")  # "the nearest name is 'id'" helps nobody
    with pytest.raises(
        SourceError,
        match=r"^The caption column 'xyz' is not in [^;]*\. Known: .*; --column caption=NAME \(.* caption_column\)",
    ):
        list(iter_items(open_source(config), config, 0, 0, 1))


@pytest.mark.parametrize(("name", "mark"), [("x.csv", ";"), ("x.csv", "\t"), ("x.csv", ","), ("x.tsv", "\t")])
def test_what_separates_fields_is_seen_in_the_header(tmp_path: Path, name: str, mark: str) -> None:
    """Excel writes semicolons where a comma stands in decimal numbers, and begins with a byte order mark."""
    lines = [mark.join(("image", "caption")), mark.join(("aGVsbG8=", '"one, two; three"'))]
    (tmp_path / name).write_text("\r\n".join(lines) + "\r\n", "utf-8-sig")
    (item,) = items_of(BuildConfig(source=str(tmp_path / name)))
    assert item.caption == "one, two; three"


def test_real_pairs(wiki_dir: Path) -> None:
    for language, count in (("en", 116), ("zh", 152)):
        config = BuildConfig(source=f"{wiki_dir}/pairs_{language}.parquet", lang=language)
        items = items_of(config)
        assert len(items) == count
        assert all(item.image and item.image.startswith(b"\xff\xd8") and item.caption for item in items)
