"""A store of objects that speaks S3, and what breaks off connections to it."""

import contextlib
import re
import socket
import threading
import urllib.request
from collections.abc import Iterator
from typing import Any


class Store:
    """An S3 server on loopback.

    Attributes:
        port: Of the server.
        settings: Environment variables by which any client finds it.
    """

    def __init__(self, port: int) -> None:
        self.port = port
        self.settings = {
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        }
        self._made = 0
        self._clients: dict[str, Any] = {}

    def client(self, service: str = "s3") -> Any:
        """A client of the store's own library, which the code under test does not use."""
        import boto3

        if service not in self._clients:
            secrets = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing"}
            session = boto3.Session(region_name="us-east-1", **secrets)
            self._clients[service] = session.client(service, endpoint_url=self.settings["AWS_ENDPOINT_URL"])
        return self._clients[service]

    def bucket(self) -> str:
        """The name of a new, empty bucket."""
        self._made += 1
        name = f"bucket-{self._made}"
        self.client().create_bucket(Bucket=name)
        return name

    def put(self, bucket: str, key: str, data: bytes) -> None:
        """Put an object."""
        self.client().put_object(Bucket=bucket, Key=key, Body=data)

    def objects(self, bucket: str, prefix: str = "") -> dict[str, bytes]:
        """Every object below a prefix, without it, and its bytes."""
        client = self.client()
        pages = client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
        keys = [entry["Key"] for page in pages for entry in page.get("Contents", [])]
        return {key[len(prefix) :]: client.get_object(Bucket=bucket, Key=key)["Body"].read() for key in keys}

    @contextlib.contextmanager
    def checking_rights(self) -> Iterator[None]:
        """Answer only those who may ask; without this, everybody may."""
        self._check_after("0")
        try:
            yield
        finally:
            self._check_after("inf")

    def _check_after(self, requests: str) -> None:
        url = f"http://127.0.0.1:{self.port}/moto-api/reset-auth"
        request = urllib.request.Request(url, requests.encode(), {"Content-Type": "text/plain"}, method="POST")
        with urllib.request.urlopen(request) as answer:
            assert answer.status == 200


class Proxy:
    """Passes connections on to a store, one request each, and breaks off those that it is told to.

    Attributes:
        url: What clients take for the store.
        broken: Requests that were broken off.
    """

    def __init__(self, store: Store) -> None:
        self._target = store.port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.broken: list[str] = []
        self._pattern = re.compile("(?!)")
        self._after = self._times = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def break_off(self, pattern: str, *, after: int = 0, times: int = 10**9) -> None:
        """Break off the next requests with such a method and path, so many bytes after they began."""
        self._pattern, self._after, self._times = re.compile(pattern), after, times

    def close(self) -> None:
        """Take no more connections."""
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._pass_on, args=(client,), daemon=True).start()

    def _pass_on(self, client: socket.socket) -> None:
        with contextlib.suppress(OSError), client, socket.create_connection(("127.0.0.1", self._target)) as server:
            data = client.recv(1 << 16)
            request = data.partition(b" HTTP/")[0].decode("latin-1")
            left = float("inf")
            if self._times > 0 and self._pattern.search(request):
                self._times -= 1
                self.broken.append(request)
                left = self._after
            threading.Thread(target=_copy_answer, args=(server, client), daemon=True).start()
            while data and left > 0:
                sent = int(min(len(data), left))
                server.sendall(data[:sent])
                left -= sent
                data = data[sent:] or client.recv(1 << 16)


def _copy_answer(server: socket.socket, client: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := server.recv(1 << 16):
            client.sendall(data)
        client.shutdown(socket.SHUT_RDWR)
