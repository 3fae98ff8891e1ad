"""Four neurons on XOR-like clusters: fitted one after another, equal in the end.

There is one neuron for each cluster, on the axis of the cluster.  The initial scales
differ by up to a factor 1000.  Every neuron grows like e^{λt} from its own scale,
independently of the others.  So the neurons fit their clusters one after another, with
delays ln(σ/σ')/λ.  Late in training all four scales become equal, and every neuron
stays on its axis.

The published code is gradient descent with learning rates on a schedule from 2⁻⁷ to 2³⁰
(here `published_descent`).  The theory is about the gradient flow, which is the
default.  For both, time is the sum of the learning rates.

Reference: Tsoy & Konstantinov (2024), arXiv:2405.17299, figures 1, 5, 6 and 7.
"""

import dataclasses
import functools
from typing import Any, Literal

import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float, Int, PRNGKeyArray

from simbias.analysis.first_passage import first_passage
from simbias.claims import farthest_of, largest_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.datasets import xor_clusters
from simbias.experiment_presets import presets
from simbias.experiments._draws import samples
from simbias.figures import Curves, Panels
from simbias.flows import Descent, ReluFlow
from simbias.losses import logistic
from simbias.measures import AngularDeviation, NeuronWeights, TrainLoss
from simbias.networks import TwoLayer
from simbias.theory.extremal_vectors import extremal_vectors

PAPER = "Tsoy & Konstantinov (2024), arXiv:2405.17299"
# Of what the flow computes: forty times its `rtol`, see docs/exact_flow.md.
TOLERANCE = 4e-6
Start = Literal["figure 1", "figure 6", "figure 7"]
# Neurons on e₁, e₂, −e₁, −e₂, with a < 0 on the first axis; scales in units of σ.
HALF_AXES = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
OUTPUT_SIGNS = np.array([-1.0, 1.0, -1.0, 1.0])
SCALES: dict[str, tuple[float, ...]] = {
    "figure 1": (1.0, 0.1, 0.001, 0.01),
    "figure 6": (1.0, 0.1, 0.01, 0.001),
    "figure 7": (1.0, 0.01, 0.1, 0.001),
}
RATE, EPOCHS = 2.0**-7, 32_768


def schedule(step: Int[Array, "*t"]) -> Float[Array, "*t"]:
    """Factor of the learning rate 2⁻⁷ at each epoch of the published run.

    2⁹ for 12 epochs; 1 until epoch 8192; then linear to 33 at epoch 16,384; and
    1 + 32·2^(k/512) k epochs later, as the loss falls.
    """
    t = step.astype(jnp.float64)
    line = 1 + 32 * (t / 8192 - 1)
    late = 1 + 32 * jnp.exp2((t - 16_384) / 512)
    middle = jnp.where(t < 8192, 1.0, jnp.where(t < 16_384, line, late))
    return jnp.where(t < 12, 512.0, middle)


def epoch_times() -> Float[np.ndarray, " t"]:
    """Time at the end of each epoch, 0 first: the sum of the learning rates."""
    rates = RATE * np.asarray(schedule(jnp.arange(EPOCHS)))
    return np.concatenate([[0.0], np.cumsum(rates)])


def published_descent() -> Descent:
    """Gradient descent as the published code runs it."""
    return Descent(rate=RATE, schedule=schedule)


def make(
    key: PRNGKeyArray,
    *,
    start: Start = "figure 1",
    n: int = 112,
    sigma: Real = 0.005,
    clip: Real = 0.01,
    scale: Real = 1e-4,
) -> tuple[Dataset, AbstractNetwork]:
    """Reflected clusters on the axes, and one balanced neuron on each half axis.

    Args:
        key: random key.
        start: figure of the paper whose initial scales are used.
        n: samples.
        sigma: standard deviation of a cluster.
        clip: largest |z| of a cluster.
        scale: scale of the initial weights.
    """
    data = xor_clusters(key, n=n, sigma=sigma, clip=clip, is_reflected=True)
    return data, four_neurons(start, scale)


def four_neurons(start: Start, scale: Real = 1e-4) -> TwoLayer:
    """The balanced start |aⱼ| = ‖wⱼ‖ on the four half axes."""
    size = scale * jnp.asarray(SCALES[start], jnp.float64)
    w = size[:, None] * jnp.asarray(HALF_AXES)
    return TwoLayer(w=w, a=(size * jnp.asarray(OUTPUT_SIGNS))[:, None])


AXES = ("start",)
_RECORDED = (0, *range(1, 13), *range(64, EPOCHS + 1, 64))
_sizes = presets(
    Experiment(
        name="xor_four_neurons",
        make=make,
        cell={"start": tuple(SCALES)},
        seeds=4,
        flow=ReluFlow(rtol=1e-7),
        loss=logistic,
        times=(1.0,),
        measures={
            "train_loss": TrainLoss(logistic),
            "neuron_weights": NeuronWeights(),
            "angular_deviation": AngularDeviation(quantile=1.0),
        },
    ),
    smoke={"cell": {"start": "figure 1"}, "seeds": 1},
    paper={"seeds": 100},
)


def experiment(preset: str = "quick", **changes: Any) -> Experiment:
    """The experiment; keywords replace values of its cell, or its fields.

    It is recorded at epochs of the published run.
    """
    whole = _sizes(preset, **changes)
    if "times" in changes:
        return whole
    times = epoch_times()
    return dataclasses.replace(whole, times=tuple(float(times[k]) for k in _RECORDED))


def scales_of(ds: xr.Dataset) -> xr.DataArray:
    """‖wₖ‖ of each neuron."""
    w = ds["neuron_weights"].isel(weight=slice(0, 2))
    return (w**2).sum("weight", skipna=False) ** 0.5


def angles_of(ds: xr.Dataset) -> xr.DataArray:
    """Angle of each neuron with its own half axis, in radians, with its sign."""
    x, y = (ds["neuron_weights"].isel(weight=i) for i in (0, 1))
    ax, ay = (xr.DataArray(HALF_AXES[:, i], dims="neuron") for i in (0, 1))
    return xr.apply_ufunc(np.arctan2, y * ax - x * ay, x * ax + y * ay)


def own_rate(ds: xr.Dataset) -> xr.DataArray:
    """λ of each network's dataset: the largest |G|, 1/8 for clusters without noise."""
    there = scales_of(ds).isel(time=-1).notnull().all("neuron")
    rate = xr.full_like(there, np.nan, dtype=float)
    for place, _, data in samples(ds, _sizes("smoke"), there):
        # The values are those of half_mse; −ℓ'(0) = ½.
        rate[place] = np.abs(extremal_vectors(data).value).max() / 2
    return rate


each = functools.partial(
    Curves, colour="neuron", spread="each", yscale="log", xlim=(10, None)
)
figure = Panels(
    each(scales_of, title="scale ‖wₖ‖"),
    each(
        lambda ds: abs(angles_of(ds)),
        title="angle with its own axis",
        ylim=(1e-7, 1e-1),
    ),
    columns="start",
    xlabel="time",
    xscale="log",
    names={
        "neuron": dict(enumerate(f"neuron on {k}" for k in ("e₁", "e₂", "−e₁", "−e₂"))),
        "start": {k: f"start of {k}" for k in SCALES},
    },
    size=(3.8, 2.7),
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Growth at the rate λ, delays between neurons, and the end of training."""
    scale = scales_of(ds)
    last = scale.isel(time=-1)
    ratio = last.max("neuron", skipna=False) / last.min("neuron", skipna=False)
    # Time 48, the end of the published code's first 12 epochs.
    grown = scale.isel(time=12) / scale.isel(time=0)
    rate = np.log(grown.max("neuron", skipna=False)) / float(ds["time"][12])
    own = own_rate(ds)
    grows = "early growth rate of the largest neuron over its sample's λ, farthest"
    late = "delay to the neuron before at scale 1/10 over 8 ln σ/σ', farthest"
    turns = "angle of a neuron with its own axis, largest over time (rad)"
    even = "largest scale over smallest at the end"
    early = f"{PAPER}, theorem of the early phase, T₁ = (1/λ) ln(r/σ)"
    radius = f"{PAPER}, section 5: the neurons stay within the radius of a cluster"
    first, figures = f"{PAPER}, figure 1", f"{PAPER}, figures 1, 6 and 7"
    angle, loss = ds["angular_deviation"], ds["train_loss"].isel(time=-1)
    off = {"tolerance": TOLERANCE}
    # With radius r of the clusters λ lies in (1 − 2r … 1 + r)/8: half of each cluster
    # of the other label is seen, at a distance of at most r from the hyperplane.
    r = float(ds["clip"])
    slow, fast = 1 / (1 - 2 * r), 1 / (1 + r)
    return [
        farthest_of(grows, rate / own, 1.0, (0.999, 1.001), early, **off),
        farthest_of(late, _delays(scale), 1.0, (fast, slow), figures, **off),
        largest_of(turns, angle, (0.0, 0.01), radius, **off),
        largest_of("loss at the end, largest", loss, (0, 1e-12), first, **off),
        largest_of(even, ratio, (1.0, 1.001), first, **off),
    ]


def _delays(scale: xr.DataArray) -> np.ndarray:
    """Times between neurons at scale 1/10, over those of growth at the rate 1/8."""
    log = scale.copy(data=np.log(scale.values))
    reached = first_passage(log, float(np.log(0.1)))
    first = log.isel(time=0)
    order = (-first).transpose(..., "neuron").values.argsort(axis=-1)
    time, start = (
        np.take_along_axis(v.transpose(..., "neuron").values, order, axis=-1)
        for v in (reached, first)
    )
    return np.diff(time, axis=-1) / (-8 * np.diff(start, axis=-1))
