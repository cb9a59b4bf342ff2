"""Kinds of images, and images within a page."""

import base64
import io

import pytest
from PIL import Image

from vcrgen.core.media import data_uri, media_type


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
        (b"RIFF\x24\0\0\0WAVEfmt ", None),
    ],
)
def test_media_types(data: bytes, kind: str | None) -> None:
    assert media_type(data) == kind


def test_an_image_as_an_address() -> None:
    data = encoded("PNG")
    assert data_uri(data) == "data:image/png;base64," + base64.b64encode(data).decode()
    assert data_uri(b"GIF89a") == ""
