"""Images given as bytes, text or path; what is read, and what is not."""

import base64
import os
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from vcrgen.builder.sources import images
from vcrgen.builder.sources.images import ImageFolders, image_bytes
from vcrgen.core.errors import ImageProblem

PNG = b"\x89PNG\r\n\x1a\n" + b"\x00" * 60
TEXT = base64.b64encode(PNG).decode()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "a.png").write_bytes(PNG)
    (folder / "empty.png").touch()
    (tmp_path / "secret.png").write_bytes(PNG)
    (folder / "out.png").symlink_to(tmp_path / "secret.png")
    (folder / "outdir").symlink_to(tmp_path)
    (folder / "in.png").symlink_to(folder / "sub" / "a.png")
    (folder / "loop").symlink_to(folder / "loop")
    os.mkfifo(folder / "pipe")
    return folder


@pytest.mark.parametrize(
    "value",
    [
        PNG,
        bytearray(PNG),
        {"bytes": PNG, "path": "gone.png"},
        {"bytes": None, "path": "sub/a.png"},
        "sub/a.png",
        "./sub/a.png",
        "in.png",
        TEXT,
        TEXT[:40] + "\n" + TEXT[40:],
        f"data:image/png;base64,{TEXT}",
    ],
)
def test_read(root: Path, value: Any) -> None:
    assert image_bytes(value, folders=ImageFolders.of(root)) == PNG


@pytest.mark.parametrize("value", [None, b"", "", "  ", {"bytes": None, "path": None}, {}])
def test_no_image(root: Path, value: Any) -> None:
    assert image_bytes(value, folders=ImageFolders.of(root)) is None


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("../secret.png", "outside"),
        ("sub/../../secret.png", "outside"),
        ("sub\\..\\..\\secret.png", "outside"),
        ("/etc/hostname", "outside"),
        ("C:\\x.png", "outside"),
        ("\\\\server\\x.png", "outside"),
        ("out.png", "outside"),
        ("outdir/secret.png", "outside"),
        ({"bytes": None, "path": "/etc/hostname"}, "outside"),
        ("https://example.org/a.png", "does not download"),
        ("file:///etc/hostname", "does not download"),
        ("S3://bucket/a.png", "does not download"),
        ("none.png", "missing"),
        ("sub", "not a file"),
        ("pipe", "not a file"),
        ("empty.png", "empty"),
        ("loop", "cannot be read|missing"),
        ("nul\0byte.png", "cannot be read"),
        ("n" * 300, "cannot be read"),
        ("n" * 5000, "neither a path nor"),
        (TEXT[:-3], "damaged"),
        ("data:image/png;base64,@@@", "damaged"),
        (7, "type int"),
    ],
)
def test_refused(root: Path, value: Any, problem: str) -> None:
    with pytest.raises(ImageProblem, match=problem):
        image_bytes(value, folders=ImageFolders.of(root))


@pytest.mark.parametrize("name", ["Grün/Straße 1.png", "고양이.png", "café.png"])
def test_accents_in_the_form_of_another_system(root: Path, name: str) -> None:
    forms = [unicodedata.normalize(form, name) for form in ("NFC", "NFD")]
    for there, said in (forms, forms[::-1]):
        (root / there).parent.mkdir(exist_ok=True)
        (root / there).write_bytes(PNG)
        assert image_bytes(said, folders=ImageFolders.of(root)) == PNG
        (root / there).unlink()


def test_a_path_without_a_folder() -> None:
    with pytest.raises(ImageProblem, match="no folder"):
        image_bytes("a.png", folders=ImageFolders.of(None))


def test_a_large_file_is_not_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images, "MAX_IMAGE_BYTES", 10)
    for value in ("sub/a.png", PNG):
        with pytest.raises(ImageProblem, match="larger than"):
            image_bytes(value, folders=ImageFolders.of(root))


@pytest.mark.parametrize(
    "value", ["sub/a.png", "../source/sub/a.png", "sub/../in.png", "{root}/sub/a.png", "{root}/in.png"]
)
def test_paths_that_stay_inside(root: Path, value: str) -> None:
    """As `Dataset.to_parquet` writes them, too: absolute."""
    assert image_bytes(value.format(root=root), folders=ImageFolders.of(root)) == PNG
    assert image_bytes({"bytes": None, "path": value.format(root=root)}, folders=ImageFolders.of(root)) == PNG


def test_a_folder_is_vouched_for_by_naming_it(root: Path, tmp_path: Path) -> None:
    """A list in one folder names images in another, by paths from there or absolute ones, or by links."""
    lists, images_in = tmp_path / "lists", root / "sub"
    lists.mkdir()
    (lists / "link.png").symlink_to(images_in / "a.png")
    (lists / "a.png").write_bytes(b"another")
    for value in ("a.png", str(images_in / "a.png"), "link.png", "../source/sub/a.png"):
        folders = ImageFolders.of(lists, image_root=images_in)
        assert image_bytes(value, folders=folders) == PNG, value
    for value in (str(images_in / "a.png"), "link.png", "../source/sub/a.png"):
        with pytest.raises(
            ImageProblem, match="outside of the source's folder; name the folder that it is in by --image-ro"
        ):
            image_bytes(value, folders=ImageFolders.of(lists))
    assert image_bytes("a.png", folders=ImageFolders.of(None, image_root=images_in)) == PNG  # of a list in a store


@pytest.mark.parametrize(
    "value",
    [
        "../secret.png",
        "../../secret.png",
        "{tmp}/secret.png",
        "{tmp}/source/sub/../../secret.png",
        "out.png",
        "outdir/secret.png",
    ],
)
def test_nothing_else_is_vouched_for(root: Path, tmp_path: Path, value: str) -> None:
    (root / "sub/out.png").symlink_to(tmp_path / "secret.png")
    (root / "sub/outdir").symlink_to(tmp_path)
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources/secret.png").write_bytes(PNG)
    for folders in (
        ImageFolders.of(root),
        ImageFolders.of(root, image_root=root / "sub"),
        ImageFolders.of(root / "sub"),
    ):
        for text in (value.format(tmp=tmp_path), f"{tmp_path}/sources/secret.png"):  # begins as the folder does
            with pytest.raises(ImageProblem, match=r"outside|missing"):
                image_bytes(text, folders=folders)


def test_links_of_the_cache_of_the_hub(tmp_path: Path) -> None:
    """There, every file of a snapshot is a link to one in `blobs`."""

    def cache(name: str) -> Path:
        snapshot = tmp_path / name / "snapshots/0123abc"
        (snapshot / "train").mkdir(parents=True)
        (tmp_path / name / "blobs").mkdir()
        (tmp_path / name / "blobs/f00").write_bytes(PNG)
        (snapshot / "train/a.png").symlink_to("../../../blobs/f00")
        return snapshot

    snapshot = cache("datasets--org--name")
    assert image_bytes("train/a.png", folders=ImageFolders.of(snapshot)) == PNG
    assert image_bytes("a.png", folders=ImageFolders.of(snapshot, inside="train")) == PNG
    assert image_bytes("a.png", folders=ImageFolders.of(None, image_root=snapshot / "train")) == PNG
    (snapshot / "b.png").symlink_to(cache("datasets--org--other") / "train/a.png")
    (snapshot / "c.png").symlink_to("../../refs")
    for name in ("b.png", "c.png"):
        with pytest.raises(ImageProblem, match="outside"):
            image_bytes(name, folders=ImageFolders.of(snapshot))
    with pytest.raises(ImageProblem, match="outside"):  # no folder of the Hub's
        image_bytes("train/a.png", folders=ImageFolders.of(cache("mine")))
    hostile = cache("datasets--evil--name")
    (hostile / "../../blobs/f00").unlink()
    (hostile / "../../blobs").rmdir()
    (tmp_path / "datasets--evil--name/blobs").symlink_to(tmp_path / "datasets--org--name/blobs")
    with pytest.raises(ImageProblem, match="outside"):
        image_bytes("train/a.png", folders=ImageFolders.of(hostile))
