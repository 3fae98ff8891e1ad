"""The verb: one member of a run as a film."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np
import xarray as xr

from simbias.core import CellValue, Dataset, Experiment
from simbias.ensemble.leaves import named_leaves
from simbias.errors import BadInput
from simbias.figures.style import blank, style
from simbias.films.boundary import boundary, check_plane
from simbias.films.film import Film
from simbias.films.function import check_one_input, function
from simbias.films.inputs import has_two_classes, varying
from simbias.films.loss import loss
from simbias.films.moments import MOST, moments
from simbias.films.neurons import neurons
from simbias.films.panel import Panel
from simbias.films.spectrum import spectrum
from simbias.films.training import Training, training
from simbias.introspection.hidden_layer import has_hidden_layer
from simbias.measures.spectrum.amplitudes import Amplitudes
from simbias.verbs.initial import initial, one_cell, one_of
from simbias.verbs.kept_networks import one_of_each
from simbias.verbs.neuron_history import variable_of
from simbias.verbs.origin import origin, values_of

Kind = Literal["neurons", "function", "boundary", "spectrum"]
KINDS: tuple[str, ...] = get_args(Kind)
_PANELS: dict[str, Callable[[Training], Panel]] = {
    "neurons": neurons,
    "function": function,
    "boundary": boundary,
}


def animate(
    ds: xr.Dataset,
    experiment: Experiment | None = None,
    *,
    kind: str | Sequence[str] | None = None,
    seed: int = 0,
    frames: int = MOST,
    say: Callable[[str], None] | None = None,
    **where: CellValue,
) -> Film:
    """One member of a run as a film.

        simbias.animate(ds, n=200, seed=3).save("film.gif")

    "neurons": those of a network with one hidden layer by their direction, with the
    extremal vectors.  "function": that of a network of one input.  "boundary": where f
    changes sign, for two inputs.  "spectrum": amplitudes of frequencies, of a run that
    recorded `Amplitudes`.  Below all but the last there is the loss.

    Networks are those that the run recorded with `NeuronWeights`, or kept; where it has
    neither along time, the member is integrated again from its seed, to within the
    tolerance of its flow, with the same steps where the times are those of the run.

    Args:
        ds: a result, or a part of one.
        experiment: the one that was run; None for one of `simbias.experiments`.
        kind: what is shown, side by side if several; chosen by what the run is if not
            given.
        seed: of the member.
        frames: at most so many; those of more records are dense where something moves.
        say: is told, before it costs time, that something must be computed.
        where: the value on every axis of the grid; those that have one value may be
            left out.

    Raises:
        ValueError: for a kind that is none, or does not fit the run, a member that it
            does not hold, or another experiment.
    """
    if isinstance(frames, bool) or frames < 2:
        raise BadInput(f"`frames` must be at least 2, got {frames}. Example: 60.")
    kinds = _kinds(ds, experiment, kind, seed, where)
    if "spectrum" in kinds:
        if len(kinds) > 1:
            raise BadInput("`kind` spectrum is shown by itself: leave out the others.")
        times, label, panels, below = _spectrum(ds, experiment, seed, where)
    else:
        run = training(ds, experiment, seed, where, say)
        times, label, below = run.times, run.label, loss(run)
        panels = [_PANELS[one](run) for one in kinds]
    shown = panels if below is None else [*panels, below]
    values = {k: v for panel in shown for k, v in panel.values.items()}
    records = moments(list(values.values()), frames)
    name = ds.attrs["experiment"]
    with style():
        figure = blank(sum(p.width for p in panels), 4.6 if below is None else 6.2)
        top, shows = figure, []
        if below is not None:
            top, bottom = list(figure.subfigures(2, 1, height_ratios=(2.8, 1)))  # pyright: ignore
            shows.append(below.draw(bottom.subplots()))
        widths = [panel.width for panel in panels]
        spec = top.add_gridspec(1, len(panels), width_ratios=widths)
        for i, panel in enumerate(panels):
            axes = top.add_subplot(spec[0, i], projection=panel.projection)
            shows.append(panel.draw(axes))
        figure.suptitle(f"{name}: {label}", fontsize="medium")
    return Film(kinds, label, times[records], records, values, figure, tuple(shows))


def _kinds(
    ds: xr.Dataset,
    experiment: Experiment | None,
    kind: str | Sequence[str] | None,
    seed: int,
    where: Mapping[str, CellValue],
) -> tuple[str, ...]:
    """What to show of a run: what is asked for and can be, or what fits it.

    Raises:
        ValueError: for a kind that is none, or that does not fit.
    """
    asked = (kind,) if isinstance(kind, str) else tuple(kind or ())
    for one in asked:
        if one not in KINDS:
            raise BadInput(f"`kind` must be one of {', '.join(KINDS)}, got {one!r}.")
    if "spectrum" in asked or not asked and variable_of(ds, Amplitudes) is not None:
        return asked or ("spectrum",)
    drawn = {k: v for k, v in where.items() if not k.startswith("flow.")}
    data, network = initial(ds, experiment, seed=seed, **drawn)
    if asked:
        for one in asked:
            _CHECKS[one](data, network)
        return asked
    kinds: list[str] = []
    if has_hidden_layer(named_leaves(network)):
        kinds.append("neurons")
    inputs = len(varying(data))
    if data.y.shape[1] == 1 and inputs == 1:
        kinds.append("function")
    elif has_two_classes(data) and inputs == 2:
        kinds.append("boundary")
    if not kinds:
        raise BadInput(
            f"no film is known of a run like {ds.attrs['experiment']}: neurons are of "
            "networks with one hidden layer, function and boundary of one and two "
            "inputs, spectrum of the measure Amplitudes. Its figure: simbias figure."
        )
    return tuple(kinds)


def _check_neurons(data: Dataset, network: Any) -> None:  # noqa: ARG001
    names = named_leaves(network)
    if not has_hidden_layer(names):
        raise BadInput(
            "`kind` neurons is for networks with one hidden layer, got one with the "
            f"arrays {', '.join(names)}. Others: function, boundary."
        )


_CHECKS: dict[str, Callable[[Dataset, Any], None]] = {
    "neurons": _check_neurons,
    "function": lambda data, network: check_one_input(data),  # noqa: ARG005
    "boundary": lambda data, network: check_plane(data),  # noqa: ARG005
}


def _spectrum(ds, experiment, seed, where):
    name = variable_of(ds, Amplitudes)
    if name is None:
        raise BadInput(
            "`kind` spectrum is for runs that recorded the measure Amplitudes. "
            "Example: simbias run spectral_bias."
        )
    experiment = origin(ds, experiment, ("make",))
    cell = one_cell(values_of(ds), where)
    seed = one_of("seed", np.atleast_1d(ds["seed"].values).tolist(), seed)
    drawn = {k: v for k, v in cell.items() if not k.startswith("flow.")}
    data, _ = initial(ds, experiment, seed=seed, **drawn)
    values = one_of_each(ds[name], {**cell, "seed": seed})
    dims = [dim for dim in ds[name].dims if dim not in (*cell, "seed")]
    one = xr.DataArray(values, {k: ds[k] for k in dims}, dims)
    one = one.dropna("frequency", how="all").dropna("time")
    measure = json.loads(ds.attrs["configuration"])["measures"][name]
    axes = [f"{k} = {cell[k]}" for k in cell if k in ds.dims]
    label = ", ".join([*axes, f"seed {seed}"])
    return one["time"].values, label, spectrum(one, measure, data), None
