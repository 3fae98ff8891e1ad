"""Does a device give what the CPU gives, and always the same bits?"""

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from _on_device import Cases, Place, small

from simbias.core import Experiment
from simbias.experiments import threshold
from simbias.flows.descent import Descent
from simbias.flows.gradient_flow import GradientFlow
from simbias.flows.relu_flow import ReluFlow
from simbias.networks.two_layer import TwoLayer
from simbias.verbs.simulate import simulate

LANES = 8
_COMPARED = ("train_risk", "neurons")


def agreement(place: Place) -> Cases:
    """Every flow in both precisions, the plainest ones first."""
    for dtype in ("float64", "float32"):
        # In float32 an exact flow can resolve no less than 1.2e-4.
        rtol = 1e-6 if dtype == "float64" else 2e-4
        eps = float(jnp.finfo(dtype).eps)
        flows = {
            "gradient descent": (Descent(rate=0.05), {"activation": "relu"}, eps**0.5),
            "gradient flow": (GradientFlow(rtol=rtol), {}, 10 * rtol),
            "exact flow": (ReluFlow(rtol=rtol), {}, 10 * rtol),
            "Adam on batches": (
                Descent(rate=0.01, optimiser="adam", batch=4),
                {},
                eps**0.5,
            ),
        }
        for name, (flow, cell, tolerance) in flows.items():
            if place.is_smallest and (name, dtype) != ("gradient descent", "float64"):
                continue
            experiment = small(place, flow, dtype, **cell)
            act = functools.partial(against_the_cpu, place, experiment, tolerance)
            yield f"{name}, {dtype}", act
            if name in ("gradient descent", "exact flow"):
                act = functools.partial(bits, place, flow, dtype, cell)
                yield f"bits of {name}, {dtype}", act


def against_the_cpu(
    place: Place, experiment: Experiment, tolerance: float
) -> dict[str, Any]:
    """Distance of records and final weights, of their largest entry.

    A flow that chooses its steps may choose others for another last bit, and then
    differs by more than the tolerance.  Where it does the CPU starts again one rounding
    away, and three times its distance from itself is allowed.
    """
    cpu = jax.local_devices(backend="cpu")[:1]
    theirs = simulate(experiment, devices=cpu)
    with place.side_by_side():
        ours = simulate(experiment, lanes=LANES, devices=[place.device])
    apart = lambda ds: {name: gap(ds[name], theirs[name]) for name in _COMPARED}
    gaps, most = apart(ours), dict.fromkeys(_COMPARED, tolerance)
    out = {"distance": gaps, "tolerance": tolerance}
    if max(gaps.values()) > tolerance:
        near = dataclasses.replace(experiment, make=_one_rounding_away)
        out["distance_one_rounding_away"] = apart(simulate(near, devices=cpu))
        most = {k: 3 * v for k, v in out["distance_one_rounding_away"].items()}
    is_alike = bool((ours["status"] == theirs["status"]).all())
    is_near = all(gaps[k] <= max(tolerance, most[k]) for k in _COMPARED)
    return out | {
        "are_statuses_equal": is_alike,
        "steps": [int(ds["accepted"].sum()) for ds in (ours, theirs)],
        "holds": is_alike and is_near,
    }


@functools.wraps(threshold.make)  # members are the same where the arguments are
def _one_rounding_away(*args, **cell):
    """`threshold`'s, with every hidden weight larger by one rounding."""
    data, network = threshold.make(*args, **cell)
    assert isinstance(network, TwoLayer)
    w = jnp.nextafter(network.w, 2 * network.w)
    return data, dataclasses.replace(network, w=w)


def bits(place: Place, flow: Any, dtype: str, cell: dict[str, Any]) -> dict[str, Any]:
    """What else is in the lanes, and how often they are filled, changes nothing.

    How many there are may, where the device multiplies wide batches in another way.
    """
    alone = small(place, flow, dtype, **cell)
    mixed = small(place, flow, dtype, **cell, scale=(0.1, 0.5))
    with place.side_by_side():
        run = functools.partial(simulate, devices=[place.device])
        first, again = (run(mixed, lanes=LANES).sel(scale=0.1) for _ in range(2))
        others, one = run(alone, lanes=LANES), run(alone, lanes=1)
    return {
        "equal_again": is_equal(first, again),
        "equal_with_other_companions": is_equal(first, others),
        "equal_in_one_lane": is_equal(first, one),
        "distance_in_one_lane": gap(one["neurons"], first["neurons"]),
        "holds": is_equal(first, again) and is_equal(first, others),
    }


def is_equal(one: xr.Dataset, other: xr.Dataset) -> bool:
    """To the last bit."""
    return all(
        one[name].values.tobytes() == other[name].values.tobytes()
        for name in (*_COMPARED, "status", "end_time")
    )


def gap(one: Any, other: Any) -> float:
    """Largest difference, of the largest entry; infinite if one alone has a NaN."""
    one, other = np.asarray(one, float), np.asarray(other, float)
    if not np.array_equal(np.isnan(one), np.isnan(other)):
        return float("inf")
    return float(np.nanmax(abs(one - other)) / np.nanmax(abs(other)))
