"""Deep linear networks learn the principal components of their inputs in order.

Early in training a wide network W = W_L ⋯ W_1 changes as one matrix would, L times as
fast, if its layers are near an isometry.  In each step the distance of the j-th column
to that of least squares is multiplied by λⱼ = 1 − ηLd_j.  The column is that along the
j-th principal component, and d_j is the variance there.  So large components come
first, at a time ∝ 1/d_j, and networks of an ensemble agree on them first.  The squared
error of this law falls like 1/m; for L = 1 there is no error.

The variant `controls` asks what the order needs.  If inputs and initialisation are
rotated together, training is the same: it does not depend on the axes.  On white inputs
no component comes first.  Shuffled labels lie on small components as much as on large
ones, so they are learned more slowly, but not on white inputs.  A ReLU network follows
the order early, measured on the product of its matrices.

Reference: Hacohen & Weinshall (2022), JMLR 23(155), sections 2 to 4; there Glorot
starts and width 1024, here starts for which E[A_l] = E[B_l] = 1.
"""

import dataclasses
from typing import Literal, get_args

import jax
import xarray as xr
from jaxtyping import PRNGKeyArray
from matplotlib.figure import Figure

from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Index, Real
from simbias.datasets import principal_classes
from simbias.experiment_presets import presets
from simbias.experiments.linear import _principal_controls, _principal_law
from simbias.experiments.linear._principal import (
    RATE,
    check_components,
    in_frame,
    isotropic_layers,
)
from simbias.flows import Descent
from simbias.losses import half_mse
from simbias.measures import PrincipalColumns, ProductColumns, ScaleMatrices
from simbias.networks import DeepLinear, Mlp
from simbias.validation.sample import one_of
from simbias.validation.values import positive_integer

Inputs = Literal["raw", "rotated", "white"]
Labels = Literal["true", "shuffled"]
Network = Literal["linear", "relu"]


def make(
    key: PRNGKeyArray,
    *,
    inputs: Inputs = "raw",
    labels: Labels = "true",
    network: Network = "linear",
    depth: int = 2,
    m: int = 256,
    start: Index = 0,
    n: int = 40,
    d: int = 20,
    classes: int = 2,
    exponent: Real = 1.0,
) -> tuple[Dataset, AbstractNetwork]:
    """A sample, the same for every network of a seed, and a network.

    Args:
        key: of the sample and of the networks.
        inputs: "raw"; "rotated" into the principal components, with the first layer; or
            "white", every component divided by its standard deviation.
        labels: "true", or "shuffled" among the samples.
        network: "linear", or "relu", with hidden layers √2 times as large.
        depth: L, number of matrices, 1 to 4.
        m: width of the hidden layers.
        start: number of the network; the spread is over several on one sample.
        n: samples, d or more.
        d: inputs, 3 or more.
        classes: K, outputs.
        exponent: variances are d_j = j^−exponent.
    """
    one_of("inputs", inputs, get_args(Inputs))
    one_of("labels", labels, get_args(Labels))
    one_of("network", network, get_args(Network))
    one_of("depth", str(depth), [str(k) for k in range(1, 5)])
    positive_integer("m", m)
    check_components(d)
    key_data, key_start, key_labels = jax.random.split(key, 3)
    data = principal_classes(key_data, n=n, d=d, classes=classes, exponent=exponent)
    widths = (d, *[m] * (depth - 1), classes)
    layers = isotropic_layers(jax.random.fold_in(key_start, start), widths)
    data, layers = in_frame(inputs, data, layers)
    if labels == "shuffled":
        y = jax.random.permutation(key_labels, data.y)
        data = dataclasses.replace(data, y=y, mean=y)
    if network == "linear":
        return data, DeepLinear(layers)
    hidden = tuple(2**0.5 * w for w in layers[:-1])
    return data, Mlp((*hidden, layers[-1]), (None,) * depth)


def _times(end: float) -> tuple[float, ...]:
    steps = [*range(10), *range(10, 100, 5), *range(100, round(end / RATE) + 1, 20)]
    return tuple(round(RATE * s, 10) for s in steps)


experiment = presets(
    Experiment(
        name="principal_components",
        make=make,
        cell={"depth": (1, 2, 3), "m": (64, 128, 256), "start": tuple(range(10))},
        seeds=12,
        shared=("inputs", "labels", "network", "depth", "m", "start"),
        flow=Descent(rate=RATE),
        loss=half_mse,
        times=_times(20.0),
        measures={"columns": PrincipalColumns(), "scale_matrices": ScaleMatrices()},
        final={"optimum": PrincipalColumns(of_target=True)},
    ),
    smoke={
        "cell": {"depth": 2, "m": (16, 32), "start": (0, 1, 2)},
        "seeds": 6,
        "times": _times(10.0),
    },
    paper={"cell": {"m": (64, 256, 1024), "start": tuple(range(20))}, "seeds": 20},
    controls={
        "cell": {
            "inputs": get_args(Inputs),
            "labels": get_args(Labels),
            "network": get_args(Network),
            "depth": 2,
            "m": 128,
            "start": tuple(range(5)),
        },
        "times": tuple(round(RATE * s, 10) for s in (*range(20), *range(20, 201, 4))),
        "measures": {"columns": PrincipalColumns(), "product": ProductColumns()},
    },
    controls_smoke={
        "cell": {"network": "linear", "m": 8, "start": (0, 1)},
        "seeds": 1,
        "times": _times(20.0),
    },
    controls_paper={"cell": {"m": 1024, "start": tuple(range(5))}, "seeds": 50},
)


def _read_by(ds: xr.Dataset):
    """What reads a result, by what was measured."""
    return _principal_controls if "product" in ds else _principal_law


def AXES(ds: xr.Dataset) -> tuple[str, ...]:
    """Axes of the law, or of its controls."""
    return _read_by(ds).AXES


def figure(ds: xr.Dataset) -> Figure:
    """Times and agreement; of the controls, times by component and by loss."""
    return _read_by(ds).figure(ds)


def claims(ds: xr.Dataset) -> list[Claim]:
    """By depth; of the controls by network; means over samples."""
    return _read_by(ds).claims(ds)
