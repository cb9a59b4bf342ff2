"""Every command of docs/scale.md runs."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.pages import Page, Run, succeed
from vcrgen.samples import sample_pair


def test_the_commands_for_many_machines(run: Run) -> None:
    """Without their engines and stores, which tests/builder/engines/ has."""
    Path("pairs").mkdir()
    rows = [{"image": pair.image, "caption": pair.caption} for pair in (sample_pair("en", place) for place in range(3))]
    pq.write_table(pa.Table.from_pylist(rows), "pairs/part-0.parquet")
    commands = [line for line in Page("docs/scale.md").commands if line.startswith("vcrgen ")]
    for number, line in enumerate(commands):
        local = line.partition(" --engine ")[0].replace("s3://bucket/", "").replace("/shared/vcr", f"vcr-{number}")
        succeed(run, local)
    assert Path("vcr/_SUCCESS").exists()
