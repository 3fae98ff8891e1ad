"""Images some of whose labels are wrong in training, and what is high on a path."""

import dataclasses
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.checks.values import positive_integer
from simbias.core import AbstractMeasure, Dataset, Real
from simbias.datasets.vision.images import Source, images
from simbias.errors import BadInput
from simbias.measures.spectrum.path_spectrum import PathSpectrum

CLASSES = 10
# Periods there and back above which a frequency is called high: four on the way.
HIGH = 8
Q = "path_frequency"


def wrong_in_training(
    key: PRNGKeyArray,
    *,
    noise: Real,
    n: int,
    n_test: int,
    source: Source,
    data_dir: str,
) -> Dataset:
    """Images in ten classes; those of the test sample are the true ones.

    The true class is the likeliest, as long as noise is below 1 − 1/classes.

    Raises:
        ValueError: as `simbias.datasets.vision.images`, or for fewer than two images,
            between which there is no path.
    """
    for name, size in (("n", n), ("n_test", n_test)):
        positive_integer(name, size)
        if size < 2:
            raise BadInput(f"`{name}` must be 2 or more, to have a path, got {size}.")
    data = images(
        key, n=n, n_test=n_test, source=source, noise=noise, data_dir=data_dir
    )
    assert data.test is not None
    true = jnp.argmax(data.test.mean, axis=1)
    hot = jax.nn.one_hot(true, CLASSES, dtype=data.y.dtype)
    return dataclasses.replace(data, test=dataclasses.replace(data.test, y=hot))


class TrainingPaths(AbstractMeasure):
    """A_q along paths between images of the training sample, labels as they are.

    Args:
        paths: which, as between images of a test sample.
    """

    paths: PathSpectrum
    dims: ClassVar[tuple[str, ...]] = PathSpectrum.dims

    def coords(self) -> dict[str, np.ndarray]:
        """As those of the measure of a test sample."""
        return self.paths.coords()

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " q"]:
        """What `paths` gives of a test sample, if this is the training sample."""
        return self.paths(network, dataclasses.replace(data, test=data))


def high_power(power: xr.DataArray) -> xr.DataArray:
    """Ln Σ A_q over the high frequencies."""
    return xr.ufuncs.log(_high(power))


def high_share(power: xr.DataArray) -> xr.DataArray:
    """Ln of the high frequencies' share of all power, ln Σ exp R_q."""
    return xr.ufuncs.log(_high(power) / power.sum(Q, skipna=False))


def _high(power: xr.DataArray) -> xr.DataArray:
    return power.sel({Q: slice(HIGH + 1, None)}).sum(Q, skipna=False)
