"""`simbias figure` and `simbias check`."""

import dataclasses
import json
import pathlib
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any

import jax
import tyro
import xarray as xr

from simbias.cli._drawing import drawing
from simbias.cli._options import Folder, Format, Preset, experiment_of
from simbias.cli._place import found_run
from simbias.cli._shown import (
    claims_document,
    print_claims,
    tally_of,
    write_figures,
    write_json,
)
from simbias.cli._source import File, Source, source
from simbias.cli._terminal import say
from simbias.core import Experiment, Status
from simbias.errors import BadInput
from simbias.registry import experiments
from simbias.results import attributes, is_finished, open_result, to_xarray
from simbias.store.address import place_at
from simbias.store.place import AbstractPlace
from simbias.store.text import check_text
from simbias.store.work import complete, prepare, work
from simbias.verbs.shown import judge
from simbias.verbs.simulate import planned, simulate


@dataclasses.dataclass(frozen=True)
class FigureOptions:
    """Draw the figure of a run again, from what is stored: DIR/figure.png."""

    folder: Folder
    """The folder of the run, or its URL."""
    file: File = None
    """A file of yours with `figure(ds)`: that of the run, changed or not, or another
    one."""
    trust_code: bool = False
    """Use the text of your file that lies in the folder; it may do anything."""
    format: tuple[Format, ...] = ("png",)
    """Of the figure; several at once."""


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
    if left := int((ds["status"] == Status.RUNNING).sum()):
        say(
            f"{out}: {left} of {ds['status'].size} members have not finished, and are "
            f"not in the figure. Try: simbias resume {out}"
        )
    name, own = ds.attrs["experiment"], (parsed.file, parsed.trust_code)
    module = drawing("figure", store, name, *own).module
    if not hasattr(module, "figure"):
        raise BadInput(f"{module.__file__} has no `figure(ds)`.")
    for file in write_figures(module, ds, out, parsed.format):
        print(out / file)
    return 0


@dataclasses.dataclass(frozen=True)
class CheckOptions:
    """Run experiments and print the table of their claims; exit 1 if one fails."""

    names: Annotated[tuple[str, ...], tyro.conf.Positional] = ()
    """Experiments, or files of yours; all of simbias if none is named."""
    preset: Preset = "quick"
    """How large a run."""
    json: str | None = None
    """Write the claims as JSON to this file, or to standard output if `-`."""
    out: str | None = None
    """Keep the runs in folders of this one, or of this URL."""


def _writable(file: AbstractPlace) -> AbstractPlace:
    """The file, before anything runs, by writing beside it what is then removed."""
    is_folder = pathlib.Path(str(file)).is_dir()  # however much there is in it
    if is_folder or file.files() or (file.exists() and file.is_free()):
        raise BadInput(f"`--json`: {file} is a folder. Example: claims.json.")
    beside = file.parent / f".{file.name}.tried"
    beside.write(b"")
    beside.delete()
    return file


def check(arguments: list[str]) -> int:
    """Run experiments and print their claims."""
    parsed = tyro.cli(CheckOptions, args=arguments, prog="simbias check")
    sources = [source(word) for word in parsed.names or experiments()]
    asked = [experiment_of(one.module, parsed.preset, []) for one in sources]
    runs = None if parsed.out is None else place_at(parsed.out)
    file = None if parsed.json in (None, "-") else _writable(place_at(parsed.json))

    def judged(one: Source, ds: xr.Dataset) -> dict[str, Any]:
        claims = judge(one.module, ds)
        if parsed.json != "-":
            print_claims(one.name, ds, claims)
        return claims_document(one.name, parsed.preset, ds, claims)

    # Claims take one core for a while, and the next experiment begins beside them.
    with ThreadPoolExecutor(1) as beside:
        judgements = []
        for one, experiment in zip(sources, asked, strict=True):
            if runs is None:
                ds = simulate(experiment, progress=True)
            else:
                recipe = {**one.recipe, "preset": parsed.preset, "overrides": []}
                ds = _stored(experiment, recipe, runs / one.name / "run.zarr")
            judgements.append(beside.submit(judged, one, ds))
            jax.clear_caches()  # no experiment needs the programs of another
            for judgement in judgements:
                if judgement.done():
                    judgement.result()  # which raises now and not after the last run
        documents = [judgement.result() for judgement in judgements]
    if parsed.json == "-":
        print(json.dumps(documents, indent=1, allow_nan=False))
        say(tally_of(documents))
    else:
        print(f"\n{tally_of(documents)}")
        if file is not None:
            write_json(file, documents)
    failed = [c for d in documents for c in d["claims"] if c["verdict"] == "fails"]
    return 1 if failed else 0


def _stored(
    experiment: Experiment, recipe: dict[str, Any], place: AbstractPlace
) -> xr.Dataset:
    """What `simulate` does with a store, which `resume` can go on with."""
    plan = planned(experiment)
    described = attributes(plan, recipe)
    store = prepare(place, plan, described)
    check_text(store.attributes["recipe"], recipe)
    while (table := complete(store)) is None:
        work(plan, store, progress=True)
    return to_xarray(table, described)
