"""Forms that browsers, programs and strangers send."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request

from vcrgen.web.forms import form_texts, open_form
from vcrgen.web.limits import FORM_BYTES, MAX_FIELD
from vcrgen.web.responses import Refusal

MULTIPART = "multipart/form-data; boundary=x"


def part(name: str, content: str | bytes, file: str | None = None) -> bytes:
    head = f'--x\r\nContent-Disposition: form-data; name="{name}"' + (
        f'; filename="{file}"' if file is not None else ""
    )
    return f"{head}\r\n\r\n".encode() + (content.encode() if isinstance(content, str) else content) + b"\r\n"


def read(chunks: Sequence[bytes], kind: str = MULTIPART, *, refuse: bool = False) -> dict[str, Any]:
    """What of a form is read; of a file its name and content; ``asked`` is what was known when it was admitted."""
    left = list(chunks)
    asked: list[dict[str, Any]] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": left.pop(0) if left else b"", "more_body": bool(left)}

    async def admit(form: FormData) -> None:
        asked.append({name: text for name, text in form.multi_items() if isinstance(text, str)} | {"left": len(left)})
        if refuse:
            raise Refusal(401, "no")

    async def run() -> dict[str, Any]:
        scope = {"type": "http", "method": "POST", "headers": [(b"content-type", kind.encode())]}
        async with open_form(Request(scope, receive), fields=3, admit=admit) as form:
            found: dict[str, Any] = dict(form_texts(form, [name for name in form if isinstance(form[name], str)]))
            if isinstance(file := form.get("file"), UploadFile):
                found["file"] = (file.filename, await file.read(), file.size)
        return found

    found = asyncio.run(run())
    (found["asked"],) = asked
    return found


def test_a_form_in_pieces_of_any_size() -> None:
    body = part("a", "eins") + part("ä", "zwei\r\n--y") + part("file", b"\0\r\n--", 'é \\"x.csv') + b"--x--\r\n"
    for size in (1, 7, len(body)):
        found = read([body[at : at + size] for at in range(0, len(body), size)])
        del found["asked"]
        assert found == {"a": "eins", "ä": "zwei\r\n--y", "file": ('é "x.csv', b"\0\r\n--", 5)}
    assert read([b"a=eins&b=%C3%A4&c="], "application/x-www-form-urlencoded; charset=utf-8")["b"] == "ä"


def test_who_may_send_is_asked_before_a_large_file_has_come() -> None:
    chunks = [part("token", "t") + part("file", b"a" * FORM_BYTES, "f")[:-2], *[b"a" * 1000] * 9, b"\r\n--x--\r\n"]
    found = read(chunks)
    assert found["asked"] == {"token": "t", "left": 10} and found["file"][2] == FORM_BYTES + 9000
    with pytest.raises(Refusal, match="no"):
        read(chunks, refuse=True)


@pytest.mark.parametrize(
    ("body", "kind", "said"),
    [
        (part("a", "x" * (MAX_FIELD + 1)), MULTIPART, "more than 2,000 bytes"),
        (part("a" * (MAX_FIELD + 1), "x"), MULTIPART, "more than 2,000 bytes"),
        (b"--x\r\n" + b"X" * 5000, MULTIPART, "."),
        (b"".join(part(name, "") for name in "abcd"), MULTIPART, "more than 3 fields"),
        (part("a", "", "f") + part("b", "", "g"), MULTIPART, "more than one file"),
        (b"--x\r\nContent-Disposition: form-data\r\n\r\n", MULTIPART, "no name"),
        (b"--x\r\n\r\n", MULTIPART, "no name"),
        (part("a", b"\xff") + b"--x--\r\n", MULTIPART, "UTF-8"),
        (b"no form", MULTIPART, "no valid"),
        (part("a", ""), "multipart/form-data", "no boundary"),
        (part("a", ""), f"multipart/form-data; boundary={'x' * 1000}", "no valid"),
        (b"a=1&b=2&c=3&d=4", "application/x-www-form-urlencoded", "more than 3 fields"),
        (b"a=\xff", "", "UTF-8"),
        (b"a" * (FORM_BYTES + 1), "text/plain", "multipart/form-data"),
    ],
)
def test_what_is_no_form(body: bytes, kind: str, said: str) -> None:
    with pytest.raises(Refusal, match=r"^The form cannot be read: ") as refused:
        read([body], kind)
    assert refused.value.status == 400 and said in refused.value.text
