"""Kinds of images."""

import io

import pytest
from PIL import Image

from vcrgen.media import media_type


def encoded(form: str) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (40, 30)).save(buffer, form)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (encoded("PNG"), "image/png"),
        (encoded("WEBP"), "image/webp"),
        (encoded("JPEG"), "image/jpeg"),
        (b"GIF89a", None),
    ],
)
def test_media_types(data: bytes, kind: str | None) -> None:
    assert media_type(data) == kind
