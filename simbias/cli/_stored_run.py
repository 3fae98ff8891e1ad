"""A run in one place, from wherever it is to its claims; for `run` and `resume`."""

import contextlib
import dataclasses
import functools
import shlex
from collections.abc import Sequence
from fnmatch import fnmatch
from typing import Any

import numpy as np
import xarray as xr

from simbias.cli import _output as output
from simbias.cli._exit_status import resumable
from simbias.cli._failures import Failures
from simbias.cli._figures_and_claims import (
    claims_document,
    print_claims,
    write_figures,
    write_json,
)
from simbias.cli._live import live
from simbias.cli._phenomenon import CHANGED
from simbias.cli._place import made_ready
from simbias.cli._pool import worker_command
from simbias.cli._progress import ProgressReporter
from simbias.cli._recipe import Recipe, plan_of
from simbias.cli._report import origin_of, write_report
from simbias.cli._source import Source
from simbias.cli._terminal import put, say
from simbias.core import Claim, Experiment
from simbias.ensemble.configuration import provenance
from simbias.ensemble.memory import describe
from simbias.ensemble.plan import Plan
from simbias.errors import BadInput
from simbias.results import attributes, to_xarray
from simbias.store.layout import Store, open_store
from simbias.store.place import AbstractPlace
from simbias.store.progress import finished_so_far
from simbias.store.source import check_text, is_same_file
from simbias.store.time_taken import Stopwatch
from simbias.store.work import complete, prepare, work
from simbias.validation.steps import warn_of_result
from simbias.verbs.decide import Decided, decide
from simbias.verbs.phenomenon import check as check_claims
from simbias.workers.local_workers import LocalWorkers
from simbias.workers.wait import wait


@dataclasses.dataclass(frozen=True)
class Request:
    """A run in a place, and what of it is asked for.

    `redraws` lets a file of yours have another text once nothing is left to compute;
    `data` is where the file of data lies now, if not where the run says.
    """

    source: Source
    recipe: Recipe
    out: AbstractPlace
    lanes: int | None
    workers: int | None
    formats: tuple[str, ...]
    is_live: bool
    redraws: bool = False
    data: str | None = None


def complete_run(request: Request) -> int:
    """A run from wherever it is to its claims.

    Raises:
        ValueError: for a number of workers that is none, a place that holds something
            else, or a run that differs.
    """
    source, recipe, out = request.source, request.recipe, request.out
    workers, lanes = request.workers, request.lanes
    if workers is not None and workers < 0:
        raise BadInput(f"`workers` must be 0 or more, got {workers}. Example: 2.")
    if workers == 0 and request.is_live:
        raise BadInput(
            "`--live` shows a run that is being computed, but with `--workers 0` this "
            f"command computes nothing. Instead, use: simbias watch {out}"
        )
    plan = plan_of(source, recipe, lanes, holds_result=workers != 0)
    described = attributes(plan, recipe)
    denied = made_ready(out)
    store = prepare(out / "run.zarr", plan, described)
    is_of_this_text = is_same_file(store.attributes["recipe"], recipe)
    if not request.redraws:
        check_text(store.attributes["recipe"], recipe)
    if denied is None:
        _write_configuration(out, store, recipe, described["configuration"])
    if workers == 0:
        say(
            f"{out} is ready. Start any number of workers with: "
            f"{source.command('worker', out)}\n"
            f"When they are done: {source.command('resume', out)}"
        )
        return 0
    command = source.command("resume", out)
    command += f" --workers {workers}" if workers else ""
    command += f" --data {shlex.quote(request.data)}" if request.data else ""
    with resumable(out, command) as end, contextlib.ExitStack() as beside:
        table = complete(store)
        if request.is_live and table is None:
            beside.enter_context(live((str(out), *source.words)))
        while table is None:
            check_text(store.attributes["recipe"], recipe)
            if denied is not None:
                raise BadInput(
                    f"cannot write to {out}: {denied}. The run in it is not finished. "
                    "Copy it to a folder that you can write to, and resume it there."
                )
            _compute(request, plan, store)
            table = complete(store)
        if not is_of_this_text:
            say(CHANGED.format(file=recipe["file"]["name"]))
        ds = to_xarray(table, described)
        warn_of_result(plan.experiment.flow, ds)
        _show(request, plan.experiment, ds, denied, store)
    return end.code


def decide_run(request: Request, arguments: list[str], budget: float) -> int:
    """A run with as many seeds as its claims take, to its claims."""
    source, recipe, out = request.source, request.recipe, request.out
    experiment = plan_of(source, recipe, request.lanes, holds_result=True).experiment
    if (denied := made_ready(out)) is not None:
        raise BadInput(f"cannot write to {out}: {denied}. Choose another --out.")
    claims = functools.partial(check_claims, source.module)
    command = f"simbias run {shlex.join(arguments)}"
    known: dict[str, Any] = {"budget": budget, "recipe": recipe, "progress": True}
    with resumable(out, command) as end:
        ds, decided = decide(experiment, claims, out / "run.zarr", **known)
        store = open_store(out / "run.zarr")
        configuration = store.attributes["configuration"]
        _write_configuration(out, store, recipe, configuration)
        warn_of_result(experiment.flow, ds)
        _show(request, experiment, ds, None, store, decided)
    return end.code


def _compute(request: Request, plan: Plan, store: Store) -> None:
    """What is missing, here or by workers."""
    out, workers, lanes = request.out, request.workers, request.lanes
    reporter = ProgressReporter(plan, out)
    done = finished_so_far(store, np.bincount(store.rows() // store.block))
    reporter.announce(describe(plan, lanes), done)
    if workers is None:
        with Stopwatch(store, reporter) as clock:
            work(plan, store, lanes=lanes, progress=True, report=clock)
    else:
        with LocalWorkers(workers) as pool:
            words = (str(out), *request.source.words)
            asked = worker_command(words, lanes, data=request.data, completes=False)
            pool.submit(asked)
            wait(pool, store, plan.experiment.name, report=reporter)
    reporter.learn(in_one=workers is None)


def _write_configuration(
    out: AbstractPlace, store: Store, recipe: Recipe, configuration: Any
) -> None:
    document = {"preset": recipe["preset"], "configuration": configuration}
    if file := (store.attributes["recipe"] or {}).get("file"):
        document["file"] = {key: file[key] for key in ("name", "sha256")}
    write_json(out / "config.json", {**document, **provenance()})


def _show(
    request: Request,
    experiment: Experiment,
    ds: xr.Dataset,
    denied: str | None,
    store: Store,
    decided: Sequence[Decided] = (),
) -> None:
    """Write and print what a finished run shows.

    Neither `claims` nor `figure` that fails keeps the other from being shown.
    """
    module, out, name = request.source.module, request.out, request.source.name
    check, files, claims = store.check, [], decided
    failures = Failures(request.source, out)
    if not claims:
        with failures.of("claims"):
            claims = check_claims(module, ds)
    document = claims_document(name, request.recipe["preset"], ds, claims)
    if denied is None:
        check()
        if "claims" not in failures.errors:
            write_json(out / "claims.json", document)
            _tell(name, ds, claims, document)
        drawn = None
        with failures.of("figure"):
            drawn = write_figures(module, ds, out, request.formats, check)
        plain = [one.claim if isinstance(one, Decided) else one for one in claims]
        asked = (plain, drawn, origin_of(request.recipe), store)
        files = [*(drawn or []), *write_report(module, experiment, ds, out, *asked)]
    else:
        say(f"Nothing was written to {out}: {denied}.")
        if "claims" not in failures.errors:
            _tell(name, ds, claims, document)
        shown = ("figure*.*", "report.html")
        files = [f for f in sorted(out.files()) if any(fnmatch(f, p) for p in shown)]
    paths = [str(out / file) for file in files]
    if not output.is_lines():
        put("".join(f"\n{path}" for path in paths))
    failures.raise_first()
    if output.is_lines():
        output.emit("done", run=str(out), files=paths, exit_code=0)


def _tell(
    name: str,
    ds: xr.Dataset,
    claims: Sequence[Claim | Decided],
    document: dict[str, Any],
) -> None:
    if output.is_lines():
        output.emit("claims", **document)
    else:
        print_claims(name, ds, claims)
