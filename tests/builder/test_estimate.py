"""Plans: what is counted is exact, what is predicted is near a real build, and nothing is written."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from tests.making import encoded
from vcrgen.builder.estimate import BuildEstimate, estimate
from vcrgen.builder.run import build
from vcrgen.config.build import BuildConfig, load_build_config
from vcrgen.dataset.manifest import read_manifest
from vcrgen.errors import SourceError

Run = Callable[..., tuple[int, str, str]]
CAPTION = "The old man was reading a long book number {} before the evening came."


def noise(number: int) -> bytes:
    """A photo that does not compress, so that sizes are alike."""
    pixels = np.random.default_rng(number).integers(0, 256, (60 + number % 7, 80, 3), np.uint8)
    return encoded(Image.fromarray(pixels))


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two files of 60 rows; every fourth caption is too short, every other row is marked."""
    folder = tmp_path_factory.mktemp("pairs")
    for part in range(2):
        numbers = range(60 * part, 60 * part + 60)
        table = pa.table(
            {
                "image": pa.array([noise(number) for number in numbers], pa.binary()),
                "caption": ["Short" if number % 4 == 0 else CAPTION.format(number) for number in numbers],
                "kind": ["even" if number % 2 == 0 else "odd" for number in numbers],
            }
        )
        pq.write_table(table, folder / f"pairs-{part}.parquet")
    return folder


def built(out: Path, config: BuildConfig) -> dict[str, float]:
    build(config=config, source=config.source, out=out)
    manifest = read_manifest(out)
    sizes = {mode: float(sum(f.bytes for f in manifest.files if f.mode == mode)) for mode in manifest.modes}
    return sizes | {"read": manifest.read, "pairs": manifest.pairs, "files": len(manifest.files)}


def holds(found: BuildEstimate, real: dict[str, float], tolerance: float) -> None:
    for mode, size in found.bytes.items():
        assert size.value == pytest.approx(real[mode], rel=tolerance), mode
        assert size.low <= size.value <= size.high
    assert found.total_bytes.value == pytest.approx(sum(real[mode] for mode in found.bytes), rel=tolerance)
    assert found.pairs.value == pytest.approx(real["pairs"], rel=tolerance)


def test_a_plan_foretells_a_build_of_built_in_pairs(tmp_path: Path) -> None:
    config = BuildConfig(source="samples:160")
    found = estimate(config)
    real = built(tmp_path / "out", config)
    assert (found.rows, found.shards, found.sampled) == (real["read"], 10, 70)
    assert found.files == real["files"]
    holds(found, real, 0.15)
    assert 0 < found.core_hours.low <= found.core_hours.value <= found.core_hours.high


def test_a_sample_of_everything_leaves_nothing_open(tmp_path: Path) -> None:
    config = BuildConfig(source="samples:40", mode="hard", lang="zh")
    found = estimate(config)
    real = built(tmp_path / "out", config)
    assert found.sampled == found.rows == 40
    assert found.pairs.low == found.pairs.high == real["pairs"]
    assert found.bytes["hard"].low == pytest.approx(found.bytes["hard"].high)
    assert list(found.bytes) == ["hard"]
    holds(found, real, 0.01)


def test_what_is_set_aside_counts(pairs: Path, tmp_path: Path) -> None:
    config = BuildConfig(source=str(pairs / "*.parquet"), shard_size=10)
    found = estimate(config)
    real = built(tmp_path / "out", config)
    assert (found.rows, found.source_files, found.shards) == (120, 2, 12)
    assert set(found.rejected) == {"short_caption"} and 0.15 < found.share_rejected < 0.35
    holds(found, real, 0.15)
    assert found.pairs.low <= real["pairs"] <= found.pairs.high


def test_a_bad_source_is_the_error_of_a_build(tmp_path: Path) -> None:
    for source in ("missing.parquet", str(tmp_path)):
        with pytest.raises(SourceError) as of_plan:
            estimate(BuildConfig(source=source))
        with pytest.raises(SourceError) as of_build:
            build(source, out=tmp_path / "out")
        assert str(of_plan.value) == str(of_build.value)


def test_the_command_line(run: Run) -> None:
    code, out, _ = run(*["plan", "samples:100", "--mode", "easy", "--out", "data", "--workers", "2"])
    assert code == 0 and "100 rows in 1 file, read as 7 shards" in out and "core-hours" in out
    code, out, _ = run(*["plan", "samples:40", "--mode", "easy", "--json"])
    value = json.loads(out)
    assert code == 0 and (value["rows"], value["shards"]) == (40, 3) and set(value["bytes"]) == {"easy"}
    assert list(Path().iterdir()) == []
    for words in ("plan nowhere.parquet", "plan samples:0", "plan samples --lang xx", "plan samples --address auto"):
        code, _, err = run(*words.split())
        assert code == 2 and err.startswith("Error: "), words


def test_a_plan_warns_of_large_row_groups(pairs: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each process would read them from their beginning; of a row group that is no larger than a shard, none does."""
    monkeypatch.setattr("vcrgen.builder.estimate.COSTLY_BYTES", 1000)

    def group_rows(**options: int) -> int:
        return estimate(load_build_config(None, {"source": str(pairs / "*.parquet"), **options})).row_group_rows

    assert group_rows(shard_size=20) == 60  # each file is one group
    assert group_rows(shard_size=20, limit=40) == 40
    assert group_rows(shard_size=60) == 0
    _, out, _ = run("plan", f"{pairs}/*.parquet", "--shard-size", "20")
    assert "Row groups have up to 60 rows" in out and "row_group_size=1000" in out
    assert "streams, row_group_size=32." in out
