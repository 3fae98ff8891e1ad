"""Pages for one reader on this machine, and for nobody else."""

import contextlib
import http.server
import json
import math
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from http import HTTPStatus
from typing import Any

# Of a path below the secret one: what is there, as HTML, or as data for JSON.
Answers = Mapping[str, Callable[[], str | dict[str, Any]]]
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
# A connection that says nothing for so long is closed.
_SECONDS = 30


class Server(http.server.ThreadingHTTPServer):
    """Listens on the loopback address from now on; `serve_forever` answers.

    Other users of the machine can reach that address: what is served lies below a name
    that only `url` tells.  A request must name this address as its host, or it comes
    from a page of another site whose name leads here (DNS rebinding).
    """

    daemon_threads = True
    block_on_close = False
    # Connections that wait until they are accepted: browsers open many at once.
    request_queue_size = 1024

    def __init__(self, answers: Answers, port: int = 0):
        """`port` 0 takes a free one.

        Raises:
            OSError: if the port is taken.
        """
        self.answers = answers
        self.secret = secrets.token_urlsafe(16)
        self._answering, self._asked = 0, -math.inf
        self._lock = threading.Lock()
        http.server.ThreadingHTTPServer.__init__(self, ("127.0.0.1", port), _Handler)

    @property
    def url(self) -> str:
        """Where a browser finds the page."""
        return f"http://127.0.0.1:{self.server_port}/{self.secret}/"

    @property
    def hosts(self) -> tuple[str, ...]:
        """What a request may call this server."""
        return tuple(
            f"{name}:{self.server_port}" for name in ("127.0.0.1", "localhost")
        )

    @contextlib.contextmanager
    def answering(self) -> Iterator[None]:
        """While a request is answered."""
        with self._lock:
            self._answering += 1
        try:
            yield
        finally:
            with self._lock:
                self._answering -= 1
                self._asked = time.monotonic()

    def is_asked(self, seconds: float) -> bool:
        """Whether a request is being answered, or was within so many seconds."""
        return self._answering > 0 or time.monotonic() - self._asked < seconds

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A reader who went away is no error."""


class _Handler(http.server.BaseHTTPRequestHandler):
    server: Server  # pyright: ignore[reportIncompatibleVariableOverride]
    timeout = _SECONDS
    protocol_version = "HTTP/1.1"

    def version_string(self) -> str:
        return "simbias"

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is said of requests."""
        del format, args

    def do_GET(self) -> None:
        self._answer()

    def do_HEAD(self) -> None:
        self._answer()

    def _answer(self) -> None:
        if self.headers.get_all("Host") not in [[host] for host in self.server.hosts]:
            return self._send(HTTPStatus.FORBIDDEN, "text/plain", "Not this host.\n")
        path = self.path.partition("?")[0]
        before = f"/{self.server.secret}/"
        make = self.server.answers.get(path.removeprefix(before))
        is_below = secrets.compare_digest(path[: len(before)].encode(), before.encode())
        if make is None or not is_below:
            return self._send(HTTPStatus.NOT_FOUND, "text/plain", "Nothing is here.\n")
        with self.server.answering():
            return self._give(make)

    def _give(self, make: Callable[[], str | dict[str, Any]]) -> None:
        try:
            made = make()
        except Exception as error:
            text = f"{type(error).__name__}: {error}\n"
            return self._send(HTTPStatus.INTERNAL_SERVER_ERROR, "text/plain", text)
        if isinstance(made, str):
            return self._send(HTTPStatus.OK, "text/html", made)
        return self._send(HTTPStatus.OK, "application/json", json.dumps(made))

    def _refuse(self) -> None:
        self.close_connection = True  # with what it sent along unread
        self._send(HTTPStatus.METHOD_NOT_ALLOWED, "text/plain", "Only GET and HEAD.\n")

    do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _refuse
    do_TRACE = do_CONNECT = _refuse

    def _send(self, status: HTTPStatus, kind: str, text: str) -> None:
        content = text.encode(errors="replace")
        self.send_response(status)
        headers = {"Content-Type": f"{kind}; charset=utf-8", **_HEADERS}
        if status == HTTPStatus.METHOD_NOT_ALLOWED:
            headers["Allow"] = "GET, HEAD"
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)
