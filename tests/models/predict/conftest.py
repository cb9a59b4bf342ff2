"""A model that needs no OCR."""

import pytest

from vcrgen.core.records import RejectReason
from vcrgen.models.base import Reply, Request, RequestProblem
from vcrgen.models.pictures import decode_image


class FakeModel:
    """Says the size of a picture; counts what it was given, and may be killed or fail."""

    name = "fake-1"

    def __init__(self, *, version: str = "1", killed_after: int | None = None, fails_on: int | None = None) -> None:
        self.facts = {"model": self.name, "version": version}
        self.read_so_far = 0
        self._killed_after, self._fails_on = killed_after, fails_on

    def reply(self, request: Request) -> Reply:
        image = decode_image(*request.images)
        if self.read_so_far == self._killed_after:
            raise KeyboardInterrupt
        self.read_so_far += 1
        if image.width == self._fails_on:
            raise RequestProblem(RejectReason.UNDECODABLE, "the model fails on it")
        return Reply(text=f"{request.language} {image.width}x{image.height}", model="fake")


@pytest.fixture
def fake_model() -> type[FakeModel]:
    return FakeModel
