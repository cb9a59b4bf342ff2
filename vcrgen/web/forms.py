"""Forms of requests, read part by part: who may send one is asked before any of a file is kept."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from email.message import Message
from tempfile import SpooledTemporaryFile
from urllib.parse import parse_qsl

from fastapi import Request
from python_multipart import MultipartParser
from python_multipart.exceptions import FormParserError
from starlette.datastructures import FormData, UploadFile

from vcrgen.core.reading import encodable
from vcrgen.web.limits import FORM_BYTES, MAX_FIELD
from vcrgen.web.responses import Refusal

IN_MEMORY = 1 << 20  # bytes of a file that need no disk
Items = list[tuple[str, str | UploadFile]]
Admit = Callable[[FormData], Awaitable[None]]


@asynccontextmanager
async def open_form(request: Request, *, fields: int, admit: Admit) -> AsyncIterator[FormData]:
    """Read the form of a request with at most so many fields; the one file in it is kept in a temporary file.

    ``admit`` is asked about the fields that have come when ``FORM_BYTES`` have been read, or all of a smaller form. By
    then nothing is on a disk, and nothing will be if it raises an error.

    Raises:
        Refusal: It is no form, or not in UTF-8.
    """
    head = Message()
    head["content-type"] = request.headers.get("content-type", "")
    parts = _Parts(fields)
    try:
        if head.get_content_type() == "multipart/form-data":
            form = await _read_multipart(request, parts, head.get_boundary(""), admit)
        else:
            form = FormData(_fields_of(await _short_body(request), fields))
            await admit(form)
        yield form
    except FormParserError:
        raise _unreadable("it is no valid multipart/form-data.") from None
    finally:
        if parts.file is not None:
            await parts.file.close()


def form_texts(form: FormData, names: Collection[str]) -> dict[str, str]:
    """The fields of a form by name, empty where they are missing; without half characters, which no page can hold."""
    return {name: encodable(text) if isinstance(text := form.get(name), str) else "" for name in names}


def _unreadable(why: str) -> Refusal:
    return Refusal(400, f"The form cannot be read: {why}")


async def _read_multipart(request: Request, parts: _Parts, boundary: str, admit: Admit) -> FormData:
    parser = parts.parser(boundary)
    size, asked = 0, False
    async for chunk in request.stream():
        parser.write(chunk)
        size += len(chunk)
        if not asked and size > FORM_BYTES:
            await admit(FormData(parts.items))
            asked = True
        if asked:
            await parts.keep()
    parser.finalize()
    if not asked:
        await admit(FormData(parts.items))
    await parts.keep()
    if parts.file is not None:
        await parts.file.seek(0)
    return FormData(parts.items)


async def _short_body(request: Request) -> str:
    """Read the whole body of a form without a file."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > FORM_BYTES:
            raise _unreadable("with a file it has to be of the type multipart/form-data.")
    return _decoded(body)


def _fields_of(body: str, most: int) -> Items:
    try:
        return list(parse_qsl(body, keep_blank_values=True, max_num_fields=most))
    except ValueError:
        raise _too_many(most) from None


def _too_many(most: int) -> Refusal:
    return _unreadable(f"it has more than {most} fields.")


def _decoded(text: bytes) -> str:
    try:
        return text.decode()
    except UnicodeError:
        raise _unreadable("it has to be in UTF-8.") from None


class _Parts:
    """The parts of a form as they come: fields, and one file, whose bytes wait until `keep`."""

    def __init__(self, max_fields: int) -> None:
        self.items: Items = []
        self.file: UploadFile | None = None
        self._max_fields, self._fields = max_fields, 0
        self._header, self._value, self._disposition = b"", b"", b""
        self._name, self._in_file = "", False
        self._text, self._waiting = b"", list[bytes]()

    def parser(self, boundary: str) -> MultipartParser:
        """A parser that gives what it reads to this object."""
        if not boundary:
            raise _unreadable("it has no boundary between its parts.")
        return MultipartParser(
            boundary,
            {
                "on_part_begin": self._begin,
                "on_header_field": self._take_header,
                "on_header_value": self._take_value,
                "on_header_end": self._end_header,
                "on_headers_finished": self._begin_content,
                "on_part_data": self._take_content,
                "on_part_end": self._end,
            },
        )

    async def keep(self) -> None:
        """Write what has come of the file into it."""
        if self.file is not None:
            await self.file.write(b"".join(self._waiting))
        self._waiting.clear()

    def _begin(self) -> None:
        self._disposition, self._text = b"", b""

    def _take_header(self, data: bytes, start: int, end: int) -> None:
        self._header = _appended(self._header, data[start:end])

    def _take_value(self, data: bytes, start: int, end: int) -> None:
        self._value = _appended(self._value, data[start:end])

    def _end_header(self) -> None:
        if self._header.lower() == b"content-disposition":
            self._disposition = self._value
        self._header, self._value = b"", b""

    def _begin_content(self) -> None:
        name, file_name = (_parameter(self._disposition, parameter) for parameter in ("name", "filename"))
        if name is None:
            raise _unreadable("a field has no name.")
        self._name, self._in_file = name, file_name is not None
        if file_name is None:
            self._fields += 1
            if self._fields > self._max_fields:
                raise _too_many(self._max_fields)
        elif self.file is not None:
            raise _unreadable("it has more than one file.")
        else:
            stored = SpooledTemporaryFile[bytes](max_size=IN_MEMORY)
            self.file = UploadFile(stored, size=0, filename=file_name)  # type: ignore[arg-type]

    def _take_content(self, data: bytes, start: int, end: int) -> None:
        if self._in_file:
            self._waiting.append(data[start:end])
        else:
            self._text = _appended(self._text, data[start:end])

    def _end(self) -> None:
        value = self.file if self._in_file else _decoded(self._text)
        assert value is not None
        self.items.append((self._name, value))


def _appended(text: bytes, more: bytes) -> bytes:
    if len(text) + len(more) > MAX_FIELD:
        raise _unreadable(f"a field has more than {MAX_FIELD:,} bytes.")
    return text + more


def _parameter(disposition: bytes, name: str) -> str | None:
    """A parameter of the header that describes a part; None if it is not there."""
    head = Message()
    head["content-disposition"] = _decoded(disposition)
    value = head.get_param(name, header="content-disposition")
    return value if isinstance(value, str) else None
