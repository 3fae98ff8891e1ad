"""Trials of engines that place workers for a command which waits for them.

Ray and Dask have these in common: what they do is told by an `Engine`.
"""

import contextlib
import dataclasses
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

from _trials import (
    FILE,
    Trials,
    at_work,
    compiling,
    fresh_cache,
    gone,
    kill,
    looked,
    parent,
)


@dataclasses.dataclass(frozen=True)
class Engine:
    """What `--cluster` calls it, and a cluster of two places on this machine."""

    name: str
    two_places: Callable[[], contextlib.AbstractContextManager[Any]]
    """While it lasts; yields the cluster."""
    address: Callable[[Any], str]
    """Of a cluster."""


def no_address(found: Trials, engine: Engine, row: dict[str, Any]) -> None:
    """The command of the docs: a cluster on this machine, which ends with it."""
    with submitted(found, engine, "plain") as (out, command):
        with found.watched(row, out):
            row["exit_code"] = command.wait(1200)
        found.finished(row, out)


def a_process_above_a_worker_is_killed(
    found: Trials, engine: Engine, row: dict[str, Any]
) -> None:
    """`kill -9` of the engine's own; its worker leaves, and is started again."""
    with placed(found, engine, "above") as (out, command, _):
        first, *_ = at_work(out, 2)
        kill([parent(first)])
        row["seconds_until_it_has_left"] = round(gone([first]), 1)
        row["exit_code"] = command.wait(1200)
        found.finished(row, out)


def a_worker_is_killed(found: Trials, engine: Engine, row: dict[str, Any]) -> None:
    """`kill -9` of a worker itself: its task has failed, the others take over."""
    with placed(found, engine, "worker") as (out, command, _):
        first, *_ = at_work(out, 2)
        kill([first])
        row["exit_code"] = command.wait(1200)
        found.finished(row, out)


def workers_end_with_an_error(
    found: Trials, engine: Engine, row: dict[str, Any]
) -> None:
    """At their first member; the command and `simbias status` say with which."""
    with found.failing(), submitted(found, engine, "error") as (out, command):
        row["exit_code"] = command.wait(1200)
    found.failed(row, out)


def the_command_is_killed(found: Trials, engine: Engine, row: dict[str, Any]) -> None:
    """`kill -9` of `simbias submit`: its workers save what they are at and leave."""
    with placed(found, engine, "parent") as (out, command, _):
        _left_at_work(found, row, out, command.kill)
        found.finished(row, out)


def the_command_is_killed_with_its_cluster(
    found: Trials, engine: Engine, row: dict[str, Any]
) -> None:
    """The same where the cluster is of the command, and ends with it."""
    with submitted(found, engine, "whole") as (out, command):
        _left_at_work(found, row, out, command.kill)
        found.finished(row, out)


def the_command_is_terminated(
    found: Trials, engine: Engine, row: dict[str, Any]
) -> None:
    """SIGTERM: the same, and the command says how to go on."""
    with placed(found, engine, "sigterm") as (out, command, _):
        _left_at_work(found, row, out, command.terminate)
        row["exit_code"] = command.wait(1200)
        found.finished(row, out)


def the_command_is_terminated_while_workers_compile(
    found: Trials, engine: Engine, row: dict[str, Any]
) -> None:
    """The same before there is a program to compute with."""
    before, found.environment = found.environment, fresh_cache(found)
    name = "JAX_COMPILATION_CACHE_DIR"
    os.environ[name] = found.environment[name]  # for what the cluster starts
    try:
        with placed(found, engine, "compiling") as (out, command, _):
            processes = compiling(out, 2)
            command.send_signal(signal.SIGTERM)
            found.left(row, out, processes)
            row["exit_code"] = command.wait(1200)
            os.environ[name], found.environment = before[name], before
            found.finished(row, out)
    finally:
        os.environ[name], found.environment = before[name], before


def _left_at_work(
    found: Trials, row: dict[str, Any], out: str, ends: Callable[[], None]
) -> None:
    """The command ends while two workers are at work, which then leave."""
    processes = at_work(out, 2)
    row["members_before"] = looked(out).done
    ends()
    found.left(row, out, processes)


@contextlib.contextmanager
def placed(
    found: Trials, engine: Engine, name: str
) -> Iterator[tuple[str, subprocess.Popen, Any]]:
    """A run with two workers on a cluster that is not theirs."""
    with (
        engine.two_places() as cluster,
        submitted(found, engine, name, "--address", engine.address(cluster)) as both,
    ):
        yield *both, cluster


@contextlib.contextmanager
def submitted(
    found: Trials, engine: Engine, name: str, *where: str
) -> Iterator[tuple[str, subprocess.Popen]]:
    """A run with two workers, and the command that waits for them."""
    out = found.prepared(str(found.folder / name))
    words = ["--cluster", engine.name, "--wait", "--workers", "2", "--cpus", "1"]
    command = found.simbias("submit", out, FILE, *words, *where)
    try:
        yield out, command
    finally:
        command.kill()
        command.wait()


COMMON = (
    a_process_above_a_worker_is_killed,
    a_worker_is_killed,
    workers_end_with_an_error,
    the_command_is_killed,
    the_command_is_terminated,
    the_command_is_terminated_while_workers_compile,
)
