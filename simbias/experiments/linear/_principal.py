"""Linear networks in the frame of the principal components of their sample."""

import dataclasses
from itertools import accumulate, pairwise

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.analysis.first_passage import first_passage
from simbias.analysis.half_time import half_time
from simbias.core import Dataset
from simbias.errors import BadInput
from simbias.validation.values import positive_integer

PAPER = "Hacohen & Weinshall (2022), JMLR 23(155)"
OURS = f"{PAPER}; band ours"
RATE = 0.1
NAMES = {"linear": "linear", "relu": "ReLU"}
Layers = tuple[Float[Array, "_ _"], ...]


def check_components(d: int) -> None:
    """Raise for fewer components than an order needs.

    Raises:
        ValueError: for a number below 3.
    """
    positive_integer("d", d)
    if d < 3:
        raise BadInput(f"`d` must be 3 or more, to be in an order, got {d}.")


def isotropic_layers(key: PRNGKeyArray, widths: tuple[int, ...]) -> Layers:
    """Gaussian matrices for which E[(W_l ⋯ W_1)ᵀ(W_l ⋯ W_1)] = 1 for every hidden l.

    Entries have variance 1 over the outputs of a layer, and over the inputs of the last
    one: then E[W_L W_Lᵀ] = 1 as well, and both factors of every gradient start at 1.
    """
    for size in widths:
        positive_integer("widths", size)
    shapes = [(p, q) for q, p in pairwise(widths)]
    sizes = [p * q for p, q in shapes]
    # One call for all layers: each call of a random generator is compiled.
    draws = jnp.split(
        jax.random.normal(key, (sum(sizes),), jnp.float64), list(accumulate(sizes))[:-1]
    )
    spread = [p for p, _ in shapes]
    spread[-1] = shapes[-1][1]
    return tuple(
        z.reshape(shape) * size**-0.5
        for z, shape, size in zip(draws, shapes, spread, strict=True)
    )


def in_frame(inputs: str, data: Dataset, layers: Layers) -> tuple[Dataset, Layers]:
    """Sample and layers "rotated" into its components, or the sample "white"."""
    x, frame = data.x, data.features
    if inputs == "rotated":
        x, frame = x @ frame.T, jnp.eye(x.shape[1])
        layers = (layers[0] @ data.features.T, *layers[1:])
    elif inputs == "white":
        along = x @ frame.T
        x = along / jnp.sqrt(jnp.mean(along**2, axis=0))[None] @ frame
    return dataclasses.replace(data, x=x, features=frame), layers


def law_of_columns(ds: xr.Dataset, rate: float) -> xr.DataArray:
    """wⱼ(s) = λⱼˢ wⱼ(0) + (1 − λⱼˢ) mⱼ/d_j, λⱼ = 1 − η L d_j, after s = t/η steps.

    L is the number of layers and mⱼ/d_j the least-squares column, `optimum` in the
    result.
    """
    columns, steps = ds["columns"], np.round(ds["time"] / rate)
    kept = (1 - rate * ds["depth"] * variances(ds)) ** steps
    start, end = columns.isel(time=0), ds["optimum"]
    return kept * start + (1 - kept) * end


def variances(ds: xr.Dataset) -> xr.DataArray:
    """d_j, by component."""
    j = np.arange(1, ds.sizes["component"] + 1)
    return xr.DataArray(j ** -float(ds["exponent"]), dims="component")


def half_times(ds: xr.Dataset) -> xr.DataArray:
    """Time at which a column is half way to the optimum; NaN if never."""
    gap = xr.ufuncs.sqrt(((ds["columns"] - ds["optimum"]) ** 2).sum("output"))
    return half_time(gap.where(ds["columns"].notnull().all("output")))


def own_half_times(ds: xr.Dataset) -> xr.DataArray:
    """Time at which a column of the product has made half of its own change."""
    way = ds["product"] - ds["product"].isel(time=0)
    end = way.isel(time=-1)
    along = (way * end).sum("output", skipna=False)
    return first_passage(along / (end**2).sum("output", skipna=False), 0.5)


def exponents_in_d(ds: xr.Dataset) -> xr.DataArray:
    """Slope of ln (mean time to half of wⱼ over networks) on ln d_j: −1 by the law."""
    times = xr.ufuncs.log(half_times(ds).mean("start", skipna=False))
    x = xr.ufuncs.log(variances(ds))
    x = x - x.mean()
    return (x * times).sum("component", skipna=False) / float((x**2).sum())
