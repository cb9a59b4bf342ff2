"""Images given as bytes, text or path; what is read, and what is not."""

import base64
import os
from pathlib import Path
from typing import Any

import pytest

from vcrgen.builder.sources import images
from vcrgen.builder.sources.images import image_bytes
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
    assert image_bytes(value, root=root) == PNG


@pytest.mark.parametrize("value", [None, b"", "", "  ", {"bytes": None, "path": None}, {}])
def test_no_image(root: Path, value: Any) -> None:
    assert image_bytes(value, root=root) is None


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
        ("loop", "cannot be read"),
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
        image_bytes(value, root=root)


def test_a_path_without_a_folder() -> None:
    with pytest.raises(ImageProblem, match="no folder"):
        image_bytes("a.png", root=None)


def test_a_large_file_is_not_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images, "MAX_IMAGE_BYTES", 10)
    for value in ("sub/a.png", PNG):
        with pytest.raises(ImageProblem, match="larger than"):
            image_bytes(value, root=root)
