"""Small datasets of both kinds, and a reader that needs no OCR."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from vcrgen.builder.run import build
from vcrgen.errors import ImageProblem
from vcrgen.hidden.public import VIEWS, image_name, metadata_row
from vcrgen.records import Reason

Rows = list[dict[str, Any]]


@pytest.fixture(scope="session")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six English pairs in both modes and two splits."""
    out = tmp_path_factory.mktemp("predict") / "vcr-en"
    build("samples", out=out, limit=6, splits="test=2,train=...")
    return out


@pytest.fixture
def hidden(tmp_path: Path) -> Callable[..., Path]:
    """Writes the public part of a hidden set: three questions, pictures of 40, 41 and 42 px; rows may be changed."""

    def write(change: Callable[[Rows], Any] = lambda rows: None) -> Path:
        public = tmp_path / "hidden" / "public"
        ids = [f"{number:032x}" for number in range(3)]
        rows: Rows = [dict(metadata_row(question_id, "en", "canary")) for question_id in ids]
        for number, question_id in enumerate(ids):
            for view in VIEWS:
                file = public / image_name(view, question_id)
                file.parent.mkdir(parents=True, exist_ok=True)
                Image.new("RGB", (40 + number, 30)).save(file)
        change(rows)
        (public / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        (public / "manifest.json").write_text(json.dumps({"version": "vcrgen-hidden-1"}), "utf-8")
        return public

    return write


class FakeEngine:
    """Says the size of a picture; counts what it was given, and may be killed or fail."""

    model = "fake-1"

    def __init__(self, *, version: str = "1", killed_after: int | None = None, fails_on: int | None = None) -> None:
        self.facts = {"model": self.model, "version": version}
        self.read_so_far = 0
        self._killed_after, self._fails_on = killed_after, fails_on

    def read(self, image: Image.Image, lang: str) -> str:
        if self.read_so_far == self._killed_after:
            raise KeyboardInterrupt
        self.read_so_far += 1
        if image.width == self._fails_on:
            raise ImageProblem(Reason.UNDECODABLE, "the engine fails on it")
        return f"{lang} {image.width}x{image.height}"


@pytest.fixture
def fake_engine() -> type[FakeEngine]:
    return FakeEngine
