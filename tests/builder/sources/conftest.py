"""One writer a format, all writing the same pairs, so that one table of tests holds for every format."""

import base64
import csv
import gzip
import json
import tarfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from tests.making import add_member, encoded
from vcrgen.builder.options import BuildConfig
from vcrgen.builder.sources import iter_items, open_source
from vcrgen.core.records import Item

Pair = tuple[str, bytes, str]
Writer = Callable[[Path, Sequence[Pair]], str]


def items_of(config: BuildConfig) -> list[Item]:
    """Read a source whole."""
    source = open_source(config)
    return [i for n, p in enumerate(source.partitions()) for i in iter_items(source, config, n, 0, p.rows)]


def make_pairs(count: int) -> list[Pair]:
    """Pairs of id, small PNG and a caption with quotes, line breaks and non-Latin text."""
    pairs = []
    for index in range(count):
        image = encoded(Image.new("RGB", (2, 2), (index % 256, index // 256, 0)))
        pairs.append((f"p{index:05d}", image, f'caption "{index}", 图像\nsecond line'))
    return pairs


def table(pairs: Sequence[Pair]) -> pa.Table:
    """The layout that `datasets` gives images in Parquet and Arrow."""
    rows = [{"id": i, "image": {"bytes": image, "path": None}, "caption": text} for i, image, text in pairs]
    return pa.Table.from_pylist(rows)


def write_parquet(folder: Path, pairs: Sequence[Pair]) -> str:
    half = len(pairs) // 2
    pq.write_table(table(pairs[:half]), folder / "a.parquet", row_group_size=50)
    pq.write_table(table(pairs[half:]), folder / "b.parquet", row_group_size=70)
    return f"{folder}/*.parquet"


def write_parquet_folder(folder: Path, pairs: Sequence[Pair]) -> str:
    write_parquet(folder, pairs)
    return str(folder)


def write_hub_layout(folder: Path, pairs: Sequence[Pair]) -> str:
    (folder / "data").mkdir()
    half = len(pairs) // 2
    pq.write_table(
        table(pairs[:half]), folder / "data/train-00000-of-00001.parquet"
    )  # all splits, training pairs first
    pq.write_table(table(pairs[half:]), folder / "data/test-00000-of-00001.parquet")
    return str(folder)


def write_disk(folder: Path, pairs: Sequence[Pair]) -> str:
    files = [{"filename": f"data-0000{n}-of-00002.arrow"} for n in range(2)]
    half = len(pairs) // 2
    for file, part in zip(files, (pairs[:half], pairs[half:]), strict=True):
        content = table(part)
        with pa.ipc.new_stream(folder / file["filename"], content.schema) as stream:
            stream.write_table(content, max_chunksize=40)
    (folder / "state.json").write_text(json.dumps({"_data_files": files}))
    (folder / "dataset_info.json").write_text("{}")
    return str(folder)


def write_csv(folder: Path, pairs: Sequence[Pair]) -> str:
    with (folder / "pairs.csv").open("w", encoding="utf-8-sig", newline="") as handle:
        writer = csv.writer(handle)
        writer.writerow(["id", "image", "caption"])
        writer.writerows([i, base64.b64encode(image).decode(), text] for i, image, text in pairs)
    return str(folder / "pairs.csv")


def pairs_in(written: str, pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs as a source can hold them: a TSV has no line breaks in its fields."""
    return [(i, image, text.replace("\n", " ")) for i, image, text in pairs] if ".tsv" in written else list(pairs)


def write_tsv(folder: Path, pairs: Sequence[Pair]) -> str:
    with (folder / "pairs.tsv").open("w", encoding="utf-8", newline="") as handle:
        handle.write("id\timage\tcaption\n")
        for i, image, text in pairs_in(".tsv", pairs):
            handle.write(f"{i}\tdata:image/png;base64,{base64.b64encode(image).decode()}\t{text}\n\n")
    return str(folder / "pairs.tsv")


def write_jsonl(folder: Path, pairs: Sequence[Pair]) -> str:
    (folder / "img").mkdir()
    lines = []
    for i, image, text in pairs:
        (folder / "img" / f"{i}.png").write_bytes(image)
        lines.append(json.dumps({"id": i, "image": f"img/{i}.png", "caption": text}) + "\n\n")
    (folder / "pairs.jsonl").write_text("".join(lines))
    return str(folder / "pairs.jsonl")


def write_image_folder(folder: Path, pairs: Sequence[Pair]) -> str:
    with (folder / "metadata.csv").open("w", encoding="utf-8", newline="") as handle:
        writer = csv.writer(handle)
        writer.writerow(["id", "file_name", "caption"])
        for i, image, text in pairs:
            (folder / f"{i}.png").write_bytes(image)
            writer.writerow([i, f"{i}.png", text])
    return str(folder)


def write_tar(folder: Path, pairs: Sequence[Pair]) -> str:
    half = len(pairs) // 2
    for number, part in enumerate((pairs[:half], pairs[half:])):
        with tarfile.open(folder / f"shard-{number:04d}.tar", "w", format=tarfile.PAX_FORMAT) as archive:
            for index, (i, image, text) in enumerate(part):
                add_member(archive, f"{i}.PNG", image)
                if index % 2:
                    add_member(archive, f"{i}.txt", text.encode())
                add_member(archive, f"{i}.json", json.dumps({"caption": text, "n": index}).encode())
    return f"{folder}/shard-{{0000..0001}}.tar"


def gzipped(write: Writer) -> Writer:
    """A writer whose file is then compressed."""

    def write_gzipped(folder: Path, pairs: Sequence[Pair]) -> str:
        file = Path(write(folder, pairs))
        packed = file.with_name(f"{file.name}.gz")
        packed.write_bytes(gzip.compress(file.read_bytes(), 1))
        return str(packed)

    return write_gzipped


WRITERS: dict[str, Writer] = {
    "parquet": write_parquet,
    "parquet folder": write_parquet_folder,
    "hub layout": write_hub_layout,
    "save_to_disk": write_disk,
    "csv": write_csv,
    "tsv": write_tsv,
    "jsonl": write_jsonl,
    "csv.gz": gzipped(write_csv),
    "tsv.gz": gzipped(write_tsv),
    "jsonl.gz": gzipped(write_jsonl),
    "image folder": write_image_folder,
    "tar": write_tar,
}


@pytest.fixture(scope="session")
def pairs() -> list[Pair]:
    """More pairs than the stride of the scanned formats, and than a batch or row group of the others."""
    return make_pairs(700)


@pytest.fixture(scope="session", params=list(WRITERS))
def written(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, pairs: Any) -> str:
    """A value of `--source` for each format."""
    return WRITERS[request.param](tmp_path_factory.mktemp("source"), pairs)
