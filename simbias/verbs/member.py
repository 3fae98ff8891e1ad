"""A member of a result at a time at which its network was kept."""

import dataclasses
import os
from typing import Any

import jax.numpy as jnp
import numpy as np
import xarray as xr

from simbias.core import (
    AbstractFlow,
    CellValue,
    Dataset,
    Experiment,
    Loss,
    Status,
)
from simbias.ensemble.grid import FLOW_PREFIX
from simbias.ensemble.leaves import named_leaves, with_leaves
from simbias.errors import BadInput
from simbias.numerics.exact_numerics import exact_numerics
from simbias.results import as_result
from simbias.verbs.initial import initial, one_cell, one_of
from simbias.verbs.kept_networks import arrays_of, check_shapes, is_whole, one_of_each
from simbias.verbs.origin import origin, values_of


@dataclasses.dataclass(frozen=True)
class Member:
    """A network on its way: what it is, what it is trained on, and how.

    `status` is that of the member at the end of the run.
    """

    network: Any
    data: Dataset
    flow: AbstractFlow
    loss: Loss
    time: float
    status: Status


def member(
    ds: xr.Dataset | str | os.PathLike,
    experiment: Experiment | None = None,
    *,
    seed: int = 0,
    time: float | None = None,
    **where: CellValue,
) -> Member:
    """One member as it was at a time of which its network was kept (`keep`).

        one = simbias.member(ds, n=20, seed=3)
        simbias.solve(one.network, one.data, one.flow, one.loss, (10.0,), {})

    goes on from there, on a clock that starts at 0 again.  The arrays of the network
    are those of the run to the last bit; the sample is drawn again, see `initial`.
    What a flow remembers besides its network (the moments of Adam, the length of the
    last step, sliding of the exact flow, which it finds again) begins anew.

    Args:
        ds: a result, a part of one, or the folder or URL of a run.
        experiment: the one that was run; None for one of `simbias.experiments`.
        seed: of the member.
        time: one of `ds["kept"]`, the last one if not given.
        where: the value on every axis of the grid; those that have one value may be
            left out.

    Raises:
        ValueError: for a result without kept networks, a member or a time that it does
            not hold, or another experiment.
    """
    ds = as_result(ds)
    experiment = origin(ds, experiment)
    cell = one_cell(values_of(ds), where)
    seed = one_of("seed", np.atleast_1d(ds["seed"].values).tolist(), seed)
    arrays = arrays_of(ds)
    times = np.atleast_1d(ds["kept"].values).tolist()
    time = float(one_of("time", times, times[-1] if time is None else time))
    drawn = {k: v for k, v in cell.items() if not k.startswith(FLOW_PREFIX)}
    data, network = initial(ds, experiment, seed=seed, **drawn)
    place = {**cell, "seed": seed, "kept": time}
    status = Status(int(one_of_each(ds["status"], place)))
    found = {name: one_of_each(array, place) for name, array in arrays.items()}
    leaves = {name: leaf.shape for name, leaf in named_leaves(network).items()}
    check_shapes(leaves, {name: value.shape for name, value in found.items()})
    values = {k: found[k][tuple(map(slice, shape))] for k, shape in leaves.items()}
    if not is_whole({k: v[None] for k, v in values.items()})[0]:
        raise BadInput(
            f"there is no finite network at time {time}: its training has the status "
            f"{status.name}. {status.message}"
        )
    with exact_numerics():
        network = with_leaves(network, {k: jnp.asarray(v) for k, v in values.items()})
    changes = {
        k.removeprefix(FLOW_PREFIX): v
        for k, v in cell.items()
        if k.startswith(FLOW_PREFIX)
    }
    flow = dataclasses.replace(experiment.flow, **changes)
    return Member(network, data, flow, experiment.loss, time, status)
