"""`simbias report` and `simbias watch`: what is written, what is refused."""

import base64
import contextlib
import dataclasses
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.parse

import pytest
from own import TEXT
from tree import ROOT

from simbias import cli
from simbias.cli import _report
from simbias.cli._live import live
from simbias.cli._phenomenon import files_of
from simbias.cli.watch import Watched
from simbias.core import Status
from simbias.ensemble.bar import Pulse
from simbias.report.pace import Pace
from simbias.report.server import Server
from simbias.results import open_result
from simbias.store.address import place_at
from simbias.store.layout import open_store
from simbias.store.lease import Leases, heartbeats
from simbias.store.work import _told


def command(*arguments):
    try:
        cli.main([str(word) for word in arguments])
    except SystemExit as leaving:
        return leaving.code or 0
    return 0


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A finished run of a file, beside the file."""
    folder = tmp_path_factory.mktemp("stored")
    (folder / "mine.py").write_text(TEXT)
    assert command("run", folder / "mine.py", "--out", folder / "run") == 0
    return folder


@pytest.fixture
def folder(stored, tmp_path, monkeypatch):
    shutil.copytree(stored, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.process
def test_a_run_writes_its_page_and_says_where(folder, capsys):
    assert command("resume", "run", "mine.py") == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith("run/report.html")
    text = (folder / "run" / "report.html").read_text()
    assert "Mine: a walk downhill." in text
    assert "distance" in text
    assert "data:image/png;base64,iVBOR" in text
    assert "mine, preset quick" in text
    assert "by one process" in text


def test_no_run_is_lost_for_a_page(folder, capsys, monkeypatch):
    def broken(*_, **__):
        raise MemoryError("of the page")

    monkeypatch.setattr(_report, "report", broken)
    (folder / "run" / "report.html").unlink()
    assert command("resume", "run", "mine.py") == 0
    said = capsys.readouterr()
    assert "No report was written: MemoryError: of the page" in said.err
    assert said.out.splitlines()[-1].endswith("figure.png")
    assert not (folder / "run" / "report.html").exists()


def test_the_page_is_made_again_from_what_is_stored(folder, capsys):
    page = folder / "run" / "report.html"
    page.unlink()
    assert command("report", "run", "mine.py") == 0
    assert capsys.readouterr().out.split() == [str(page.relative_to(folder))]
    text = page.read_text()
    assert command("report", "run", "--trust-code", "--out", "other.html") == 0
    assert (folder / "other.html").read_text() == text


def test_a_film_that_lies_there_is_on_the_page(folder):
    gif = b"GIF89a" + bytes(8)
    (folder / "run" / "film.gif").write_bytes(gif)
    assert command("report", "run", "mine.py") == 0
    text = (folder / "run" / "report.html").read_text()
    assert f"data:image/gif;base64,{base64.b64encode(gif).decode()}" in text
    mp4 = bytes(3) + b"\x18ftypmp42" + bytes(9)
    (folder / "run" / "film.mp4").write_bytes(mp4)  # which can be stopped
    assert command("report", "run", "mine.py") == 0
    text = (folder / "run" / "report.html").read_text()
    assert f'src="data:video/mp4;base64,{base64.b64encode(mp4).decode()}"' in text
    assert "image/gif" not in text
    (folder / "run" / "film.mp4").unlink()
    (folder / "run" / "film.gif").write_bytes(b"<script>")
    assert command("report", "run", "mine.py") == 0
    assert "image/gif" not in (folder / "run" / "report.html").read_text()


def test_a_figure_of_a_part_of_a_run_says_so(folder, capsys, monkeypatch):
    def partly(place):
        ds = open_result(place)
        ds["status"][{"seed": 0}] = Status.RUNNING
        return ds

    monkeypatch.setattr("simbias.cli.figure.open_result", partly)
    assert command("figure", "run", "mine.py") == 0
    assert "networks have not finished" in capsys.readouterr().err


def test_two_runs_are_set_beside_each_other(folder, capsys):
    shutil.copytree("run", "second")
    assert command("report", "run", "second", "mine.py") == 0
    (said,) = capsys.readouterr().out.split()
    assert said == "run/report-second.html"
    assert "two runs" in (folder / said).read_text()


@pytest.mark.process
def test_runs_of_two_files_are_set_beside_each_other(folder, capsys):
    (folder / "other.py").write_text(TEXT.replace("Mine: a walk", "Other: a way"))
    assert command("run", "other.py", "--out", "second") == 0
    capsys.readouterr()
    page = folder / "run" / "report-second.html"
    texts = []
    # Each is told by the text that its run keeps, in whichever order they are named.
    for files in (["mine.py", "other.py"], ["other.py", "mine.py"], ["--trust-code"]):
        assert command("report", "run", "second", *files) == 0
        assert "has changed" not in capsys.readouterr().err
        texts.append(page.read_text())
        page.unlink()
    assert len({*texts}) == 1
    seen = texts[0]
    assert seen.index("Mine: a walk downhill.") < seen.index("Other: a way downhill.")


def test_a_file_is_of_the_run_that_is_of_a_file(folder, capsys):
    mine, known = (open_store("run/run.zarr"), open_store("run/run.zarr"))
    known = dataclasses.replace(known, attributes={"recipe": {"experiment": "cantor"}})
    assert files_of([mine, known], ["mine.py"]) == ["mine.py", None]
    assert files_of([known, known], ["mine.py"]) == ["mine.py", "mine.py"]
    assert files_of([known, mine], []) == [None, None]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run"], "simbias report run mine.py"),
        (["run", "mine.py", "other.py"], "at most one file for each"),
        (["run", "run", "run"], "takes one or two runs"),
        (["nothing"], "`nothing/run.zarr` is not a simbias run"),
        (["run", "mine.py", "--out", "run.txt"], "`--out` must end in .html or .htm"),
        (["run", "none.py"], "cannot read none.py"),
        (
            ["run", "mine.py", "--out", "no/x.html"],
            "the folder no does not exist",
        ),
    ],
)
def test_what_cannot_be_reported_is_named(folder, capsys, words, said):
    assert command("report", *words) == 2
    assert said in capsys.readouterr().err
    assert not (folder / "no").exists()


@pytest.mark.parametrize("words", [["report", "run", "mine.py"], ["animate", "run"]])
def test_a_folder_that_cannot_be_written_is_said_before_anything_is_computed(
    folder, capsys, monkeypatch, words
):
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert command(*words) == 2
    said = capsys.readouterr().err
    assert "cannot write to run: " in said
    assert "--out elsewhere/" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run"], "simbias watch run mine.py"),
        (["nothing"], "`nothing/run.zarr` is not a simbias run"),
        (["run", "mine.py", "--port", "70000"], "`--port` must be from 0 to 65535"),
    ],
)
def test_what_cannot_be_watched_is_named(folder, capsys, words, said):
    assert command("watch", *words) == 2
    assert said in capsys.readouterr().err


def test_a_port_that_is_taken_is_named(folder, capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert command("watch", "run", "mine.py", "--port", port) == 2
    assert f"`--port`: cannot listen on {port}: " in capsys.readouterr().err


@pytest.fixture
def server():
    def broken():
        raise OSError("no disk")

    answers = {"": lambda: "<p>a page</p>", "state": lambda: {"done": 3}}
    with Server(answers | {"broken": broken}) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def asked(server, method="GET", path=None, host=None, body=None):
    path = f"/{server.secret}/" if path is None else path
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)
    connection.putrequest(method, path, skip_host=True)
    for name in [host or f"127.0.0.1:{server.server_port}"] if host != "" else []:
        connection.putheader("Host", name)
    if body is not None:
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body)
    answer = connection.getresponse()
    content = answer.read().decode()
    connection.close()
    return answer, content


def test_the_server_gives_its_pages_and_lets_nobody_keep_them(server):
    answer, content = asked(server)
    assert (answer.status, content) == (200, "<p>a page</p>")
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "Access-Control-Allow-Origin" not in answer.headers
    answer, content = asked(server, path=f"/{server.secret}/state?now")
    assert json.loads(content) == {"done": 3}
    answer, content = asked(server, "HEAD")
    assert (answer.status, content) == (200, "")
    assert answer.headers["Content-Length"] == "13"


def test_the_server_listens_on_the_loopback_address_only(server):
    assert server.server_address[0] == "127.0.0.1"
    assert urllib.parse.urlsplit(server.url).hostname == "127.0.0.1"


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", ""]
)
def test_a_page_of_another_site_is_refused(server, host):
    answer, content = asked(server, host=host.format(port=server.server_port))
    assert answer.status in (400, 403)
    assert "a page" not in content


def test_two_hundred_connections_at_once_are_all_answered():
    """Those that find no room in the queue are tried again, seconds later."""
    with contextlib.ExitStack() as opened:
        server = opened.enter_context(Server({"state": lambda: {"done": 3}}))
        there = ("127.0.0.1", server.server_port)
        # All have their connection before the first is accepted.
        connections = [
            opened.enter_context(socket.create_connection(there, timeout=5))
            for _ in range(200)
        ]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        opened.callback(server.shutdown)
        for connection in connections:
            connection.sendall(
                f"GET /{server.secret}/state HTTP/1.1\r\n"
                f"Host: 127.0.0.1:{server.server_port}\r\n\r\n".encode()
            )
        said = [connection.makefile("rb").readline() for connection in connections]
    assert {line.split()[1] for line in said} == {b"200"}


def test_this_machine_has_two_names(server):
    assert asked(server, host=f"localhost:{server.server_port}")[0].status == 200


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/state",
        "/{secret}",
        "/{secret}/../state",
        "/{secret}/%2e%2e/state",
        "/{secret}//etc/passwd",
        "/{secret}/../../../../etc/passwd",
        "/{other}/state",
        "//127.0.0.1/{secret}/state",
        "http://127.0.0.1/{secret}/",
        "*",
        "/ß/",
    ],
)
def test_there_is_nothing_but_its_own_paths(server, path):
    path = path.format(secret=server.secret, other="x" * len(server.secret))
    path = path.encode().decode("latin-1")
    request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{server.server_port}\r\n"
    with socket.create_connection(("127.0.0.1", server.server_port), 30) as connection:
        connection.sendall(f"{request}Connection: close\r\n\r\n".encode("latin-1"))
        first = connection.makefile("rb").readline()
    assert first.split()[1] == b"404"


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_nothing_can_be_changed(server, method):
    answer, content = asked(server, method, body=b"x" * 100)
    assert answer.status == 405
    assert answer.headers["Allow"] == "GET, HEAD"
    assert "a page" not in content


def test_what_goes_wrong_is_told_and_the_server_goes_on(server):
    answer, content = asked(server, path=f"/{server.secret}/broken")
    assert (answer.status, content) == (500, "OSError: no disk\n")
    assert asked(server)[0].status == 200


@pytest.mark.process
def test_a_run_is_watched_until_it_is_deleted_or_replaced(folder):
    watched = Watched(open_store("run/run.zarr"), "mine.py", False)
    state = watched.state()
    assert state["isFinished"]
    assert (state["done"], state["members"], state["failed"]) == (6, 6, 0)
    assert '"isLive":false' in watched.page()
    assert watched.numbers()["axes"][0]["name"] == "slope"
    shutil.move("run", "away")
    assert "can no longer be read" in watched.state()["gone"]
    assert command("run", "mine.py", "--out", "run", "--seeds", "2") == 0
    assert "can no longer be read" in watched.state()["gone"]


@pytest.mark.process
def test_a_run_that_has_begun_has_a_page_without_claims(folder):
    assert command("run", "mine.py", "--out", "begun", "--workers", "0") == 0
    watched = Watched(open_store("begun/run.zarr"), "mine.py", False)
    page = watched.page()
    assert '"isLive":true' in page
    assert 'id="claims"' not in page
    before = watched.state()
    assert (before["done"], before["isFinished"]) == (0, False)
    assert command("resume", "begun", "mine.py") == 0
    after = watched.state()
    assert after["stamp"] != before["stamp"]
    assert after["isFinished"]
    assert 'id="claims"' in watched.page()


@pytest.mark.process
def test_ctrl_c_ends_watching_and_nothing_else(folder):
    line = [sys.executable, "-m", "simbias", "watch", "run", "mine.py"]
    paths = [str(ROOT), os.environ.get("PYTHONPATH")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(line, text=True, env=environment, **pipes) as process:
        url = process.stdout.readline().strip()
        parts = urllib.parse.urlsplit(url)
        connection = http.client.HTTPConnection(parts.netloc, timeout=60)
        connection.request("GET", f"{parts.path}state")
        assert json.loads(connection.getresponse().read())["done"] == 6
        before = {p: p.stat().st_mtime_ns for p in folder.rglob("*")}
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[1]
    assert process.returncode == 0
    assert "Stopped watching" in said
    assert before == {p: p.stat().st_mtime_ns for p in folder.rglob("*")}


@pytest.mark.process
def test_the_page_beside_a_run_ends_with_it(folder, capsys):
    assert command("run", "mine.py", "--out", "begun", "--workers", "0") == 0
    capsys.readouterr()
    with live(["begun", "mine.py"]):
        said, until = "", time.monotonic() + 120
        while "http" not in said:
            assert time.monotonic() < until, said
            time.sleep(0.1)
            said += capsys.readouterr().err
        parts = urllib.parse.urlsplit(said.rpartition(" ")[2].strip())
        connection = http.client.HTTPConnection(parts.netloc, timeout=60)
        connection.request("GET", f"{parts.path}state")
        assert json.loads(connection.getresponse().read())["done"] == 0
        connection.close()
    while time.monotonic() < until:
        try:
            socket.create_connection((parts.hostname, parts.port), 5).close()
        except OSError:
            return
        time.sleep(0.1)
    raise AssertionError("it still listens")


def test_no_page_is_beside_a_run_that_does_not_go_on(folder, capsys, monkeypatch):
    monkeypatch.setattr("simbias.cli._stored_run.live", None)
    assert command("run", "mine.py", "--out", "x", "--workers", "0", "--live") == 2
    assert "simbias watch x" in capsys.readouterr().err
    assert not (folder / "x").exists()
    assert command("resume", "run", "mine.py", "--live") == 0  # finished long ago


def test_who_looks_on_gets_the_finished_page_before_the_server_ends():
    with Server({"": lambda: "a page"}) as server:
        assert not server.is_asked(60.0)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        asked(server)
        assert server.is_asked(60.0)
        until = time.monotonic() + 60
        while server.is_asked(0.0):  # the answer is read before it is over
            assert time.monotonic() < until
            time.sleep(0.01)
        with server.answering():
            assert server.is_asked(0.0)
        server.shutdown()


def test_the_pace_is_what_was_seen(stored):
    ds = open_result(stored / "run").copy(deep=True)
    ds["status"][:] = Status.RUNNING
    pace = Pace()
    beats = [{"machine": "a", "process": 1, "count": 0}]
    assert pace.of(ds, beats, 100.0)["said"] == "0 of 6 networks are done."
    ds["status"][0] = [Status.REACHED_TIME, Status.NONFINITE, Status.RUNNING]
    beats[0] |= {"count": 1, "compiling": 3, "shapes": 18}
    seen = pace.of(ds, beats, 110.0)
    assert seen == {
        "members": 6,
        "done": 2,
        "failed": 1,
        "said": "2 of 6 networks are done, 1 of them failed; 12 per minute, "
        "about 20 seconds left; 1 process at work, compiling 3 of 18.",
    }
    ds["status"][:] = Status.REACHED_TIME
    assert pace.of(ds, [], 200.0)["said"] == "6 of 6 networks are done."
    ds["status"][1] = Status.RUNNING
    said = pace.of(ds, beats, 1e5)["said"]
    assert "0 processes at work" in said


def test_who_compiles_says_so_in_its_heartbeat(tmp_path):
    at = {"members": 9, "done": 0, "failed": 0, "begun": 3, "shapes": 18}
    at |= {"seconds": 1.0, "seconds_compiling": 1.0, "rate": None, "seconds_left": None}
    said = []
    with Leases(str(tmp_path)) as leases:
        for is_compiling in (True, False):
            _told(leases, said.append, Pulse(**at, is_compiling=is_compiling))
            leases._write_heartbeat()
            (beat,) = heartbeats(place_at(str(tmp_path)))
            assert beat["compiling"] == 3 * is_compiling
            assert beat["shapes"] == 18
    assert len(said) == 2
