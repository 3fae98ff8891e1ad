"""Command line: simbias list | run | figure | check.

The options of `run` are read off the experiment that is named: its grid, its flow.
"""

import dataclasses
import json
import math
import os
import pathlib
import sys
import typing
from typing import Annotated, Any, Literal

import jax
import matplotlib
import tyro
import xarray as xr
from tqdm import tqdm

from simbias import options
from simbias.configuration import configuration, provenance
from simbias.core import Claim, Experiment, Real, Status
from simbias.ensemble.grid import make_grid, make_parameters, suggestion
from simbias.registry import experiments, flows
from simbias.results import is_failed, is_finished, open_result
from simbias.simulate import simulate

Preset = Literal["smoke", "quick", "paper"]
PRESETS = typing.get_args(Preset)
BAD_INPUT, INTERRUPTED = 2, 130
NO_CACHE = "--no-compile-cache"


def main(arguments: list[str] | None = None) -> None:
    """Entry point; exit code 2 for bad input, 1 for a claim that fails."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    matplotlib.use("Agg")
    jax.config.update("jax_enable_x64", True)
    if NO_CACHE in arguments:
        arguments.remove(NO_CACHE)
    else:
        _cache_programs()
    commands = {"list": _list, "run": _run, "figure": _figure, "check": _check}
    try:
        name = arguments[0] if arguments else "--help"
        if name in ("-h", "--help"):
            print(_USAGE)
            return
        if name not in commands:
            raise ValueError(f"`{name}` is not a command.{suggestion(name, commands)}")
        sys.exit(commands[name](arguments[1:]))
    except ValueError as error:
        _say(f"simbias: error: {error}")
        sys.exit(BAD_INPUT)
    except OSError as error:
        _say(f"simbias: error: {error.strerror}: {error.filename}")
        sys.exit(BAD_INPUT)


_USAGE = """\
usage: simbias COMMAND …

  list                         the experiments and what each one shows
  run NAME [--preset …] …      simulate, draw the figure, check the claims
  figure DIR                   draw the figure of a finished run again
  check [NAME …]               run experiments and print the table of their claims

`simbias run NAME --help` lists every option of that experiment.

Compiled programs are kept in a folder of yours (JAX_COMPILATION_CACHE_DIR, or
XDG_CACHE_HOME/simbias, or ~/.cache/simbias); --no-compile-cache does without."""


def _cache_programs() -> None:
    if "JAX_COMPILATION_CACHE_DIR" in os.environ:
        return
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    jax.config.update("jax_compilation_cache_dir", str(pathlib.Path(base) / "simbias"))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.3)


def _list(arguments: list[str]) -> int:
    _no_more("list", arguments)
    for name, module in experiments().items():
        print(f"{name:16s} {module.__doc__.splitlines()[0]}")
    return 0


def _run(arguments: list[str]) -> int:
    name, rest = _named(arguments, "run")
    module = experiments()[name]
    preset, experiment, rest = _resolved(module, rest)
    make_grid(experiment)  # a wrong value in the file is named before tyro sees it
    parsed = tyro.cli(
        _options_class(experiment),
        args=rest,
        prog=f"simbias run {name}",
        description=module.__doc__,
    )
    overrides = _overrides(parsed, experiment)
    experiment = options.overridden(experiment, overrides)
    out = parsed.out or pathlib.Path("runs") / f"{name}-{preset}"
    _refuse_foreign(out)
    try:
        ds = simulate(
            experiment,
            store=out / "run.zarr",
            lanes=parsed.lanes,
            progress=True,
        )
    except KeyboardInterrupt:
        _say(
            f"\nStopped. What is finished is stored in {out}; "
            "the same command continues from there."
        )
        return INTERRUPTED
    document = {
        "preset": preset,
        "configuration": configuration(experiment),
        **provenance(),
    }
    _write_json(out / "config.json", document)
    claims = module.claims(ds)
    _write_json(out / "claims.json", _claims_document(name, preset, ds, claims))
    _draw(module, ds, out)
    _print_claims(name, ds, claims)
    print(f"\n{out / 'figure.png'}")
    return 0


def _figure(arguments: list[str]) -> int:
    if not arguments or arguments[0].startswith("-"):
        raise ValueError("`simbias figure` needs the folder of a run, e.g. runs/NAME.")
    _no_more("figure", arguments[1:])
    out = pathlib.Path(arguments[0])
    ds = open_result(out)
    name = ds.attrs["experiment"]
    if name not in experiments():
        raise ValueError(f"{out} holds `{name}`, which is not an experiment here.")
    _draw(experiments()[name], ds, out)
    print(out / "figure.png")
    return 0


@dataclasses.dataclass(frozen=True)
class CheckOptions:
    """Run experiments and print the table of their claims; exit 1 if one fails."""

    names: Annotated[tuple[str, ...], tyro.conf.Positional] = ()
    """Experiments; all of them if none is named."""
    preset: Preset = "quick"
    """How large a run."""
    json: str | None = None
    """Write the claims as JSON to this file, or to standard output if `-`."""
    out: pathlib.Path | None = None
    """Keep the runs in folders of this one."""


def _check(arguments: list[str]) -> int:
    parsed = tyro.cli(CheckOptions, args=arguments, prog="simbias check")
    known = experiments()
    for name in parsed.names:
        if name not in known:
            raise ValueError(f"`{name}` is not an experiment.{suggestion(name, known)}")
    documents = []
    for name in parsed.names or known:
        store = parsed.out and parsed.out / name / "run.zarr"
        experiment = known[name].experiment(parsed.preset)
        ds = simulate(experiment, store=store, progress=True)
        claims = known[name].claims(ds)
        documents.append(_claims_document(name, parsed.preset, ds, claims))
        if parsed.json != "-":
            _print_claims(name, ds, claims)
    if parsed.json == "-":
        print(json.dumps(documents, indent=1, allow_nan=False))
    elif parsed.json:
        _write_json(pathlib.Path(parsed.json), documents)
    failed = [c for d in documents for c in d["claims"] if c["verdict"] == "fails"]
    return 1 if failed else 0


def _named(arguments: list[str], command: str) -> tuple[str, list[str]]:
    known = experiments()
    if not arguments or arguments[0].startswith("-"):
        raise ValueError(
            f"`simbias {command}` needs the name of an experiment: {', '.join(known)}."
        )
    if arguments[0] not in known:
        raise ValueError(
            f"`{arguments[0]}` is not an experiment.{suggestion(arguments[0], known)}"
        )
    return arguments[0], arguments[1:]


def _resolved(module: Any, rest: list[str]) -> tuple[str, Experiment, list[str]]:
    """The preset and the file, which decide what the other options are."""
    preset, rest = _taken(rest, "--preset")
    config, rest = _taken(rest, "--config")
    table = options.read_toml(pathlib.Path(config)) if config else {}
    in_file = table.pop("preset", None)
    named = preset or in_file or "quick"
    for given in filter(None, (in_file, named)):
        if given not in PRESETS:
            raise ValueError(
                f"`preset` must be one of {', '.join(PRESETS)}, got {given!r}."
            )
    experiment = options.overridden(module.experiment(named), table)
    flow, rest = _taken(rest, "--flow.name")
    if flow:
        experiment = options.overridden(experiment, {"flow": {"name": flow}})
    return named, experiment, rest


def _taken(arguments: list[str], option: str) -> tuple[str | None, list[str]]:
    """The value of `--option VALUE` or `--option=VALUE`, and the other arguments."""
    for i, word in enumerate(arguments):
        if word == option:
            if i + 1 == len(arguments):
                raise ValueError(f"`{option}` needs a value.")
            return arguments[i + 1], arguments[:i] + arguments[i + 2 :]
        if word.startswith(option + "="):
            value = word.removeprefix(option + "=")
            return value, arguments[:i] + arguments[i + 1 :]
    return None, arguments


def _options_class(experiment: Experiment) -> type:
    """The options of `run`, with the experiment's own values as defaults."""
    cells = []
    for key, parameter in make_parameters(experiment.make).items():
        value = experiment.cell.get(key, parameter.default)
        value = value if isinstance(value, tuple) else (value,)
        annotation = float if parameter.annotation == Real else parameter.annotation
        kind = tuple[annotation, ...]  # pyright: ignore
        cells.append((key, kind, dataclasses.field(default=value)))
    fields = []
    for key, (kind, default) in options.flow_fields(type(experiment.flow)).items():
        value = getattr(experiment.flow, key, default)
        fields.append((key, kind, dataclasses.field(default=value)))
    cell = dataclasses.make_dataclass("Cell", cells, frozen=True)
    cell.__doc__ = "Several values make an axis of the grid."
    flow = dataclasses.make_dataclass("Flow", fields, frozen=True)
    flow.__doc__ = (
        f"Fields of {type(experiment.flow).__name__}; "
        f"--flow.name picks another flow ({', '.join(flows())})."
    )
    top = [
        ("cell", cell, dataclasses.field(default_factory=cell)),
        ("flow", flow, dataclasses.field(default_factory=flow)),
        ("seeds", int, dataclasses.field(default=experiment.seeds)),
        ("times", tuple[float, ...], dataclasses.field(default=experiment.times)),
        ("final_time", float | None, dataclasses.field(default=None)),
        ("dtype", Literal["float32", "float64"], experiment.dtype),
        ("root", int, dataclasses.field(default=experiment.root)),
        ("lanes", int | None, dataclasses.field(default=None)),
        ("out", pathlib.Path | None, dataclasses.field(default=None)),
    ]
    run = dataclasses.make_dataclass("Run", top, frozen=True)
    run.__doc__ = "Options."
    return run


def _overrides(parsed: Any, experiment: Experiment) -> dict[str, Any]:
    """What was asked for; one value for a fixed key stays a fixed key."""
    cell = {}
    for key, values in vars(parsed.cell).items():
        is_axis = isinstance(experiment.cell.get(key), tuple)
        cell[key] = list(values) if is_axis or len(values) != 1 else values[0]
    overrides = {
        "cell": cell,
        "flow": vars(parsed.flow),
        "seeds": parsed.seeds,
        "times": parsed.times,
        "dtype": parsed.dtype,
        "root": parsed.root,
    }
    if parsed.final_time is not None:
        overrides["final_time"] = parsed.final_time
    return overrides


def _refuse_foreign(out: pathlib.Path) -> None:
    if out.exists() and not out.is_dir():
        raise ValueError(f"`--out`: {out} is a file, not a folder.")
    if out.is_dir() and os.listdir(out) and not (out / "run.zarr").exists():
        raise ValueError(
            f"`--out`: {out} holds something that is not a run; nothing was written."
        )


def _draw(module: Any, ds: xr.Dataset, out: pathlib.Path) -> None:
    module.figure(ds).savefig(out / "figure.png", dpi=150)


def _claims_document(
    name: str, preset: str, ds: xr.Dataset, claims: list[Claim]
) -> dict[str, Any]:
    return {
        "experiment": name,
        "preset": preset,
        **_counts(ds),
        "claims": [
            {
                **{k: _json_ready(v) for k, v in dataclasses.asdict(claim).items()},
                "verdict": claim.verdict,
            }
            for claim in claims
        ],
    }


def _json_ready(value: Any) -> Any:
    """JSON knows neither NaN nor infinity: both become null."""
    is_number = isinstance(value, float)
    return None if is_number and not math.isfinite(value) else value


def _counts(ds: xr.Dataset) -> dict[str, int]:
    return {
        "members": int(ds["status"].size),
        "finished": int(is_finished(ds).sum()),
        "failed": int(is_failed(ds).sum()),
    }


def _print_claims(name: str, ds: xr.Dataset, claims: list[Claim]) -> None:
    counts = _counts(ds)
    failures = ", ".join(
        f"{int((ds['status'] == s).sum())} {s.name}"
        for s in Status
        if s.is_failure and bool((ds["status"] == s).any())
    )
    tqdm.write(
        f"\n{name}: {counts['finished']} of {counts['members']} members finished"
        + (f" (failed: {failures})" if failures else "")
    )
    for claim in claims:
        tqdm.write(
            f"  {claim.verdict:9s} {claim.statement}: {claim.observed:.6g} "
            f"(expected {claim.low:.6g} … {claim.high:.6g}; {claim.source})"
        )


def _write_json(path: pathlib.Path, document: Any) -> None:
    path.write_text(json.dumps(document, indent=1, allow_nan=False) + "\n")


def _no_more(command: str, arguments: list[str]) -> None:
    if arguments:
        raise ValueError(f"`simbias {command}` takes no `{arguments[0]}`.")


def _say(text: str) -> None:
    print(text, file=sys.stderr)
