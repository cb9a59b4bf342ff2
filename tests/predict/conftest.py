"""A reader that needs no OCR."""

import pytest
from PIL import Image

from vcrgen.errors import ImageProblem
from vcrgen.records import Reason


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
