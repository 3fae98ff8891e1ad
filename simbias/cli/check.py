"""`simbias check`."""

import contextlib
import dataclasses
import functools
import json
import pathlib
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Annotated, Any

import jax
import tyro
import xarray as xr

from simbias.cli._budget import seconds_of
from simbias.cli._figures_and_claims import (
    claims_document,
    print_claims,
    tally_of,
    verdicts_of,
    write_json,
)
from simbias.cli._options import experiment_of, sizes
from simbias.cli._source import Source, source
from simbias.cli._terminal import put, say
from simbias.core import Experiment
from simbias.errors import BadInput, MissingFiles
from simbias.preset_names import SIZES, of_size, run_name
from simbias.registry import experiments, is_experiment, themes
from simbias.results import attributes, to_xarray
from simbias.store.address import place_at
from simbias.store.place import AbstractPlace
from simbias.store.source import check_text
from simbias.store.time_taken import Stopwatch, time_taken
from simbias.store.work import complete, prepare, work
from simbias.verbs.decide import Decided, decide
from simbias.verbs.phenomenon import check as check_claims
from simbias.verbs.simulate import planned, simulate


@dataclasses.dataclass(frozen=True)
class CheckOptions:
    """Run experiments and print their claims; exit 1 if one is contradicted."""

    names: Annotated[tuple[str, ...], tyro.conf.Positional] = ()
    """Experiments or themes of `simbias list`, or files of yours; by default all
    experiments of simbias."""
    preset: str = "quick"
    """Size of the runs: smoke, quick or paper, for each experiment and its variants.
    Or the name of one variant, such as sgd."""
    json: str | None = None
    """Write the claims as JSON to this file after each experiment; `-` is standard
    output."""
    out: str | None = None
    """Store the runs in this folder or URL, as NAME or, for variants, NAME-PRESET.  The
    same command continues them."""
    decide: bool = False
    """Add seeds, in the cells on which open claims depend, until all are decided."""
    budget: str = "10m"
    """With --decide: how long each experiment may take, such as 90s, 20m or 2h."""


def check(arguments: list[str]) -> int:
    """Run experiments and print their claims."""
    parsed = tyro.cli(CheckOptions, args=arguments, prog="simbias check")
    asked = [
        _Asked(theme, one, preset, experiment_of(one.module, preset, []))
        for theme, one in _by_theme(parsed.names)
        for preset in _presets(one, parsed.preset)
    ]
    budget = seconds_of(parsed.budget)
    runs = None if parsed.out is None else place_at(parsed.out)
    file = None if parsed.json in (None, "-") else _writable(place_at(parsed.json))

    documents: list[dict[str, Any]] = []
    without_files: list[str] = []

    def write_claims(
        one: _Asked, ds: xr.Dataset, seconds: float, decided: list[Decided] | None
    ) -> None:
        claims = check_claims(one.source.module, ds) if decided is None else decided
        if parsed.json != "-":
            print_claims(one.name, ds, claims)
        document = claims_document(one.source.name, one.preset, ds, claims)
        about = {"theme": one.theme, "seconds": round(seconds, 1)}
        documents.append({**about, **document})
        if file is not None:
            write_json(file, documents)

    # Claims take one core for a while, and the next experiment begins beside them.
    with ThreadPoolExecutor(1) as beside:
        writes: list[Future[None]] = []
        for one in asked:
            place = None if runs is None else runs / one.name / "run.zarr"
            try:
                found = _run(one, place, budget if parsed.decide else None)
            except MissingFiles as error:
                if len(asked) == 1:
                    raise
                say(f"{one.name} is not checked. {error}")
                without_files.append(one.name)
                continue
            writes.append(beside.submit(write_claims, one, *found))
            jax.clear_caches()  # no experiment needs the programs of another
            for write in writes:
                if write.done():
                    write.result()  # which raises now and not after the last run
        for write in writes:
            write.result()
    if parsed.json == "-":
        put(json.dumps(documents, indent=1, allow_nan=False))
        say(_tally(documents))
    else:
        put(f"\n{_tally(documents)}")
    if without_files:
        say(f"Not checked, as images are missing: {', '.join(without_files)}.")
    failed = [
        c for d in documents for c in d["claims"] if c["verdict"] == "contradicted"
    ]
    return 1 if failed else 0


@dataclasses.dataclass(frozen=True)
class _Asked:
    """One run: an experiment in one of its presets."""

    theme: str
    source: Source
    preset: str
    experiment: Experiment

    @property
    def name(self) -> str:
        """Of its folder."""
        return run_name(self.source.name, self.preset)

    @property
    def recipe(self) -> dict[str, Any]:
        """What the run keeps."""
        return {**self.source.recipe, "preset": self.preset, "overrides": []}


def _presets(one: Source, asked: str) -> list[str]:
    """The preset, and where it is a size those of the variants of that size."""
    if asked not in SIZES:
        return [asked]
    variants = [k for k in sizes(one.module) if k not in SIZES]
    return [asked, *of_size(variants, asked)]


def _by_theme(words: Sequence[str]) -> list[tuple[str, Source]]:
    """What words stand for, each once, with the theme; all of simbias for none.

    Raises:
        ValueError: for a word that stands for nothing.
    """
    known = {theme: names for theme, (_, names) in themes().items() if theme}
    theme_of = {name: theme for theme, names in known.items() for name in names}
    if not words:
        words = sorted(experiments(), key=lambda name: (theme_of[name], name))
    every: dict[str, None] = {}
    for word in words:
        is_theme = word in known and not is_experiment(word)
        every |= dict.fromkeys(known[word] if is_theme else [word])
    return [(theme_of.get(word, ""), source(word)) for word in every]


def _writable(file: AbstractPlace) -> AbstractPlace:
    """The file, before anything runs, by writing beside it what is then removed."""
    is_folder = pathlib.Path(str(file)).is_dir()  # however much there is in it
    if is_folder or file.files() or (file.exists() and file.is_free()):
        raise BadInput(
            f"`--json` must be a file, but {file} is a folder. Example: claims.json."
        )
    beside = file.parent / f".{file.name}.tried"
    beside.write(b"")
    beside.delete()
    return file


def _run(
    one: _Asked, place: AbstractPlace | None, budget: float | None
) -> tuple[xr.Dataset, float, list[Decided] | None]:
    """The result, the seconds it took, and with a budget its claims."""
    begins, decided = time.monotonic(), None
    if budget is not None and one.experiment.seeds is not None:
        ds, decided = _decided(one, place, budget)
    elif place is None:
        ds = simulate(one.experiment, progress=True)
    else:
        return *_stored(one, place), None
    return ds, time.monotonic() - begins, decided


def _stored(one: _Asked, place: AbstractPlace) -> tuple[xr.Dataset, float]:
    """What `simulate` does with a store, which `resume` can go on with.

    And the seconds that all processes together were at it, those of earlier ones too.
    """
    plan = planned(one.experiment)
    described = attributes(plan, one.recipe)
    store = prepare(place, plan, described)
    check_text(store.attributes["recipe"], one.recipe)
    while (table := complete(store)) is None:
        with Stopwatch(store) as clock:
            work(plan, store, progress=True, report=clock)
    taken = time_taken(store)
    return to_xarray(table, described), 0.0 if taken is None else taken.wall


def _decided(
    one: _Asked, place: AbstractPlace | None, budget: float
) -> tuple[xr.Dataset, list[Decided]]:
    """With more and more seeds, in a folder that is kept or not."""
    claims = functools.partial(check_claims, one.source.module)
    with contextlib.ExitStack() as stack:
        if place is None:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            place = place_at(folder) / "run.zarr"
        known = {"budget": budget, "recipe": one.recipe, "progress": True}
        return decide(one.experiment, claims, place, **known)


def _tally(documents: Sequence[dict[str, Any]]) -> str:
    """How claims came out, theme by theme if there are several, and together."""
    every = list(dict.fromkeys(document["theme"] for document in documents))
    lines = []
    for theme in every if len(every) > 1 else ():
        mine = [document for document in documents if document["theme"] == theme]
        lines.append(f"{theme or 'others'}: {_time(mine)}; {verdicts_of(mine)}")
    return "\n".join([*lines, f"{_time(documents)} in all", tally_of(documents)])


def _time(documents: Sequence[dict[str, Any]]) -> str:
    minutes = sum(document["seconds"] for document in documents) / 60
    names = {document["experiment"] for document in documents}
    what = "experiment" if len(names) == 1 else "experiments"
    more = len(documents) - len(names)
    also = f" and {more} variant{'s' * (more > 1)}" if more else ""
    return f"{len(names)} {what}{also}, {minutes:.1f} min"
