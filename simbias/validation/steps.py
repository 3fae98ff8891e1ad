"""What the counts of steps say about a run, once it is over."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Bool

from simbias.core import Status

# Of a smooth field the first rejection of a step finds a length that is accepted: in
# runs that are stiff, or stop at the limit of stability, at most two in 3,000 attempts
# are rejected again.  At a kink it is every second one.
_LEAST_AGAIN, _LEAST_SHARE = 20, 0.05
_LEAST_REJECTED, _MOST_RATIO = 100, 10
# Of gradient descent, at the largest rate of a sweep.
_FEW_STEPS = 10


def meets_kinks(stats: Mapping[Any, Any]) -> Bool[np.ndarray, "..."]:
    """Where steps were rejected again after the error estimate had shortened them.

    That estimate is of a high order in the step; at a kink the error falls with the
    step itself.
    """
    accepted, rejected, again = (
        np.asarray(stats[name]) for name in ("accepted", "rejected", "rejected_again")
    )
    is_often = again > _LEAST_SHARE * (accepted + rejected)
    return np.asarray((again >= _LEAST_AGAIN) & is_often)


def rejects_most(stats: Mapping[Any, Any]) -> Bool[np.ndarray, "..."]:
    """Where more than ten attempts were rejected for each one that was accepted."""
    accepted, rejected = (np.asarray(stats[name]) for name in ("accepted", "rejected"))
    is_most = rejected > _MOST_RATIO * accepted
    return np.asarray((rejected >= _LEAST_REJECTED) & is_most)


def said_of_steps(stats: Mapping[Any, Any], end_time: Any) -> list[str]:
    """A sentence for each thing that the counts of a run's steps point to.

    Args:
        stats: counts by name, as `FlowState` has them; one member's, or arrays of many.
            An `xr.Dataset` of a run will do.
        end_time: of the same members.
    """
    out = []
    if "rejected" not in stats:
        return out
    if "rejected_again" in stats and (found := meets_kinks(stats)).any():
        again = np.asarray(stats["rejected_again"])
        worst = np.unravel_index(np.argmax(np.where(found, again, -1)), again.shape)
        out.append(
            f"the gradient seems to jump for {_members(found)}: up to "
            f"{again[worst]:,} steps were rejected a second time after they had been "
            f"shortened, by t = {np.asarray(end_time)[worst]:.6g}. The network or the "
            "loss is not smooth there, or `rtol` is below the rounding of the dtype. "
            'Use the flow "descent" or "relu_flow", or a smooth activation, pooling '
            "and loss."
        )
    if (found := rejects_most(stats)).any():
        total = lambda name: int(np.asarray(stats[name])[found].sum())
        out.append(
            f"{_members(found)} rejected more than {_MOST_RATIO} steps for each "
            f"accepted one ({total('rejected'):,} and {total('accepted'):,}), so the "
            "error estimate is not reliable. Compare with another `rtol` before you "
            "use the result."
        )
    return out


def warn_of_steps(
    flow: Any, stats: Mapping[Any, Any], end_time: Any, stacklevel: int = 3
) -> None:
    """Warn of what `said_of_steps` says; kinks that `allow_kinks` allows are none."""
    if getattr(flow, "allow_kinks", False):
        stats = {k: stats[k] for k in stats if k != "rejected_again"}
    for said in said_of_steps(stats, end_time):
        warnings.warn(said, stacklevel=stacklevel)


def warn_of_result(flow: Any, ds: Any) -> None:
    """Warn of all that the result of a run, an `xr.Dataset`, points to."""
    warn_of_steps(flow, ds, ds["end_time"], stacklevel=4)
    warn_of_divergence(flow, ds["status"], stacklevel=4)
    _warn_of_rates(flow, ds)


def _warn_of_rates(flow: Any, ds: Any) -> None:
    """Warn if a sweep over learning rates gave some next to no steps, others many."""
    axis = "flow.rate"
    if axis not in ds.dims or not hasattr(flow, "counts_steps") or flow.counts_steps:
        return
    whole = ds["accepted"].where(ds["status"] == Status.REACHED_TIME)
    steps = whole.max([k for k in whole.dims if k != axis]).dropna(axis)
    if not steps.size:
        return
    ends = (steps.isel({axis: at(steps.values)}) for at in (np.argmin, np.argmax))
    fewest, most = ends
    if fewest >= _FEW_STEPS or most < _MOST_RATIO * fewest:
        return
    warnings.warn(
        "the time of a flow is steps × rate, so the numbers of steps differ: "
        f"{int(fewest):,} for rate {float(fewest[axis]):g}, {int(most):,} for rate "
        f"{float(most[axis]):g}. To give times as numbers of steps, use "
        "Descent(counts_steps=True), or --flow.counts-steps on the command line.",
        stacklevel=4,
    )


def _members(found: Bool[np.ndarray, "..."]) -> str:
    if found.size == 1:
        return "the network"
    return f"{int(found.sum()):,} of {found.size:,} networks"


def warn_of_divergence(flow: Any, status: Any, stacklevel: int = 3) -> None:
    """Warn if every network of a run became NaN or infinite; name the learning rate.

    Args:
        flow: of the run.
        status: of every network.
        stacklevel: whose call it is about.
    """
    statuses = np.asarray(status)
    if statuses.size == 0 or not np.all(statuses == Status.NONFINITE):
        return
    rate = getattr(flow, "rate", None)
    is_planned = getattr(flow, "schedule", None) is not None
    or_else = ", or check that `schedule` is 0 or more" if is_planned else ""
    advice = (
        f"The learning rate `rate` = {rate} may be too large for this dataset, network "
        f"and loss. Try a tenth of it{or_else}."
        if rate is not None
        else "Check the scale of the inputs, the targets and the initial weights."
    )
    who = "the network" if statuses.size == 1 else f"all {statuses.size:,} networks"
    warnings.warn(
        f"{who} ended with status NONFINITE: a weight, the loss or its "
        f"gradient became NaN or infinite. Later records are NaN. {advice}",
        stacklevel=stacklevel,
    )
