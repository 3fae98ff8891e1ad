"""`simbias animate`."""

import dataclasses
import pathlib
from typing import Annotated, Any

import tyro
import xarray as xr

from simbias.cli._options import Folder, experiment_of
from simbias.cli._place import found_run, writable
from simbias.cli._recipe import recipe_of
from simbias.cli._source import File, source_of
from simbias.cli._terminal import put, say
from simbias.core import CellValue, Experiment
from simbias.errors import BadInput
from simbias.films.animate import Kind
from simbias.films.animate import animate as filmed
from simbias.films.film import SUFFIXES
from simbias.films.moments import MOST
from simbias.results import is_finished, open_result
from simbias.store.address import place_at
from simbias.store.layout import Store
from simbias.suggestion import suggestion

# Arguments of the verb, which an axis may be called like.
_TAKEN = ("kind", "frames", "say")


@dataclasses.dataclass(frozen=True)
class AnimateOptions:
    """Write a film of one network of a run: DIR/film.gif.

    It shows neurons and extremal vectors, the function of one input, the decision
    boundary of two inputs, or amplitudes of frequencies, depending on the experiment.
    """

    folder: Folder
    """The folder of the run, or its URL."""
    file: File = None
    """The file of the experiment, if the run is of a file of yours."""
    trust_code: bool = False
    """Use the copy of that file in the run. It is code and can do anything."""
    data: str | None = None
    """New path of the run's file of data, if it has moved."""
    member: Annotated[tuple[str, ...], tyro.conf.arg(metavar="NAME=VALUE …")] = ()
    """Which network: n=200 seed=3.  Other axes have their first value."""
    kind: tuple[Kind, ...] = ()
    """What the film shows; several are shown side by side.  By default it depends on
    the run."""
    frames: int = MOST
    """Largest number of frames."""
    out: str | None = None
    """NAME.gif, or NAME.mp4, which needs ffmpeg."""


def animate(arguments: list[str]) -> int:
    """Write a film of one network of a run."""
    parsed = tyro.cli(AnimateOptions, args=arguments, prog="simbias animate")
    folder, store = found_run(parsed.folder)
    file = folder / "film.gif" if parsed.out is None else place_at(parsed.out)
    suffix = pathlib.PurePath(file.name).suffix
    if suffix not in SUFFIXES:
        raise BadInput(
            f"`--out` must end in {' or '.join(SUFFIXES)}, got {file.name}. Example: "
            "film.gif."
        )
    ds = open_result(str(store.place))
    if not is_finished(ds).any():
        raise BadInput(
            f"{folder}: no network has finished yet, so there is nothing to show. To "
            f"continue the run: simbias resume {folder}"
        )
    writable(file)
    part, member = _selected(ds, _member(ds, parsed.member))
    film = filmed(
        part,
        _experiment(store, parsed),
        kind=parsed.kind or None,
        frames=parsed.frames,
        say=say,
        **member,
    )
    file.write(film.encoded(suffix))
    say(f"{', '.join(film.kinds)}: {len(film)} frames of {film.label}")
    put(file)
    return 0


def _experiment(store: Store, parsed: AnimateOptions) -> Experiment | None:
    """The one that was run; None if a program of yours ran one of simbias."""
    if store.attributes["recipe"] is None and parsed.file is None:
        return None
    source = source_of(store, "animate", parsed.file, parsed.trust_code)
    recipe = recipe_of(store, source, parsed.data)
    return experiment_of(source.module, recipe["preset"], recipe["overrides"])


def _member(ds: xr.Dataset, words: tuple[str, ...]) -> dict[str, Any]:
    """The member that is named; where an axis is not, its first value.

    Raises:
        ValueError: for an axis or a value that the run does not have.
    """
    axes = [str(dim) for dim in ds["status"].dims]
    chosen = {axis: ds[axis].values[0].item() for axis in axes}
    for word in words:
        name, is_given, text = word.partition("=")
        if not is_given:
            raise BadInput(
                f"`--member` must be NAME=VALUE, got {word!r}. Example: n=200."
            )
        if name not in axes:
            raise BadInput(
                f"`--member`: `{name}` is not an axis of this run."
                f"{suggestion(name, axes)}"
            )
        chosen[name] = _value(name, text, ds[name].values.tolist())
    return chosen


def _selected(
    ds: xr.Dataset, member: dict[str, Any]
) -> tuple[xr.Dataset, dict[str, Any]]:
    """The part where axes lie that are called like an argument of the verb, and others.

    Raises:
        ValueError: for an axis that no verb can be asked for.
    """
    if refused := [axis for axis in ("ds", "experiment") if axis in member]:
        raise BadInput(
            f"`animate` cannot show a run with an axis `{refused[0]}`: rename that "
            "argument of `make`."
        )
    taken = {axis: [member[axis]] for axis in _TAKEN if axis in member}
    return ds.sel(taken), {k: v for k, v in member.items() if k not in taken}


def _value(name: str, text: str, known: list[CellValue]) -> CellValue:
    for value in known:
        if str(value).lower() == text.lower():
            return value
        try:
            if not isinstance(value, str | bool) and float(text) == value:
                return value
        except ValueError:
            continue
    raise BadInput(f"`--member {name}` must be one of {known}, got {text}.")
