"""Samples of several sizes in one program: rows of weight 0 make up the difference."""

import dataclasses

import jax.numpy as jnp

from simbias.core import Dataset


def bucket(n: int, least: int) -> int:
    """Padded sample size: n rounded up to a quarter of its power of two.

    A fixed function of n and what is least, which flow and experiment decide, so that
    what a member computes does not depend on the other sizes of the grid; at most a
    quarter is padding, or what is missing to the least.
    """
    unit = 2 ** max(n - 1, 8).bit_length() // 8
    return max(least, -(-n // unit) * unit)


def padded(data: Dataset, n: int) -> Dataset:
    """The sample with rows of weight 0 appended up to n rows (test left as it is)."""
    extra = n - data.x.shape[0]
    grow = lambda v: jnp.pad(v, [(0, extra)] + [(0, 0)] * (v.ndim - 1))
    return dataclasses.replace(
        data,
        x=grow(data.x),
        y=grow(data.y),
        weight=grow(data.weight),
        mean=grow(data.mean),
    )
