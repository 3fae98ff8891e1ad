"""Two neurons of nearly equal weights, with the population loss over Gaussians."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jax.core import Tracer
from jaxtyping import Array, Float

from simbias.analysis.first_passage import first_passage
from simbias.core import Dataset, Real
from simbias.errors import BadInput
from simbias.networks import PopulationStudent, TwoLayer
from simbias.networks.activations import LeakyRelu, identity
from simbias.theory.two_neurons import gap
from simbias.validation.values import at_most_one, not_negative, positive_integer

# Half of the final gap: there the network has left the plateau.
ESCAPED = 0.25


def student(delta: Real, size: Real, slope: float | int) -> PopulationStudent:
    """From `start(delta, size)`, against e₁ and e₂; s = 0 is ReLU, 1 the identity.

    Output weights are 1 and not trained.

    Raises:
        ValueError: as `start`, and unless 0 ≤ s ≤ 1.
    """
    at_most_one("slope", slope)
    exact = lambda v: jnp.asarray(v, jnp.float64)
    phi = identity if slope == 1 else LeakyRelu(float(slope))
    one = exact(np.ones((2, 1)))
    return PopulationStudent(
        start(delta, size),
        one,
        TwoLayer(exact(np.eye(2)), one, activation=phi),
        exact(0.0),
        phi,
        frozen=("a", "teacher", "sigma"),
    )


def relu_student(delta: Real, size: Real, slope: float | int) -> TwoLayer:
    """From `start(delta, size)`, with ReLU, s = 0, and output weights that stay 1.

    Raises:
        ValueError: as `start`, and unless s = 0.
    """
    if slope != 0:
        raise BadInput(f"`slope` must be 0 on a lattice, which has ReLU, got {slope}.")
    w = start(delta, size)
    return TwoLayer(w, jnp.ones((2, 1), jnp.float64), frozen=("a",))


def start(delta: Real, size: Real) -> Float[Array, "2 2"]:
    """w₁ = (c + δ, c − δ) and w₂ = (c − δ, c + δ).

    Raises:
        ValueError: unless δ ≥ 0 and c > δ.
    """
    not_negative("delta", delta)
    not_negative("size", size)
    if not isinstance(delta + size, Tracer) and not delta < size:
        raise BadInput(f"`size` must be above `delta`, {delta}, got {size}.")
    signs = jnp.array([[1.0, -1.0], [-1.0, 1.0]], jnp.float64)
    return jnp.asarray(size, jnp.float64) + jnp.asarray(delta, jnp.float64) * signs


def circle(n: int, offset: Real = 0.5) -> Dataset:
    """Equispaced angles 2π(k + offset)/n on a circle of radius √2, and the teacher.

    For functions that are homogeneous of degree 2, such as (f − f*)², a mean over these
    angles is one over x ~ N(0, I), since E|x|² = 2.  y = (x₁)₊ + (x₂)₊; features e₁ and
    e₂.  One diagonal is the boundary of two equal neurons.  With offset 0 the diagonals
    are angles of the lattice; with ½ they lie midway between two angles.

    Raises:
        ValueError: unless n is a multiple of 8, so that both diagonals are mirrors, and
            the offset is 0 or more.
    """
    positive_integer("n", n)
    not_negative("offset", offset)
    if n % 8:
        raise BadInput(f"`n` must be a multiple of 8, got {n}. Example: n=4096.")
    angle = 2 * math.pi / n * (jnp.arange(n, dtype=jnp.float64) + offset)
    x = math.sqrt(2) * jnp.stack([jnp.cos(angle), jnp.sin(angle)], axis=1)
    y = jnp.sum(jax.nn.relu(x), axis=1, keepdims=True)
    return Dataset(x, y, jnp.ones(n, jnp.float64), y, jnp.eye(2, dtype=jnp.float64))


def gaps(ds: xr.Dataset) -> xr.DataArray:
    """The gap (w₁ − w₂)·(e₁ − e₂)/4, ½ at the solution."""
    turned = ds["weights"].isel(neuron=0) - ds["weights"].isel(neuron=1)
    return (turned.isel(input=0) - turned.isel(input=1)) / 4


def moved(ds: xr.Dataset) -> xr.Dataset:
    """The networks with a gap at the start."""
    return ds.sel(delta=ds["delta"] > 0)


def closed_form_gaps(ds: xr.Dataset) -> xr.DataArray:
    """The gap of the closed form at the times of a result, over δ and time."""
    times, size = ds["time"].values, float(ds["size"])
    rows = [gap(float(d), times, size) for d in ds["delta"].values]
    coords = {"delta": ds["delta"].values, "time": times}
    return xr.DataArray(np.reshape(rows, (-1, len(times))), coords, ("delta", "time"))


def escape_times(gap: xr.DataArray) -> xr.DataArray:
    """First time of a gap of ¼, linear in its logarithm between records, or NaN."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return first_passage(xr.apply_ufunc(np.log, gap), math.log(ESCAPED))


def quarters(final: float) -> tuple[float, ...]:
    """Times 0, ¼, ½, …, up to the final one."""
    return tuple(k / 4 for k in range(round(4 * final) + 1))


def own_and_other(weights: xr.DataArray) -> tuple[xr.DataArray, xr.DataArray]:
    """Weights of both neurons for the feature that each learns, and for the other."""
    own, other = (
        xr.concat([weights.isel(neuron=i, input=abs(i - k)) for i in (0, 1)], "neuron")
        for k in (0, 1)
    )
    return own, other
