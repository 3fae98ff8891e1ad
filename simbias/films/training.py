"""The networks of one member along time, from a run or integrated again."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Float

from simbias.core import CellValue, Dataset, Experiment, Loss, Status
from simbias.ensemble.engine import run_members
from simbias.ensemble.events import Outcome
from simbias.ensemble.leaves import named_leaves, with_leaves
from simbias.errors import BadInput
from simbias.films.events import Events, events_of, recorded_events
from simbias.flows.deep_relu_flow import DeepReluFlow
from simbias.networks.two_layer import TwoLayer
from simbias.numerics.exact_numerics import exact_numerics
from simbias.verbs.initial import initial, one_cell, one_of
from simbias.verbs.kept_networks import arrays_of, check_shapes, one_of_each
from simbias.verbs.neuron_history import neuron_history
from simbias.verbs.origin import origin, values_of
from simbias.verbs.simulate import planned

# With fewer records than LEAST a run does not count as recorded.  A member that is
# integrated again has those of the run, or MANY more if these are not _ENOUGH; at MOST.
LEAST, MANY, MOST = 12, 200, 240
_ENOUGH = 100
# Room for events of a deep exact flow; recording changes weights by rounding only.
_EVENTS = 4096
Say = Callable[[str], None]
Arrays = dict[str, np.ndarray]


@dataclasses.dataclass(frozen=True)
class Training:
    """One member on its way.

    `networks` is its network with an axis of time in front of every array, `label` says
    which member it is.  `events` are those of its exact flow, if they are known.
    """

    times: Float[np.ndarray, " t"]
    networks: Any
    data: Dataset
    loss: Loss
    label: str
    events: Events | None = None

    @property
    def arrays(self) -> Arrays:
        """Every array of the networks by name, time first."""
        return {k: np.asarray(v) for k, v in named_leaves(self.networks).items()}

    def along(self, function: Callable[[Any], Any]) -> Any:
        """A function of the network at every time: an array, or a tree of them."""
        arrays, rest = eqx.partition(self.networks, eqx.is_array)
        one = lambda leaves: function(eqx.combine(leaves, rest))
        with exact_numerics():
            values = eqx.filter_jit(lambda v: jax.lax.map(one, v))(arrays)
            return jax.tree.map(np.asarray, values)

    def losses(self) -> Float[np.ndarray, " t"]:
        """The loss on the sample at every time."""
        data = self.data
        of = lambda net: self.loss(jax.vmap(net)(data.x), data.y, data.weight)
        return self.along(of)


def training(
    ds: xr.Dataset,
    experiment: Experiment | None,
    seed: int,
    where: Mapping[str, CellValue],
    say: Say | None,
) -> Training:
    """The networks of a member, from the first of these that the run has.

    Those of a two-layer network from `NeuronWeights` along time; kept ones; or those of
    the member, integrated again from its seed: with the steps of the run if that has
    many records, else to within the tolerance of the flow.

    Args:
        ds: a result.
        experiment: the one that was run; None for one of `simbias.experiments`.
        seed: of the member.
        where: its value on every axis of the grid that has several.
        say: is told if something must be computed.

    Raises:
        ValueError: for a member that the result does not hold, or that has failed
            before its second record, or another experiment.
    """
    experiment = origin(ds, experiment)
    cell = one_cell(values_of(ds), dict(where))
    seed = one_of("seed", np.atleast_1d(ds["seed"].values).tolist(), seed)
    place = {**cell, "seed": seed}
    data, like = initial(ds, experiment, seed=seed, **_drawn(cell))
    shapes = {name: leaf.shape for name, leaf in named_leaves(like).items()}
    found = _recorded(ds, experiment, seed, cell, like) or _kept(ds, place, shapes)
    events = recorded_events(ds, place)
    if found is None:
        if say is not None:
            say(_why_again(ds))
        end = float(one_of_each(ds["end_time"], place))
        times = _times(ds["time"].values, end)
        outcome = _again(experiment, cell, seed, times)
        found, events = (times, dict(outcome.kept)), events_of(outcome.final)
    times, arrays = found
    rows = [np.isfinite(v.reshape(len(times), -1)).all(1) for v in arrays.values()]
    whole = np.logical_and.reduce(rows)
    if whole.sum() < 2:
        status = Status(int(one_of_each(ds["status"], place)))
        raise BadInput(
            f"there is nothing to show of seed {seed}: {status.name}. {status.message}"
        )
    with exact_numerics():
        leaves = {k: jnp.asarray(v[whole]) for k, v in arrays.items()}
        networks = with_leaves(like, leaves)
    axes = {k: v for k, v in cell.items() if k in ds.dims or k in where}
    words = [
        f"{k} = {v:g}" if isinstance(v, float) else f"{k} = {v}"
        for k, v in axes.items()
    ]
    label = ", ".join([*words, f"seed {seed}"])
    return Training(times[whole], networks, data, experiment.loss, label, events)


def _drawn(cell: Mapping[str, CellValue]) -> dict[str, CellValue]:
    return {k: v for k, v in cell.items() if not k.startswith("flow.")}


def _recorded(
    ds: xr.Dataset,
    experiment: Experiment,
    seed: int,
    cell: Mapping[str, CellValue],
    like: Any,
) -> tuple[np.ndarray, Arrays] | None:
    """Of a two-layer network, which is its neurons and no more."""
    if not isinstance(like, TwoLayer):
        return None
    try:
        neurons = neuron_history(
            ds.drop_vars("kept", errors="ignore"), experiment, seed=seed, **cell
        )
    except BadInput:
        return None
    if neurons.sizes["time"] < LEAST:
        return None
    a = neurons["a"].values
    arrays = {"w": neurons["w"].values, "a": a[..., None] if a.ndim == 2 else a}
    if "b" in neurons:
        arrays["b"] = neurons["b"].values
    return neurons["time"].values, arrays


def _why_again(ds: xr.Dataset) -> str:
    """Why what is recorded is no film, and what it takes to be one."""
    kept = ds.sizes.get("kept", 0)
    held = f"keeps networks of {kept} times" if kept else "keeps no networks"
    return (
        f"The run {held}, and a film takes those of {LEAST} at least: this member is "
        "integrated again from its seed, which compiles first and takes minutes. "
        f"(Runs with {LEAST} times after --keep, or with the measure NeuronWeights, "
        "are shown at once.)"
    )


def _kept(
    ds: xr.Dataset, place: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]]
) -> tuple[np.ndarray, Arrays] | None:
    if "kept" not in ds.dims or ds.sizes["kept"] < LEAST:
        return None
    found = {}
    for name, array in arrays_of(ds).items():
        dims = [dim for dim in array.dims if dim not in place]
        values = one_of_each(array, place)
        found[name] = np.moveaxis(values, dims.index("kept"), 0)
    check_shapes(shapes, {name: v.shape[1:] for name, v in found.items()})
    cut = {k: found[k][(slice(None), *map(slice, s))] for k, s in shapes.items()}
    return ds["kept"].values, cut


def _again(
    experiment: Experiment,
    cell: Mapping[str, CellValue],
    seed: int,
    times: Float[np.ndarray, " t"],
) -> Outcome:
    """The member with all of its networks kept, and events of a deep exact flow."""
    moments, flow = tuple(times.tolist()), experiment.flow
    if isinstance(flow, DeepReluFlow) and not flow.events:
        flow = dataclasses.replace(flow, events=_EVENTS)
    one = dataclasses.replace(
        experiment,
        cell={k: v for k, v in cell.items() if v is not None},
        seeds=seed + 1,
        flow=flow,
        times=moments,
        measures={},
        final={},
        keep=moments,
        stop=None,
    )
    (outcome,) = run_members(planned(one, holds_result=False), {seed})
    return outcome


def _times(own: Float[np.ndarray, " t"], end: float) -> Float[np.ndarray, " s"]:
    """The records of the run up to the end of the member, and 0; more if they are few.

    Records change where steps end: with those of the run the steps are the same.
    """
    last = float(own[-1]) if not np.isfinite(end) else min(float(own[-1]), end)
    own = np.unique([0.0, *own[own < last], last])
    if len(own) < _ENOUGH:
        first = max(own[1], last / 1e4) if len(own) > 2 else last / 1e3
        own = np.unique([*own, *np.geomspace(first, last, MANY)])
    every = np.linspace(0, len(own) - 1, min(len(own), MOST))
    return own[np.unique(np.round(every).astype(int))]
