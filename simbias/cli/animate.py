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
    """Show one member of a run as a film: DIR/film.gif.

    Neurons turning and growing with the extremal vectors, the function of one input,
    the decision boundary of two, or amplitudes of frequencies, as the run is.
    """

    folder: Folder
    """The folder of the run, or its URL."""
    file: File = None
    """The file that the run is of, if it is one of yours."""
    trust_code: bool = False
    """Use the text of that file that lies in the folder; it may do anything."""
    data: str | None = None
    """Where the file of data lies that the run was given, if it has moved."""
    member: Annotated[tuple[str, ...], tyro.conf.arg(metavar="NAME=VALUE …")] = ()
    """Which one: n=200 seed=3.  The first value of every axis that is not named."""
    kind: tuple[Kind, ...] = ()
    """What is shown, side by side if several; chosen by what the run is if left out."""
    frames: int = MOST
    """At most so many."""
    out: str | None = None
    """NAME.gif, or NAME.mp4 where there is ffmpeg."""


def animate(arguments: list[str]) -> int:
    """Write one member of a run as a film."""
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
            f"{folder}: no member has finished yet, so that there is nothing to show. "
            f"Try: simbias resume {folder}"
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
                f"`--member` takes NAME=VALUE, got {word!r}. Example: n=200."
            )
        if name not in axes:
            raise BadInput(
                f"`--member`: `{name}` is not an axis of this run, which are "
                f"{', '.join(axes)}.{suggestion(name, axes)}"
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
            f"a film of a run with an axis `{refused[0]}` cannot be made: call that "
            "argument of `make` something else."
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
