"""Two classes: balls, or the digits 0 and 1."""

import dataclasses
from typing import Literal, get_args

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from simbias.core import Dataset
from simbias.datasets import blobs
from simbias.datasets.vision.images import SHAPE, images
from simbias.errors import BadInput
from simbias.validation.sample import one_of

Source = Literal["blobs", "digits", "mnist"]
SOURCES = get_args(Source)
# Digits 0 and 1 among the first 1200 of scikit-learn's; of MNIST's, more.
_STOCK, _MOST = {"digits": 1200, "mnist": 60_000}, {"digits": 200, "mnist": 12_000}


def two_classes(
    key: PRNGKeyArray, source: Source, n: int, d: int, data_dir: str = ""
) -> Dataset:
    """A sample with labels ±1, which are +1 for the digit 1; `d` is of the blobs.

    Raises:
        ValueError: for a source that is not known, or a size out of range.
    """
    one_of("source", source, SOURCES)
    if source == "blobs":
        return blobs(key, n=n, d=d)
    if n > _MOST[source]:
        raise BadInput(
            f"`n` must be at most {_MOST[source]:,}, of the digits 0 and 1 of "
            f'"{source}", got {n:,}.'
        )
    data = images(key, n=_STOCK[source], n_test=1, source=source, data_dir=data_dir)
    is_taken = (data.y[:, 0] + data.y[:, 1]) > 0
    rows = jnp.argsort(~is_taken, stable=True)[:n]
    y = data.y[rows, 1:2] - data.y[rows, :1]
    return dataclasses.replace(
        data, x=data.x[rows], y=y, weight=jnp.ones(n), mean=y, test=None
    )


def inputs(source: str, d: int) -> int:
    """Number of inputs: d for blobs, the pixels of an image otherwise."""
    return d if source == "blobs" else SHAPE[source][1] * SHAPE[source][2]
