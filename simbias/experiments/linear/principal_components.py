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

The variant `images` has digits.  Linear and ReLU networks learn images in nearly the
same order.  Images that few of the first components classify come first.  In the paper,
accuracy through the first components alone peaks early in training, before the network
relies on the others; on digits this effect is small.  Controls: white inputs, and
inputs whose smallest components are amplified, for which the paper says that early
stopping gains more.

Reference: Hacohen & Weinshall (2022), JMLR 23(155), sections 2 to 5; there Glorot
starts, width 1024, CIFAR-10 and other images; here starts for which
E[A_l] = E[B_l] = 1.  Digits, sizes and the amplified components are ours.
"""

import dataclasses
from types import ModuleType
from typing import Literal, get_args

import jax
import xarray as xr
from jaxtyping import PRNGKeyArray
from matplotlib.figure import Figure

from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Index, Real
from simbias.datasets import principal_classes
from simbias.datasets.vision.images import Source as Images
from simbias.datasets.vision.images import images
from simbias.experiment_presets import presets
from simbias.experiments._times import log_times
from simbias.experiments.linear import (
    _principal_controls,
    _principal_images,
    _principal_law,
)
from simbias.experiments.linear._principal import (
    RATE,
    check_components,
    in_frame,
    isotropic_layers,
)
from simbias.flows import Descent
from simbias.losses import cross_entropy, half_mse
from simbias.measures import (
    CorrectRows,
    CriticalComponent,
    PrincipalColumns,
    ProductColumns,
    ProjectedAccuracy,
    ScaleMatrices,
)
from simbias.networks import DeepLinear, Mlp
from simbias.validation.sample import one_of
from simbias.validation.values import positive_integer

Source = Literal["classes", Images]
Inputs = Literal["raw", "rotated", "white", "amplified"]
Labels = Literal["true", "shuffled"]
Network = Literal["linear", "relu"]
# Inputs of classes, and of images.
FRAMES = ("raw", "rotated", "white")
OF_IMAGES = get_args(_principal_images.Inputs)


def make(
    key: PRNGKeyArray,
    *,
    source: Source = "classes",
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
    n_test: int = 400,
    data_dir: str = "",
) -> tuple[Dataset, AbstractNetwork]:
    """A sample, the same for every network of a seed, and a network.

    Args:
        key: of the sample and of the networks.
        source: "classes" on inputs of given variances, or the name of an image dataset.
        inputs: "raw"; "white", every component divided by its standard deviation; of
            classes also "rotated" into the components, with the first layer; of images
            also "amplified", the smallest fifth of the components as large as the
            tenth.  Components of images below 0.001 of the largest are not changed.
        labels: "true", or "shuffled" among the samples.
        network: "linear", or "relu", with hidden layers √2 times as large.
        depth: L, number of matrices, 1 to 4.
        m: width of the hidden layers.
        start: number of the network; the spread is over several on one sample.
        n: samples; of classes d or more.
        d: inputs, 3 or more; images have their own.
        classes: K, outputs; images have their own.
        exponent: variances of classes are d_j = j^−exponent.
        n_test: test samples of images.
        data_dir: folder with the files of MNIST, CIFAR-10 or Fashion-MNIST.
    """
    one_of("inputs", inputs, FRAMES if source == "classes" else OF_IMAGES)
    one_of("labels", labels, get_args(Labels))
    one_of("network", network, get_args(Network))
    one_of("depth", str(depth), [str(k) for k in range(1, 5)])
    positive_integer("m", m)
    key_data, key_start, key_labels = jax.random.split(key, 3)
    if source == "classes":
        check_components(d)
        data = principal_classes(key_data, n=n, d=d, classes=classes, exponent=exponent)
    else:
        data = images(key_data, n=n, n_test=n_test, source=source, data_dir=data_dir)
        data = _principal_images.in_components(inputs, data)
    widths = (data.x.shape[1], *[m] * (depth - 1), data.y.shape[1])
    layers = isotropic_layers(jax.random.fold_in(key_start, start), widths)
    if source == "classes":
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


# Their values are compared on one sample.
FACTORS = ("inputs", "labels", "network", "depth", "start")

experiment = presets(
    Experiment(
        name="principal_components",
        make=make,
        cell={"depth": (1, 2, 3), "m": (64, 128, 256), "start": tuple(range(10))},
        seeds=12,
        shared=("source", *FACTORS, "m", "n_test", "data_dir"),
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
            "inputs": FRAMES,
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
    images={
        "cell": {
            "source": "digits",
            "inputs": OF_IMAGES,
            "network": get_args(Network),
            "depth": 2,
            "m": 64,
            "start": tuple(range(10)),
            "n": 300,
        },
        "shared": (*FACTORS, "d", "classes", "exponent"),
        "flow": Descent(rate=0.2),
        "loss": cross_entropy,
        "times": log_times(0.2, 300.0, 24),
        "measures": {"right": CorrectRows(), "projected": ProjectedAccuracy()},
        "final": {"critical": CriticalComponent()},
        "dtype": "float32",
    },
    images_smoke={
        "cell": {"network": "linear", "m": 16, "start": 0, "n": 60, "n_test": 40},
        "seeds": 2,
        "times": log_times(0.2, 10.0, 6),
    },
    images_paper={
        "cell": {
            "source": "cifar10",
            "inputs": "raw",
            "m": 1024,
            "start": tuple(range(10)),
            "n": 20_000,
            "n_test": 5000,
        },
        "seeds": 12,
    },
)


def _read_by(ds: xr.Dataset) -> ModuleType:
    """What reads a result, by what was measured."""
    if "right" in ds:
        return _principal_images
    return _principal_controls if "product" in ds else _principal_law


def AXES(ds: xr.Dataset) -> tuple[str, ...]:
    """Axes of the law, of its controls, or of images."""
    return _read_by(ds).AXES


def figure(ds: xr.Dataset) -> Figure:
    """Times and agreement; of the controls, times by component and by loss.

    Of images, accessibility, and accuracy through the first components.
    """
    return _read_by(ds).figure(ds)


def claims(ds: xr.Dataset) -> list[Claim]:
    """By depth; of the controls by network; means over samples."""
    return _read_by(ds).claims(ds)
