"""An S3 server on this machine, and what stands before it and makes it fail."""

import contextlib
import http.client
import http.server
import os
import pathlib
import random
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from typing import Any

from _trials import free_port, until

MOTO = "moto[server]>=5.1"
BUCKET = "bucket"
_OF_ONE_HOP = ("connection", "transfer-encoding", "content-length", "keep-alive")


def command() -> list[str] | None:
    """What starts a server, in an environment of its own if it is not installed."""
    if (here := shutil.which("moto_server")) is not None:
        return [here]
    if shutil.which("uvx") is not None:
        return ["uvx", "--quiet", "--from", MOTO, "moto_server"]
    return None


def version_of(start: list[str]) -> str:
    """Of the server that a command starts."""
    *before, program = start
    beside = str(pathlib.Path(program).resolve().parent / "python")
    python = [*before, "python"] if before else [beside]
    words = [*python, "-c", "import moto; print(moto.__version__)"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.stdout.strip()


class Faulty:
    """A proxy on the loopback address; its fields may be changed while it serves."""

    def __init__(self, port: int):
        self.behind = port
        self.port = free_port()
        self.is_down = False
        self.failing = 0.0
        """How many of the requests are answered with 500, from 0 to 1."""
        self.delay = 0.0
        """Seconds that each answer takes longer."""
        self.ignores: tuple[str, ...] = ()
        """Headers that are not passed on."""
        self.counts: dict[str, int] = {}
        self._server: Any = None
        self._random = random.Random(0)

    def begin(self) -> None:
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                proxy.handle(self)

            do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = answer

            def log_message(self, *_: Any) -> None:
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, *_: Any) -> None:
                pass  # who asked has gone

        self._server = Server(("127.0.0.1", self.port), Handler)
        serve = self._server.serve_forever
        threading.Thread(target=serve, args=(0.1,), daemon=True).start()

    def end(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    @contextlib.contextmanager
    def down(self) -> Iterator[None]:
        """Connections are refused, and those that are open are cut."""
        self.is_down = True
        self.end()
        try:
            yield
        finally:
            self.is_down = False
            self.begin()

    @contextlib.contextmanager
    def as_it_was(self, row: dict[str, Any]) -> Iterator[None]:
        """A trial, whose requests are counted; afterwards nothing fails any more."""
        self.counts.clear()
        try:
            yield
        finally:
            row["requests"] = dict(self.counts)
            self.failing, self.delay, self.ignores = 0.0, 0.0, ()

    def handle(self, asked: Any) -> None:
        length = int(asked.headers.get("content-length") or 0)
        body = asked.rfile.read(length)
        if self.is_down:
            asked.close_connection = True
            asked.connection.close()
            return
        self._count(asked.command)
        time.sleep(self.delay)
        if self._random.random() < self.failing:
            self._count("answered with 500")
            self._send(asked, 500, [], b"<Error><Code>InternalError</Code></Error>")
            return
        headers = {
            k: v for k, v in asked.headers.items() if k.lower() not in self.ignores
        }
        with contextlib.closing(
            http.client.HTTPConnection("127.0.0.1", self.behind, timeout=60)
        ) as onward:
            onward.request(asked.command, asked.path, body, headers)
            found = onward.getresponse()
            self._send(asked, found.status, found.getheaders(), found.read())

    def _send(self, asked: Any, status: int, headers: Any, body: bytes) -> None:
        asked.send_response_only(status)
        length = str(len(body))
        for name, value in headers:
            if name.lower() == "content-length" and asked.command == "HEAD":
                length = value  # of what is there
            elif name.lower() not in _OF_ONE_HOP:
                asked.send_header(name, value)
        asked.send_header("Content-Length", length)
        asked.end_headers()
        if asked.command != "HEAD":
            asked.wfile.write(body)

    def _count(self, what: str) -> None:
        self.counts[what] = self.counts.get(what, 0) + 1


@contextlib.contextmanager
def served(folder: pathlib.Path) -> Iterator[tuple[Faulty, dict[str, str]]]:
    """A server with an empty bucket, and the variables by which it is found."""
    start, port = command(), free_port()
    assert start is not None
    log = (folder / "server.log").open("wb")
    server = subprocess.Popen(
        [*start, "-H", "127.0.0.1", "-p", str(port)],
        stdout=log,
        stderr=log,
        start_new_session=True,
    )
    proxy = Faulty(port)
    try:
        until(lambda: _answers(port), 300, "the server answers")
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port)) as ask:
            ask.request("PUT", f"/{BUCKET}")
            if ask.getresponse().status != 200:
                raise RuntimeError("no bucket was made")
        proxy.begin()
        yield (
            proxy,
            {
                "AWS_ENDPOINT_URL": f"http://127.0.0.1:{proxy.port}",
                "AWS_ALLOW_HTTP": "true",
                "AWS_ACCESS_KEY_ID": "nobody",
                "AWS_SECRET_ACCESS_KEY": "nothing",
                "AWS_REGION": "us-east-1",
            },
        )
    finally:
        if not proxy.is_down:
            proxy.end()
        os.killpg(server.pid, 15)
        server.wait()


def _answers(port: int) -> bool:
    try:
        with contextlib.closing(
            http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        ) as ask:
            ask.request("GET", "/moto-api/")
            return ask.getresponse().status == 200
    except OSError:
        return False
