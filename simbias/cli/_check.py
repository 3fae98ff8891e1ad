"""`simbias figure` and `simbias check`."""

import dataclasses
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any

import jax
import tyro
import xarray as xr

from simbias.cli._options import Folder, Preset
from simbias.cli._run import found_run
from simbias.cli._shown import (
    claims_document,
    print_claims,
    write_figures,
    write_json,
)
from simbias.ensemble.grid import suggestion
from simbias.errors import BadInput
from simbias.registry import experiments
from simbias.results import is_finished, open_result
from simbias.shown import judge
from simbias.simulate import simulate
from simbias.store.address import place_at
from simbias.store.place import AbstractPlace


@dataclasses.dataclass(frozen=True)
class FigureOptions:
    """Draw the figure of a run again, from what is stored: DIR/figure.png."""

    folder: Folder
    """The folder of the run, or its URL."""


def figure(arguments: list[str]) -> int:
    """Draw the figure of a run again, from what is stored."""
    parsed = tyro.cli(FigureOptions, args=arguments, prog="simbias figure")
    out, store = found_run(parsed.folder)
    ds = open_result(str(store.place))
    if not is_finished(ds).any():
        raise BadInput(
            f"{out}: no member has finished yet, so that there is nothing to draw. "
            f"Try: simbias resume {out}"
        )
    name = ds.attrs["experiment"]
    if name not in experiments():
        raise BadInput(f"{out} holds `{name}`, which is not an experiment here.")
    for file in write_figures(experiments()[name], ds, out):
        print(out / file)
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
    out: str | None = None
    """Keep the runs in folders of this one, or of this URL."""


def _writable(file: AbstractPlace) -> AbstractPlace:
    """The file, before anything runs, by writing beside it what is then removed."""
    if file.files() or (file.exists() and file.is_free()):
        raise BadInput(f"`--json`: {file} is a folder. Example: claims.json.")
    beside = file.parent / f".{file.name}.tried"
    beside.write(b"")
    beside.delete()
    return file


def check(arguments: list[str]) -> int:
    """Run experiments and print their claims."""
    parsed = tyro.cli(CheckOptions, args=arguments, prog="simbias check")
    known = experiments()
    for name in parsed.names:
        if name not in known:
            raise BadInput(f"`{name}` is not an experiment.{suggestion(name, known)}")
    runs = None if parsed.out is None else place_at(parsed.out)
    file = None if parsed.json in (None, "-") else _writable(place_at(parsed.json))

    def judged(name: str, ds: xr.Dataset) -> dict[str, Any]:
        claims = judge(known[name], ds)
        if parsed.json != "-":
            print_claims(name, ds, claims)
        return claims_document(name, parsed.preset, ds, claims)

    # Claims take one core for a while, and the next experiment begins beside them.
    with ThreadPoolExecutor(1) as beside:
        judgements = []
        for name in parsed.names or known:
            store = None if runs is None else str(runs / name / "run.zarr")
            experiment = known[name].experiment(parsed.preset)
            ds = simulate(experiment, store=store, progress=True)
            judgements.append(beside.submit(judged, name, ds))
            jax.clear_caches()  # no experiment needs the programs of another
            for judgement in judgements:
                if judgement.done():
                    judgement.result()  # which raises now and not after the last run
        documents = [judgement.result() for judgement in judgements]
    if parsed.json == "-":
        print(json.dumps(documents, indent=1, allow_nan=False))
    elif file is not None:
        write_json(file, documents)
    failed = [c for d in documents for c in d["claims"] if c["verdict"] == "fails"]
    return 1 if failed else 0
