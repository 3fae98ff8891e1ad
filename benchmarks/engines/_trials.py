"""What every trial of an engine needs: a run, what it should be, and how it went."""

import argparse
import contextlib
import dataclasses
import datetime
import importlib.metadata
import io
import json
import os
import pathlib
import platform
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

from simbias import cli
from simbias.ensemble.configuration import provenance
from simbias.store.address import place_at
from simbias.store.layout import open_store
from simbias.store.progress import Progress, progress_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results"
FILE = str(pathlib.Path(__file__).with_name("paced.py"))
# Members, and seconds that a worker sleeps after each: half a minute for four workers.
SEEDS, PACE = 96, 1.5
# What `simbias status` says that is of one run, and not of what it holds.
_OF_ONE = ("run", "errors")
SIMBIAS = [sys.executable, "-m", "simbias"]


@dataclasses.dataclass
class Trials:
    """Trials in a folder of their own; what each one showed, in order."""

    folder: pathlib.Path
    seeds: int
    environment: dict[str, str]
    rows: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    earlier: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    """Trials of another day, of which those that are run again are replaced."""
    about: dict[str, Any] = dataclasses.field(default_factory=dict)
    file: pathlib.Path | None = None

    def document(self) -> str:
        """What was tried, and on what."""
        new = {row["trial"]: row for row in self.rows}
        kept = [new.pop(row["trial"], row) for row in self.earlier]
        document = {**self.about, "trials": [*kept, *new.values()]}
        return json.dumps(document, indent=1) + "\n"

    def simbias(self, *words: str, **options: Any) -> subprocess.Popen:
        """The command line, in the background."""
        return subprocess.Popen(
            [*SIMBIAS, *words], env=self.environment, cwd=self.folder, **options
        )

    def prepared(self, out: str, seeds: int | None = None) -> str:
        """A run in which nobody has started."""
        words = ["run", FILE, "--seeds", str(seeds or self.seeds)]
        said_here(*words, "--workers", "0", "--out", out)
        return out

    def in_one_process(self, seeds: int | None = None) -> dict[str, bytes]:
        """What the run holds if one process does all of it in a folder."""
        out = self.folder / f"one-{seeds or self.seeds}"
        if not out.exists():
            self.prepared(str(out), seeds)
            self.alone(str(out))
        return contents(f"{out}/run.zarr")

    def alone(self, out: str) -> None:
        """What is left of a run, by one process that does not sleep."""
        swift = {**self.environment, "SIMBIAS_PACE": "0"}
        command = [*SIMBIAS, "worker", out, FILE, "--quiet"]
        subprocess.run(command, env=swift, check=True)

    @contextlib.contextmanager
    def trial(self, name: str) -> Iterator[dict[str, Any]]:
        """A row to fill; an error is noted in it, and the next trial begins."""
        now = datetime.datetime.now(datetime.UTC)
        row: dict[str, Any] = {"trial": name, "at": f"{now:%Y-%m-%d %H:%M} UTC"}
        row["commit"] = commit()
        row["seconds_per_member"] = float(self.environment["SIMBIAS_PACE"])
        row["load_before"] = round(os.getloadavg()[0], 1)
        began = time.monotonic()
        self.rows.append(row)
        print(f"== {name}", file=sys.stderr, flush=True)
        try:
            yield row
        except Exception as error:
            traceback.print_exc()
            row["error"] = f"{type(error).__name__}: {error}"
        row["seconds"] = round(time.monotonic() - began, 1)
        print(json.dumps(row), file=sys.stderr, flush=True)
        if self.file is not None:
            self.file.write_text(self.document())

    def all_of(
        self,
        acts: Sequence[Callable[..., None]],
        only: Sequence[str],
        place: Any,
        around: Callable[[dict[str, Any]], Any] = contextlib.nullcontext,
    ) -> None:
        """Every trial, or those of these names, each in a context that its row makes.

        Args:
            acts: of this, a place and the row.
            only: names, none for all.
            place: where they take place.
            around: the context.
        """
        for act in acts:
            name = act.__name__.replace("_", " ")
            if not only or name in only:
                with self.trial(name) as row, around(row):
                    act(self, place, row)

    def left(self, row: dict[str, Any], out: str, processes: Sequence[int]) -> None:
        """Wait until workers that were asked to leave have, with all that they had.

        Raises:
            RuntimeError: if members are missing, or a lease or heartbeat is left, or
                they have not left but finished the run.
        """
        before = row.setdefault("members_before", 0)
        row["seconds_until_they_have_left"] = round(gone(processes), 1)
        now = looked(out)
        row["members_saved"] = now.done
        row["workers_that_gave_nothing_back"] = len(now.workers) + now.blocks_claimed
        if now.done < before or row["workers_that_gave_nothing_back"]:
            raise RuntimeError("they did not leave as they should")
        if now.is_finished:
            raise RuntimeError("they went on until the run was finished")

    def finished(self, row: dict[str, Any], out: str, seeds: int | None = None) -> None:
        """Note whether a run is, by those who were at it, and what it holds."""
        now = looked(out)
        row["finished_by_workers"] = now.is_finished
        if not now.is_finished:
            row["members_left_to_another_worker"] = now.members - now.done
            self.alone(out)
        row["members"] = looked(out).done
        row["errors_in_status"] = [one.said for one in now.errors]
        mine, whole = contents(f"{out}/run.zarr"), self.in_one_process(seeds)
        row["bytes_equal"] = mine == whole
        one = str(self.folder / f"one-{seeds or self.seeds}")
        row["status_equal"] = self.status(out) == self.status(one)

    def failed(self, row: dict[str, Any], out: str) -> None:
        """The run of workers that could not work: `status` says why, no more is lost.

        Raises:
            RuntimeError: if it does not say so.
        """
        row["members_before"] = looked(out).done
        self.finished(row, out)
        if not any("no-number" in said for said in row["errors_in_status"]):
            raise RuntimeError("`simbias status` does not show the error")

    @contextlib.contextmanager
    def failing(self) -> Iterator[None]:
        """Workers that are started meanwhile fail at their first member."""
        before = self.environment
        self.environment = {**before, "SIMBIAS_PACE": "no-number"}
        try:
            yield
        finally:
            self.environment = before

    def status(self, out: str) -> dict[str, Any]:
        """What `simbias status --json` says of a finished run, but for its history."""
        said = json.loads(said_here("status", out, "--json"))
        return {key: value for key, value in said.items() if key not in _OF_ONE}

    @contextlib.contextmanager
    def watched(self, row: dict[str, Any], out: str) -> Iterator[None]:
        """`simbias status --watch --json` beside a run, until it ends by itself.

        Raises:
            RuntimeError: if it saw no worker, or not how the run went on.
        """
        words = ["status", out, "--watch", "--json", "--every", "2"]
        watch = self.simbias(*words, stdout=subprocess.PIPE, text=True)
        try:
            yield
            said, _ = watch.communicate(timeout=120)
        finally:
            watch.kill()
        looks = [json.loads(line) for line in said.splitlines()]
        done = [look["done"] for look in looks]
        at_work = [sum(w["state"] == "at work" for w in k["workers"]) for k in looks]
        row["status_watched"] = {
            "looks": len(looks),
            "members_at_half": done[len(done) // 2],
            "workers_at_most": max(at_work),
            "rate_at_most": round(max(look["rate"] for look in looks), 2),
        }
        if watch.returncode or not looks[-1]["is_finished"]:
            raise RuntimeError("it ended before the run")
        if not max(at_work) or not 0 < sum(done) < len(done) * done[-1]:
            raise RuntimeError(f"it did not see a run at work: {done}, {at_work}")


@contextlib.contextmanager
def trials(
    description: str | None, result: str, versions: Mapping[str, str]
) -> Iterator[tuple[Trials, list[str]]]:
    """Trials, and the names of those that are asked for; then the document."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", default="-")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--only", nargs="*", default=[], metavar="TRIAL")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix=f"simbias-{result}-") as folder:
        here = {"JAX_PLATFORMS": "cpu", "PYTHONPATH": str(ROOT)}
        here |= {"SIMBIAS_PACE": str(PACE)}
        cache = os.environ.get("JAX_COMPILATION_CACHE_DIR", f"{folder}/cache")
        here["JAX_COMPILATION_CACHE_DIR"] = cache
        found = Trials(pathlib.Path(folder), options.seeds, {**os.environ, **here})
        os.environ.update(here)
        what = f"{platform.system()} {platform.machine()}"
        found.about = {
            "machine": f"{what}, {os.cpu_count()} cores",
            "run": "benchmarks/engines/paced.py",
            "engine_versions": dict(versions),
            **provenance(),
        }
        found.file = None if options.json == "-" else pathlib.Path(options.json)
        if options.only and found.file and found.file.exists():
            found.earlier = json.loads(found.file.read_text())["trials"]
        found.in_one_process()  # which compiles for all that follow
        yield found, options.only
    if options.json == "-":
        print(found.document())
    if any(is_bad(row) for row in found.rows):
        sys.exit(1)


def is_bad(row: Mapping[str, Any]) -> bool:
    """Whether a trial did not show what it should."""
    equal = row.get("bytes_equal", True) and row.get("status_equal", True)
    return "error" in row or not equal


def skipped(result: str, why: str) -> NoReturn:
    """Say why nothing was tried, and end with the code that says so."""
    print(f"skipped: {result}: {why}", file=sys.stderr)
    sys.exit(77)


def said_here(*words: str) -> str:
    """What the command line prints, which need not be loaded once more.

    Raises:
        RuntimeError: if it does not end well.
    """
    found, beside = list(sys.path), str(pathlib.Path(__file__).parent)
    # The command line refuses a file that Python would find by its name.
    sys.path[:] = [folder for folder in found if folder != beside]
    try:
        with contextlib.redirect_stdout(io.StringIO()) as said:
            code = cli.exit_code(list(words))
    finally:
        sys.path[:] = found
    if code:
        raise RuntimeError(f"{words} ended with code {code}")
    return said.getvalue()


def commit() -> str:
    """Of the repository, with `-dirty` where files differ from it."""
    words = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def version(package: str) -> str:
    return importlib.metadata.version(package)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def listens(port: int) -> bool:
    """Whether somebody is at a port of this machine."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
        return True
    return False


def contents(address: str) -> dict[str, bytes]:
    """Every file of a store; of the root, all but what is its own in each run."""
    place = place_at(address)
    files = {name: (place / name).read() for name in place.files()}
    root = json.loads(files["zarr.json"])
    for name in ("run", "sha256"):
        del root["attributes"][name]
    return files | {"zarr.json": json.dumps(root).encode()}


def looked(out: str) -> Progress:
    """What `simbias status` shows."""
    return progress_of(open_store(f"{out}/run.zarr"))


def until(
    is_so: Callable[[], Any],
    seconds: float = 900.0,
    what: str = "",
    pause: float = 0.2,
) -> float:
    """Wait for something; how long it took."""
    began = time.monotonic()
    while not is_so():
        if time.monotonic() - began > seconds:
            raise TimeoutError(f"not so within {seconds:g} s: {what}")
        time.sleep(pause)
    return time.monotonic() - began


def at_work(out: str, count: int, least: int = 1) -> list[int]:
    """Processes of a run, once `count` of them have computed `least` members each.

    Heartbeats say so, which come every ten seconds.
    """

    def busy() -> list[int]:
        now = looked(out)
        if now.is_finished:
            raise RuntimeError("the run was finished too soon")
        alive = [one for one in now.workers if one.state == "at work"]
        return [one.process for one in alive if one.computed >= least]

    # To look costs as much as a worker's heartbeat, in a bucket at least.
    until(lambda: len(busy()) >= count, what=f"{count} workers at {out}", pause=2.0)
    return busy()


def compiling(out: str, count: int) -> list[int]:
    """Processes of a run, once there are `count` of them and one compiles."""

    def is_so() -> bool:
        workers = looked(out).workers
        return len(workers) >= count and any(one.compiling for one in workers)

    until(is_so, 300, "compiling", pause=1.0)
    return [one.process for one in looked(out).workers]


def is_running(process: int) -> bool:
    """Whether a process is there and has not ended."""
    try:
        stat = pathlib.Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def gone(processes: Sequence[int], seconds: float = 120.0) -> float:
    """Seconds until all of these processes have ended."""
    return until(lambda: not any(map(is_running, processes)), seconds, "they end")


def descendants(process: int) -> list[int]:
    """A process and all below it, by what the system says of their parents."""
    parents = {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = path.read_text().rpartition(")")[2].split()
            parents[int(path.parent.name)] = int(fields[1])
    found = [process]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found


def parent(process: int) -> int:
    """The process above one; 0 if there is none."""
    try:
        stat = pathlib.Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return 0
    return int(stat.rpartition(")")[2].split()[1])


def kill(processes: Sequence[int], number: int = signal.SIGKILL) -> None:
    """Send a signal to processes that may have gone."""
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, number)


def of_docs(title: str, language: str = "") -> str:
    """The first block of a section of docs/cluster.md, or its first in a language."""
    text = (ROOT / "docs" / "cluster.md").read_text()
    section = re.split(rf"^## {re.escape(title)}$", text, flags=re.MULTILINE)[1]
    section = re.split(r"^## ", section, flags=re.MULTILINE)[0]
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
    return next(body for kind, body in blocks if kind == language or not language)


def fresh_cache(trials: Trials) -> dict[str, str]:
    """An environment in which every program has to be compiled."""
    folder = trials.folder / "empty"
    shutil.rmtree(folder, ignore_errors=True)
    return {**trials.environment, "JAX_COMPILATION_CACHE_DIR": str(folder)}
