"""Fetching pictures: what is asked, and what is not."""

import http.server
import json
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from tests.bloom.conftest import png
from tests.bloom.test_importing import published
from vcrgen.bloom import fetch as fetching
from vcrgen.bloom.fetch import PictureCache, fetch, public_address
from vcrgen.bloom.importing import import_questions
from vcrgen.bloom.options import BloomImportOptions
from vcrgen.core.errors import ImageProblem


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("http://example.org/a.png", "not https"),
        ("ftp://example.org/a.png", "not https"),
        ("https://user:word@example.org/a.png", "names a port or a user"),
        ("https://example.org:8443/a.png", "names a port"),
        ("https://example.org/a b.png", "no address"),
        ("https://example.org/\u202e.png", "no address"),
        (f"https://example.org/{'a' * 2000}", "no address"),
        ("https:///a.png", "not https"),
        ("https://127.0.0.1/a.png", "private network"),
        ("https://localhost/a.png", "private network"),
        ("https://10.0.0.7/a.png", "private network"),
        ("https://169.254.169.254/latest/meta-data", "private network"),
        ("https://[::1]/a.png", "private network"),
        ("https://[::ffff:127.0.0.1]/a.png", "private network"),
        ("https://0/a.png", "private network"),
        ("https://2130706433/a.png", "private network"),
        ("https://[x", "cannot be fetched"),
    ],
)
def test_what_is_not_asked(address: str, problem: str) -> None:
    with pytest.raises(ImageProblem, match=problem):
        fetch(address)


def test_a_name_with_one_private_address_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def both(*_: object, **__: object) -> list[object]:
        return [(2, 1, 6, "", ("93.184.216.34", 443)), (2, 1, 6, "", ("192.168.1.1", 443))]

    monkeypatch.setattr("socket.getaddrinfo", both)
    with pytest.raises(ImageProblem, match="private network"):
        public_address("example.org")


class _Pictures(http.server.BaseHTTPRequestHandler):
    """Gives a picture, an endless one, and ways that lead elsewhere."""

    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        moved = {"/moved": "/picture", "/inside": "https://10.0.0.1/a", "/round": "/round", "/plain": "http://x.org/"}
        if self.path in moved:
            self.send_response(302)
            self.send_header("Location", moved[self.path])
            self.end_headers()
        elif self.path == "/gone":
            self.send_error(404)
        else:
            self.send_response(200)
            self.end_headers()
            if self.path == "/drip":
                for _ in range(600):  # a byte now and then
                    self.wfile.write(b"x")
                    time.sleep(0.1)
            self.wfile.write(png() if self.path == "/picture" else b"x" * 5_000)

    def log_message(self, *_: object) -> None: ...


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, Path]]:
    folder = tmp_path_factory.mktemp("tls")
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=pictures.test"]
    command += ["-addext", "subjectAltName=DNS:pictures.test", "-keyout", "key.pem", "-out", "cert.pem"]
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
    except OSError:
        pytest.skip("needs openssl to make a certificate")
    web = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Pictures)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    web.socket = context.wrap_socket(web.socket, server_side=True)
    threading.Thread(target=web.serve_forever, daemon=True).start()
    yield web.server_port, folder / "cert.pem"
    web.shutdown()
    web.server_close()


@pytest.fixture
def reachable(server: tuple[int, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """The server of this test stands for a public one called pictures.test."""
    port, certificate = server
    looked_up = public_address
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    monkeypatch.setattr(fetching, "PORT", port)
    named = lambda host: "127.0.0.1" if host.endswith(".test") else looked_up(host)  # noqa: E731
    monkeypatch.setattr(fetching, "public_address", named)


@pytest.mark.usefixtures("reachable")
def test_a_picture_is_fetched_also_where_it_has_moved() -> None:
    assert fetch("https://pictures.test/picture") == fetch("https://pictures.test/moved") == png()


@pytest.mark.usefixtures("reachable")
def test_an_address_is_asked_once(tmp_path: Path) -> None:
    fetched = PictureCache(tmp_path)
    asked = len(_Pictures.asked)
    assert fetched.get("https://pictures.test/picture") == fetched.get("https://pictures.test/picture") == png()
    for _ in range(2):
        with pytest.raises(ImageProblem, match="status 404"):
            fetched.get("https://pictures.test/gone")
    assert _Pictures.asked[asked:] == ["/picture", "/gone"]


@pytest.mark.usefixtures("reachable")
def test_an_import_fetches_where_it_is_told_to(tmp_path: Path) -> None:
    addresses = ["https://pictures.test/picture", "https://pictures.test/gone", "https://10.0.0.1/picture"]
    items = [published(number, source_image_file=address) for number, address in enumerate(addresses)]
    (tmp_path / "b.json").write_text(json.dumps(items))
    manifest = import_questions(tmp_path / "b.json", BloomImportOptions(fetch=True), tmp_path / "set")
    assert manifest.pairs == 1 and dict(manifest.rejected) == {"no_picture": 2}


@pytest.mark.usefixtures("reachable")
@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("inside", "private network"),
        ("plain", "not https"),
        ("round", "leads on too often"),
        ("gone", "status 404"),
    ],
)
def test_where_it_leads_is_looked_at_too(path: str, problem: str) -> None:
    with pytest.raises(ImageProblem, match=problem):
        fetch(f"https://pictures.test/{path}")


@pytest.mark.usefixtures("reachable")
def test_limits_of_size_and_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "SECONDS", 0.5)
    with pytest.raises(ImageProblem, match=r"takes longer|cannot be fetched"):
        fetch("https://pictures.test/drip")  # of which every byte comes soon, and the picture after a minute
    monkeypatch.setattr(fetching, "SECONDS", 30.0)
    monkeypatch.setattr(fetching, "MAX_BYTES", 4_999)
    with pytest.raises(ImageProblem, match="gives more than"):
        fetch("https://pictures.test/large")


@pytest.mark.usefixtures("reachable")
def test_a_certificate_of_another_name_is_refused() -> None:
    with pytest.raises(ImageProblem, match="cannot be fetched"):
        fetch("https://other.test/picture")
