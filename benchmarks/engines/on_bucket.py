"""Does a run in a bucket survive what happens to workers and to the server?

    python benchmarks/engines/on_bucket.py [--json FILE|-] [--only TRIAL …]

A server that speaks S3 on this machine (moto, in an environment that uvx makes), behind
a proxy that refuses, fails, delays and forgets.  Exit code 77 says that there is none.
"""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from typing import Any

from _s3 import BUCKET, Faulty, command, served, version_of
from _trials import (
    FILE,
    Trials,
    at_work,
    contents,
    kill,
    looked,
    skipped,
    trials,
    version,
)

from simbias.store.address import place_at


def main() -> None:
    if (start := command()) is None:
        skipped("bucket", "neither moto_server nor uvx is installed")
    versions = {"obstore": version("obstore"), "moto": version_of(start)}
    with (
        trials(__doc__, "bucket", versions) as (found, only),
        served(found.folder) as (proxy, variables),
    ):
        found.environment |= variables
        os.environ |= variables
        found.all_of(TRIALS, only, proxy, proxy.as_it_was)


def two_workers(found: Trials, proxy: Faulty, row: dict[str, Any]) -> None:
    """A run in the bucket, object by file."""
    del proxy
    out = prepared(found, "plain")
    with found.watched(row, out):
        row["exit_codes"] = [one.wait(1200) for one in started(found, out, 2)]
    row["objects"] = len(contents(f"{out}/run.zarr"))
    found.finished(row, out)


def a_worker_is_killed(found: Trials, proxy: Faulty, row: dict[str, Any]) -> None:
    """`kill -9` of one of three at work; what it held is taken over."""
    del proxy
    out = prepared(found, "killed")
    workers = started(found, out, 3)
    first, *_ = at_work(out, 3)
    row["blocks_claimed"] = looked(out).blocks_claimed
    kill([first])
    row["exit_codes"] = sorted(one.wait(1200) for one in workers)
    found.finished(row, out)


def two_are_terminated(found: Trials, proxy: Faulty, row: dict[str, Any]) -> None:
    """SIGTERM to all: saved, leases given back."""
    del proxy
    out = prepared(found, "sigterm")
    workers = started(found, out, 2)
    processes = at_work(out, 2)
    row["members_before"] = looked(out).done
    kill(processes, signal.SIGTERM)
    found.left(row, out, processes)
    row["exit_codes"] = [one.wait() for one in workers]
    found.finished(row, out)


def down_for_20_seconds(found: Trials, proxy: Faulty, row: dict[str, Any]) -> None:
    """Connections are refused while two workers compute."""
    out = prepared(found, "down")
    workers = started(found, out, 2)
    at_work(out, 2)
    with proxy.down():
        time.sleep(20)
    row["exit_codes"] = [one.wait(1200) for one in workers]
    found.finished(row, out)


def down_for_longer_than_it_is_waited_for(
    found: Trials, proxy: Faulty, row: dict[str, Any]
) -> None:
    """The workers end with an error after a minute; another one goes on later."""
    out = prepared(found, "gone")
    errors = (found.folder / "gone.log").open("w+")
    workers = started(found, out, 2, stderr=errors)
    at_work(out, 2)
    before = looked(out).done
    with proxy.down():
        began = time.monotonic()
        row["exit_codes"] = [one.wait(300) for one in workers]
        row["seconds_until_they_ended"] = round(time.monotonic() - began, 1)
    errors.seek(0)
    last = [line for line in errors.read().splitlines() if "simbias: error" in line]
    row["said"] = last[:1]
    if f"{BUCKET}" not in "".join(last):
        raise RuntimeError("the error does not name the place")
    row |= {"members_before": before, "members_stored": looked(out).done}
    found.finished(row, out)


def answers_500_and_slowly(found: Trials, proxy: Faulty, row: dict[str, Any]) -> None:
    """A fifth of all requests fail, and each takes 0.1 s longer, from the start."""
    proxy.failing, proxy.delay = 0.2, 0.1
    out = prepared(found, "errors")
    row["exit_codes"] = [one.wait(900) for one in started(found, out, 2)]
    row["failed_requests"] = proxy.counts.get("answered with 500", 0)
    proxy.failing, proxy.delay = 0.0, 0.0
    found.finished(row, out)


def a_put_if_nothing_is_there_is_ignored(
    found: Trials, proxy: Faulty, row: dict[str, Any]
) -> None:
    """`If-None-Match` is lost: a run cannot be made there, and nothing is left."""
    proxy.ignores = ("if-none-match",)
    url = f"s3://{BUCKET}/unconditional"
    words = ["run", FILE, "--workers", "0", "--out", url]
    done = found.simbias(*words, stderr=subprocess.PIPE, text=True)
    _, said = done.communicate(timeout=600)
    row |= {"exit_code": done.returncode, "said": said.strip().splitlines()[-1]}
    row["objects_left"] = len(place_at(url).files())
    if done.returncode != 2 or row["objects_left"] or "If-None-Match" not in said:
        raise RuntimeError("it was not refused")


def a_put_if_nothing_has_changed_is_ignored(
    found: Trials, proxy: Faulty, row: dict[str, Any]
) -> None:
    """`If-Match` is lost and a worker dies: two may take over one block."""
    proxy.ignores = ("if-match",)
    out = prepared(found, "unmatched")
    workers = started(found, out, 3)
    first, *_ = at_work(out, 3)
    kill([first])
    row["exit_codes"] = sorted(one.wait(1200) for one in workers)
    found.finished(row, out)


def prepared(found: Trials, name: str) -> str:
    return found.prepared(f"s3://{BUCKET}/{name}")


def started(
    found: Trials, out: str, count: int, **options: Any
) -> list[subprocess.Popen]:
    shares = [f"{i + 1}/{count}" for i in range(count)]
    words = ["worker", out, FILE, "--quiet", "--share"]
    return [found.simbias(*words, share, **options) for share in shares]


TRIALS: tuple[Callable[[Trials, Faulty, dict[str, Any]], None], ...] = (
    two_workers,
    a_worker_is_killed,
    two_are_terminated,
    down_for_20_seconds,
    down_for_longer_than_it_is_waited_for,
    a_put_if_nothing_is_there_is_ignored,
    answers_500_and_slowly,
    a_put_if_nothing_has_changed_is_ignored,
)


if __name__ == "__main__":
    main()
