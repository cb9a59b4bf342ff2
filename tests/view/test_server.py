"""Who may read the page: requests of this machine with the token."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from vcrgen.scorer.options import ScoreOptions
from vcrgen.view.server import view_app
from vcrgen.view.view_data import ViewData

TOKEN, PORT = "aT0ken", 4321


@pytest.fixture(scope="module")
def data(dataset: Path) -> ViewData:
    data = ViewData(dataset, [], ScoreOptions())
    data.score()
    return data


def ask(
    data: ViewData, path: str, *hosts: str, query: str = "", method: str = "GET"
) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of the answer to a request."""
    sent: list[Any] = []
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": [(b"host", host.encode()) for host in hosts],
        "scheme": "http",
        "server": ("127.0.0.1", PORT),
        "client": ("127.0.0.1", 5),
    }

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(view_app(data, TOKEN, PORT)(scope, receive, send))
    headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], headers, b"".join(message.get("body", b"") for message in sent)


OWN = f"127.0.0.1:{PORT}"


@pytest.mark.parametrize(
    ("path", "hosts", "status"),
    [
        (f"/{TOKEN}/", [OWN], 200),
        (f"/{TOKEN}/", [f"LOCALHOST:{PORT}"], 200),
        (f"/{TOKEN}/items.json", [OWN], 200),
        (f"/{TOKEN}/", [], 403),
        (f"/{TOKEN}/", ["evil.example"], 403),  # whose name leads to 127.0.0.1
        (f"/{TOKEN}/", [f"evil.example:{PORT}"], 403),
        (f"/{TOKEN}/", ["127.0.0.1"], 403),
        (f"/{TOKEN}/", [OWN, "evil.example"], 403),
        ("/", [OWN], 404),
        ("/items.json", [OWN], 404),
        ("/other/items.json", [OWN], 404),
        (f"//{TOKEN}/items.json", [OWN], 404),
        (f"/{TOKEN}é/", [OWN], 404),
        (f"/{TOKEN}/../../etc/passwd", [OWN], 404),
        (f"/{TOKEN}/docs", [OWN], 404),
    ],
)
def test_only_this_machine_with_the_token(data: ViewData, path: str, hosts: list[str], status: int) -> None:
    code, headers, body = ask(data, path, *hosts)
    assert code == status
    assert status == 200 or (b"vcr-en" not in body and TOKEN.encode() not in body)
    assert status == 200 or headers["content-type"] != "text/html"


def test_headers_of_every_answer(data: ViewData) -> None:
    for path in (f"/{TOKEN}/", f"/{TOKEN}/items.json", "/"):
        _, headers, _ = ask(data, path, OWN)
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; img-src data:; style-src 'sha256-")
        assert "script-src 'sha256-" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy
        assert (headers["referrer-policy"], headers["cache-control"]) == ("no-referrer", "no-store")
        assert headers["cross-origin-resource-policy"] == "same-origin"


def test_a_filter_that_cannot_be_used_is_one_sentence(data: ViewData) -> None:
    code, _, body = ask(data, f"/{TOKEN}/items.json", OWN, query="mode=soft")
    assert code == 400 and json.loads(body) == {"error": "The filter names the mode 'soft'; there are easy, hard."}
    assert ask(data, f"/{TOKEN}/items.json", OWN, method="POST")[0] == 405
