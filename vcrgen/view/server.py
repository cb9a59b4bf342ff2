"""The service of a view on this machine: a page, and the items that its script asks for.

Other users of the machine, and pages of other sites, reach the port too. So every address begins with a random token,
and a request has to name this machine as its host, which one that another site's name leads here does not (DNS
rebinding).
"""

import logging
import secrets
import signal
import socket
import threading
import webbrowser
from collections.abc import Callable
from typing import Any

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vcrgen.core.errors import VcrgenError
from vcrgen.view.page import view_templates, write_page
from vcrgen.view.query import Query
from vcrgen.view.view_data import ViewData
from vcrgen.web.app import new_app
from vcrgen.web.guards import HEADERS
from vcrgen.web.limits import HEADER_BYTES
from vcrgen.web.serve import listen

HOST = "127.0.0.1"
TOKEN_BYTES = 16
STOP_SECONDS = 1


def view_app(data: ViewData, token: str, port: int) -> ASGIApp:
    """The application that answers requests to a port whose paths begin with a token."""
    app = new_app()
    # One page at a time: a reader of Parquet and its images fill memory.
    lock = threading.Lock()

    @app.get("/")
    def page() -> HTMLResponse:
        return HTMLResponse(write_page(data.facts(), served=True))

    @app.get("/items.json")
    def items(request: Request) -> JSONResponse:
        with lock:
            return JSONResponse(data.page(Query.parse(request.url.query)))

    @app.get("/scoring.json")
    def scoring() -> JSONResponse:
        return JSONResponse(data.scoring())

    @app.get("/about.json")
    def about() -> JSONResponse:
        return JSONResponse(data.about())

    def refuse(_: Request, problem: Exception) -> JSONResponse:
        return JSONResponse({"error": str(problem)}, status_code=400)

    app.add_exception_handler(VcrgenError, refuse)
    return _Guard(app, token, {f"{name}:{port}".encode() for name in (HOST, "localhost")})


class _Guard:
    """Refuses requests to another host or without the token, which it takes off; adds headers to every answer."""

    def __init__(self, app: FastAPI, token: str, hosts: set[bytes]) -> None:
        self._app, self._token, self._hosts = app, token, hosts
        headers = HEADERS | {"content-security-policy": view_templates(served=True).policy(header=True)}
        headers |= {"cache-control": "no-store", "referrer-policy": "no-referrer"}
        self._headers = [(name.encode(), value.encode()) for name, value in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *self._headers]
            await send(message)

        if scope["type"] != "http":
            return
        hosts = [value for name, value in scope["headers"] if name == b"host"]
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            await PlainTextResponse("This page is only for this machine.", 403)(scope, receive, sending)
            return
        given = scope["path"].split("/")[1] if scope["path"].count("/") > 1 else ""
        if not secrets.compare_digest(given.encode(), self._token.encode()):
            await PlainTextResponse("The address lacks its token; copy it from the terminal.", 404)(
                scope, receive, sending
            )
            return
        inner = scope["path"].removeprefix(f"/{given}")
        await self._app({**scope, "path": inner, "raw_path": inner.encode()}, receive, sending)


class ViewServer:
    """A view behind a free port of this machine, with its address; outputs are scored while it answers."""

    def __init__(self, data: ViewData, fragment: str = "") -> None:
        self._data, self._query, self._stopped = data, Query.parse(fragment), threading.Event()
        self._failure: VcrgenError | None = None  # for which there is nothing to show
        self._socket: socket.socket = listen(HOST, 0)
        port = self._socket.getsockname()[1]
        token = secrets.token_urlsafe(TOKEN_BYTES)
        self.url = f"http://{HOST}:{port}/{token}/{f'#{fragment}' if fragment else ''}"
        options: dict[str, Any] = {"log_config": None, "access_log": False, "server_header": False, "lifespan": "off"}
        options |= {"h11_max_incomplete_event_size": HEADER_BYTES, "timeout_graceful_shutdown": STOP_SECONDS}
        self._server = uvicorn.Server(uvicorn.Config(view_app(data, token, port), http="h11", ws="none", **options))

    def run(self, *, open_browser: bool, tell: Callable[[str], None]) -> None:
        """Answer requests until asked to stop (SIGTERM or Ctrl-C).

        Args:
            tell: Is told why outputs cannot be scored, as soon as it is known.
        """
        for number in (signal.SIGTERM, signal.SIGINT):  # which uvicorn raises once more when it has stopped
            signal.signal(number, lambda *_: self.stop())
        if open_browser:
            threading.Thread(target=webbrowser.open, args=(self.url,), daemon=True).start()
        self.serve(tell)

    def serve(self, tell: Callable[[str], None] = lambda _: None) -> None:
        """Answer requests until `stop` is called; see `run`.

        Raises:
            VcrgenError: The dataset cannot be read, or the outputs or the filter do not fit it.
        """
        scoring = threading.Thread(target=self._score, args=(tell,), daemon=True)
        scoring.start()
        try:
            self._server.run(sockets=[self._socket])
        finally:
            self._socket.close()
            self._stopped.set()
            scoring.join(STOP_SECONDS)  # it ends after some outputs, if none is very long
        if self._failure:
            raise self._failure

    def _score(self, tell: Callable[[str], None]) -> None:
        try:
            self._data.read()
            self._data.complete(self._query)
        except VcrgenError as failure:
            self._failure = failure
            self.stop()
            return
        try:
            self._data.score(self._stopped.is_set)
        except VcrgenError as problem:
            tell(str(problem))

    def stop(self) -> None:
        """End `serve` soon."""
        self._stopped.set()
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # that an answer was cut short is no news now
        self._server.should_exit = True
