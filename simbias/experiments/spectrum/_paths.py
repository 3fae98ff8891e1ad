"""Images with some wrong training labels, and high frequencies on a path."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.core import AbstractNetwork, Dataset, Real
from simbias.datasets.vision.images import SHAPE, Source, images
from simbias.errors import BadInput
from simbias.measures.spectrum.path_spectrum import Kind, PathSpectrum, Sample
from simbias.networks import torch_default
from simbias.numerics.spectrum import times_counted
from simbias.validation.values import positive_integer

CLASSES = 10
# Periods there and back above which a frequency is called high: four on the way.
HIGH = 8
Q = "path_frequency"


def make(
    key: PRNGKeyArray,
    *,
    noise: Real = 0.0,
    n: int = 1000,
    n_test: int = 500,
    m: int = 128,
    depth: int = 2,
    source: Source = "digits",
    data_dir: str = "",
) -> tuple[Dataset, AbstractNetwork]:
    """Images in ten classes, some labels wrong in training alone, and a network.

    The true class is the likeliest, as long as noise is below 1 − 1/classes.

    Args:
        key: random key.
        noise: share of the training labels that are another class, drawn uniformly.
        n: samples.
        n_test: images of the test sample, with their true classes.
        m: width.
        depth: hidden layers.
        source: name of the images, as for `simbias.datasets.vision.images`.
        data_dir: folder with the files of MNIST or CIFAR-10.

    Raises:
        ValueError: for a name or number out of range, or fewer than two images, between
            which there is no path.
    """
    key_data, key_network = jax.random.split(key)
    for name, size in (("n", n), ("n_test", n_test)):
        positive_integer(name, size)
        if size < 2:
            raise BadInput(f"`{name}` must be 2 or more, to have a path, got {size}.")
    data = images(
        key_data, n=n, n_test=n_test, source=source, noise=noise, data_dir=data_dir
    )
    assert data.test is not None
    true = jnp.argmax(data.test.mean, axis=1)
    hot = jax.nn.one_hot(true, CLASSES, dtype=data.y.dtype)
    data = dataclasses.replace(data, test=dataclasses.replace(data.test, y=hot))
    d = int(np.prod(SHAPE[source]))
    return data, torch_default(key_network, d=d, m=m, depth=depth, k=CLASSES)


def closed_paths(
    points: int,
    pairs: int,
    kind: Kind = "all",
    sample: Sample = "test",
    has_mean: bool = False,
) -> PathSpectrum:
    """A_q along paths there and back between images."""
    return PathSpectrum(points, pairs, kind, True, False, sample, has_mean)


def open_paths(points: int, pairs: int, kind: Kind) -> PathSpectrum:
    """A_q along paths from one image to another, with the mean, q = 0."""
    return PathSpectrum(points, pairs, kind, is_relative=False, has_mean=True)


def epochs(ds: xr.Dataset, rate: float, batch: int) -> xr.DataArray:
    """Epochs at the recorded times."""
    return (ds["time"] * batch / (rate * ds["n"])).round()


def high_power(power: xr.DataArray) -> xr.DataArray:
    """Ln Σ A_q over the high frequencies."""
    return xr.ufuncs.log(_high(power))


def high_share(power: xr.DataArray) -> xr.DataArray:
    """Ln of the high frequencies' share of all power without the mean, q = 0."""
    return xr.ufuncs.log(
        _high(power) / power.sel({Q: slice(1, None)}).sum(Q, skipna=False)
    )


def high_ratio(power: xr.DataArray, above: int) -> xr.DataArray:
    """Ln Σ exp R_q over q > `above`, R_q = ln(A_q/Σ A) of all N frequencies.

    Args:
        power: A_q for q = 0, …, N/2, N even.
        above: the last frequency that is not high.
    """
    n = 2 * (power.sizes[Q] - 1)
    counted = power * xr.DataArray(times_counted(power[Q].values, n), dims=Q)
    high = counted.sel({Q: slice(above + 1, None)}).sum(Q, skipna=False)
    return xr.ufuncs.log(high / counted.sum(Q, skipna=False))


def _high(power: xr.DataArray) -> xr.DataArray:
    return power.sel({Q: slice(HIGH + 1, None)}).sum(Q, skipna=False)
