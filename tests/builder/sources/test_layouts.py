"""Folders as people have them, made by the libraries that write them where these are here."""

import json
import os
import shutil
import tarfile
from pathlib import Path
from typing import Any

import datasets
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.builder.sources.conftest import items_of
from vcrgen.builder.options import BuildConfig
from vcrgen.builder.sources import RowCounts, iter_items, open_every_split, open_pairs, open_source
from vcrgen.core.errors import SourceError


def found(source: Path | str, **options: Any) -> list[tuple[str, bytes | None, str | None]]:
    items = items_of(BuildConfig(source=str(source), **options))
    return [(item.source_id, item.image, item.caption or item.problem or None) for item in items]


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder


def img2dataset(folder: Path) -> Path:
    """The files of `img2dataset --output_format files`: two shards, each with its log."""
    for shard in range(2):
        keys = [f"{shard:05d}{n:04d}" for n in range(3)]
        for key in keys[:-1]:  # the last one could not be fetched
            about = {"caption": f"alt of {key}", "key": key, "status": "success", "url": "https://a/b.jpg"}
            names = f"{shard:05d}/{key}"
            write(folder, {f"{names}.jpg": key, f"{names}.txt": about["caption"], f"{names}.json": json.dumps(about)})
        log = pd.DataFrame({"url": "https://a/b.jpg", "caption": "alt", "key": keys, "status": "failed_to_download"})
        log.to_parquet(folder / f"{shard:05d}.parquet")
        write(folder, {f"{shard:05d}_stats.json": "{}"})
    return folder


def test_files_of_img2dataset(tmp_path: Path) -> None:
    folder = img2dataset(tmp_path / "out")
    expected = [
        (f"{key[:5]}/{key}.jpg", key.encode(), f"alt of {key}")
        for key in ("000000000", "000000001", "000010000", "000010001")
    ]
    assert found(folder) == expected
    assert open_source(BuildConfig(source=str(folder))).description == "images beside their captions in 2 folders"
    assert [item[2] for item in found(folder, caption_column="json.url")] == ["https://a/b.jpg"] * 4
    assert list(open_every_split(BuildConfig(source=str(folder)))) == [""]
    for shard in range(2):
        with tarfile.open(folder / f"{shard:05d}.tar", "w") as archive:
            for file in sorted((folder / f"{shard:05d}").iterdir()):
                archive.add(file, file.name)
        shutil.rmtree(folder / f"{shard:05d}")
    assert [item[1:] for item in found(folder)] == [item[1:] for item in expected]
    assert list(open_every_split(BuildConfig(source=str(folder)))) == ["."]


def test_files_of_kohya(tmp_path: Path) -> None:
    """With folders of repeats, tags or captions, and files of its own."""
    files = {
        "img/10_cat/b.png": "b",
        "img/10_cat/b.txt": "\ufeffa cat on a mat",
        "img/10_cat/a.PNG": "a",
        "img/10_cat/a.caption": "a tall cat",
        "img/10_cat/a.npz": "latents",
        "img/10_cat/lonely.webp": "lonely",
        "img/10_cat/orphan.txt": "a caption",
        "img/10_cat/two.jpg": "two",
        "img/10_cat/two.png": "2",
        "img/10_cat/two.txt": "of both",
        "img/5_dog/c.v2.jpeg": "c",
        "img/5_dog/c.v2.txt": "a dog",
        "img/5_dog/.hidden.jpg": "x",
        "img/_cache/d.jpg": "d",
        "img/_cache/d.txt": "d",
        "notes.txt": "no caption",
    }
    folder = write(tmp_path / "x", files)
    assert found(folder) == [
        ("img/10_cat/a.PNG", b"a", "a tall cat"),
        ("img/10_cat/b.png", b"b", "a cat on a mat"),
        ("img/10_cat/lonely.webp", b"lonely", None),
        ("img/10_cat/orphan.txt", None, "a caption"),
        ("img/10_cat/two.jpg", b"two", "of both"),
        ("img/10_cat/two.png", b"2", "of both"),
        ("img/5_dog/c.v2.jpeg", b"c", "a dog"),
    ]
    assert found(folder / "img/5_dog") == [("c.v2.jpeg", b"c", "a dog")]
    config = BuildConfig(source=str(folder))
    counts = RowCounts()
    source, parts = open_pairs(config)
    for index, part in enumerate(parts):
        list(iter_items(source, config, index, 0, part.rows, counts=counts))
    assert counts == RowCounts(rows=7, captions=7)


def test_texts_beside_images_that_are_refused(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "x", {"0.jpg": "0", "0.txt": "ok", **{f"{n}.jpg": "x" for n in range(1, 4)}, "3.json": "{"}
    )
    write(tmp_path, {"secret.txt": "secret", "secret.jpg": "secret"})
    (folder / "1.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "2.txt").write_bytes(b"caf\xe9")
    (folder / "4.jpg").symlink_to(tmp_path / "secret.jpg")
    write(folder, {"4.txt": "a link"})
    (folder / "5.txt").mkdir()
    os.mkfifo(folder / "6.txt")
    outside = "path leads outside of the source's folder; name the folder that it is in by --image-root"
    assert [item[2] for item in found(folder)] == [
        "ok",
        f"the 1.txt's {outside}",
        "the caption is not valid Unicode text",
        "3.json: not JSON",
        "a link",
        "the 5.txt's path is not a file",
        "the 6.txt's path is not a file",
    ]
    assert [item[1] for item in found(folder)][4] is None
    assert [item[1] for item in found(folder, image_root=tmp_path)][4] == b"secret"  # vouched for by naming it
    with pytest.raises(SourceError, match="no images beside text files of the same names"):
        found(write(tmp_path / "y", {"0.jpg": "0", "1.txt": "a"}))


def test_links_to_folders(tmp_path: Path) -> None:
    folder = write(tmp_path / "x", {"1/0.jpg": "0", "1/0.txt": "a"})
    elsewhere = write(tmp_path / "images", {"cats/1.jpg": "1", "cats/1.txt": "b"})
    (folder / "again").symlink_to(folder / "1")  # counted once
    (folder / "1/up").symlink_to(folder)
    assert found(folder) == [("1/0.jpg", b"0", "a")]
    (folder / "2").symlink_to(elsewhere / "cats")
    (elsewhere / "cats/round").symlink_to(elsewhere / "cats")
    with pytest.raises(
        SourceError, match=r"x/2 is a link to .*images/cats, outside of .*; name that folder by --image-root"
    ):
        found(folder)
    expected = [("1/0.jpg", b"0", "a"), ("2/1.jpg", b"1", "b")]
    assert found(folder, image_root=elsewhere) == expected


def made_by_datasets(images: Path) -> datasets.Dataset:
    """A dataset of files, of which it keeps the paths: absolute ones."""
    write(images, {f"{n}.png": f"\x89PNG{n}" for n in range(3)})
    table = {"image": [str(images / f"{n}.png") for n in range(3)], "caption": [f"caption {n}" for n in range(3)]}
    return datasets.Dataset.from_dict(table).cast_column("image", datasets.Image())


def test_paths_that_datasets_writes(tmp_path: Path) -> None:
    made = made_by_datasets(tmp_path / "images")
    made.to_parquet(tmp_path / "x/pairs.parquet")
    made.cast_column("image", datasets.Image(decode=False)).to_json(tmp_path / "x/pairs.jsonl")
    assert pq.read_table(tmp_path / "x/pairs.parquet").to_pylist()[0]["image"]["bytes"] is None
    for name in ("pairs.parquet", "pairs.jsonl"):
        captions = [text for _, _, text in found(tmp_path / "x" / name, image_root=tmp_path / "images")]
        assert captions == [f"caption {n}" for n in range(3)]
        assert all(image for _, image, _ in found(tmp_path / "x" / name, image_root=tmp_path / "images"))
        assert not any(image for _, image, _ in found(tmp_path / "x" / name))
    shutil.move(tmp_path / "x/pairs.parquet", tmp_path / "pairs.parquet")  # into a folder that holds the images, too
    assert all(image for _, image, _ in found(tmp_path / "pairs.parquet"))
    made.save_to_disk(tmp_path / "saved")
    assert all(image for _, image, _ in found(tmp_path / "saved", image_root=tmp_path / "images"))


@pytest.mark.parametrize("form", ["csv", "tsv", "json", "csv.gz", "jsonl.gz"])
def test_tables_of_pandas_with_images_elsewhere(tmp_path: Path, form: str) -> None:
    write(tmp_path / "images", {f"{n}.png": f"{n}" for n in range(3)})
    captions = ['the "old" boat', "one, two; three", "caf\u00e9"]
    table = pd.DataFrame({"image": [f"{n}.png" for n in range(3)], "caption": captions})
    (tmp_path / "lists").mkdir()
    file = tmp_path / "lists" / f"pairs.{form}"
    if "json" in form:
        table.to_json(file, orient="records", lines=True)
    else:
        table.to_csv(file, index=False, sep="\t" if form == "tsv" else ",")
    assert [item[1:] for item in found(file, image_root=tmp_path / "images")] == [
        (b"%d" % n, captions[n]) for n in range(3)
    ]


def test_a_root_that_is_no_folder(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"--image-root .*none is no folder"):
        found("samples", image_root=tmp_path / "none")


def test_one_configuration_of_a_local_copy(tmp_path: Path) -> None:
    for name, splits in {"en": ("train", "test"), "zh": ("train",)}.items():
        for split in splits:
            made = datasets.Dataset.from_dict({"image": [b"x"], "caption": [f"{name} {split}"]})
            made.to_parquet(tmp_path / f"copy/{name}/{split}-00000-of-00001.parquet")
    entry = "- config_name: {0}\n  data_files:\n  - split: train\n    path: {0}/train-*\n"
    readme = f"---\nconfigs:\n{entry.format('en')}  - split: test\n    path: en/test-*\n{entry.format('zh')}---\n"
    write(tmp_path / "copy", {"README.md": readme})

    def captions(source: str, **options: Any) -> list[str | None]:
        return [caption for _, _, caption in found(source, **options)]

    assert captions(f"{tmp_path}/copy:en") == ["en train", "en test"]
    assert captions(f"{tmp_path}/copy:zh") == ["zh train"]
    assert captions(f"{tmp_path}/copy:en", source_split="test") == ["en test"]
    with pytest.raises(SourceError, match=r"cannot be opened as a dataset: .*'fr'"):
        captions(f"{tmp_path}/copy:fr")
    with pytest.raises(SourceError, match=r"en.*zh"):
        captions(f"{tmp_path}/copy")
    with pytest.raises(SourceError, match="There is no file or folder"):
        captions(f"{tmp_path}/none:fr")


def test_the_cache_of_the_hub(tmp_path: Path) -> None:
    """A snapshot that the Hub's own client keeps: every file is a link."""
    dataset = tmp_path / "datasets--org--name"
    snapshot, blobs = dataset / "snapshots/0123abc", dataset / "blobs"
    blobs.mkdir(parents=True)

    def keep(name: str, data: bytes) -> None:
        (snapshot / name).parent.mkdir(parents=True, exist_ok=True)
        (blobs / name.replace("/", "-")).write_bytes(data)
        (snapshot / name).symlink_to(os.path.relpath(blobs / name.replace("/", "-"), (snapshot / name).parent))

    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"image": [b"x"], "caption": ["in Parquet"]}), sink)
    keep("data/train-00000-of-00001.parquet", sink.getvalue().to_pybytes())
    assert [item[1:] for item in found(snapshot)] == [(b"x", "in Parquet")]
    shutil.rmtree(snapshot)
    keep("train/metadata.csv", b"file_name,caption\n0.png,in a list\n")
    keep("train/0.png", b"png")
    assert [item[1:] for item in found(snapshot)] == [(b"png", "in a list")]
    shutil.rmtree(snapshot)
    keep("0.jpg", b"jpg")
    keep("0.txt", b"beside it")
    assert found(snapshot) == [("0.jpg", b"jpg", "beside it")]
