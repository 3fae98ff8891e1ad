"""Principal components of images: large ones first, in ReLU and linear networks.

Linear and ReLU networks learn images in nearly the same order.  Images that few of the
first principal components classify come first.  In the paper, accuracy through the
first components alone peaks early in training, before the network relies on the others;
on digits this effect is small.  Controls: white inputs, whose components all have one
size, and inputs whose smallest components are amplified, for which the paper says that
early stopping gains more.

Reference: Hacohen & Weinshall (2022), JMLR 23(155), sections 4 and 5, of CIFAR-10 and
other images; digits, sizes and the amplified components are ours.
"""

from typing import Literal, get_args

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.analysis.at import at
from simbias.claims import mean_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Index
from simbias.datasets.vision.images import Source, images
from simbias.experiment_presets import presets
from simbias.experiments._times import log_times
from simbias.experiments.linear._principal import PAPER, isotropic_layers
from simbias.figures import Curves, Panels, Points
from simbias.flows import Descent
from simbias.losses import cross_entropy
from simbias.measures import CorrectRows, CriticalComponent, ProjectedAccuracy
from simbias.networks import DeepLinear, Mlp
from simbias.validation.sample import one_of
from simbias.validation.values import positive_integer

Inputs = Literal["raw", "white", "amplified"]
Network = Literal["linear", "relu"]
AXES = ("inputs", "network", "start")
RATE = 0.2
# Components below this share of the largest variance are not changed.
LEAST = 1e-3
# Of the others, the smallest fifth gets the variance of this component.
SHARE, LIKE = 5, 10
NAMES = {"linear": "linear", "relu": "ReLU"}
# Components that are kept, few of all, in the claims.
FEW = 5


def make(
    key: PRNGKeyArray,
    *,
    inputs: Inputs = "raw",
    network: Network = "linear",
    m: int = 64,
    start: Index = 0,
    n: int = 300,
    n_test: int = 400,
    source: Source = "digits",
    data_dir: str = "",
) -> tuple[Dataset, AbstractNetwork]:
    """Images, their largest variance 1, and a network of two layers.

    Args:
        key: of the sample and of the networks.
        inputs: "raw"; "white", every component of the training sample divided by its
            standard deviation; or "amplified", the smallest fifth of the components as
            large as the tenth, none made smaller.  Components below 0.001 are not
            changed.
        network: "linear", or "relu", with a first layer √2 times as large.
        m: width of the hidden layer.
        start: number of the network; accessibility is over several on one sample.
        n: samples.
        n_test: test samples.
        source: name of the image dataset.
        data_dir: folder with the files of MNIST, CIFAR-10 or Fashion-MNIST.

    Raises:
        ValueError: for an unknown name, or a size out of range.
    """
    one_of("inputs", inputs, get_args(Inputs))
    one_of("network", network, get_args(Network))
    positive_integer("m", m)
    key_data, key_start = jax.random.split(key)
    data = images(key_data, n=n, n_test=n_test, source=source, data_dir=data_dir)
    frame, factors = _components(data.x, inputs)
    change = frame.T * factors[None] @ frame
    test = data.test
    assert test is not None
    test = Dataset(test.x @ change, test.y, test.weight, test.mean, frame)
    data = Dataset(data.x @ change, data.y, data.weight, data.mean, frame, test)
    d, classes = data.x.shape[1], data.y.shape[1]
    layers = isotropic_layers(jax.random.fold_in(key_start, start), (d, m, classes))
    if network == "linear":
        return data, DeepLinear(layers)
    return data, Mlp((2**0.5 * layers[0], layers[1]), (None, None))


def _components(
    x: Float[Array, "n d"], inputs: Inputs
) -> tuple[Float[Array, "d d"], Float[Array, " d"]]:
    """Components as rows, largest first, and the factor of each."""
    values, vectors = jnp.linalg.eigh(x.T @ x / x.shape[0])
    values, frame = values[::-1], vectors.T[::-1]
    values = values / values[0]
    is_seen = values > LEAST
    if inputs == "white":
        new = jnp.where(is_seen, 1, values)
    elif inputs == "amplified":
        place, seen = jnp.arange(len(values)), jnp.sum(is_seen)
        is_small = is_seen & (place >= seen - seen // SHARE)
        new = jnp.where(is_small, jnp.maximum(values, values[LIKE - 1]), values)
    else:
        new = values
    safe = jnp.where(is_seen, values, 1)
    size = jnp.sqrt(jnp.mean(jnp.sum(x * frame[:1], axis=1) ** 2))
    return frame, jnp.where(is_seen, jnp.sqrt(new / safe), 1) / size


experiment = presets(
    Experiment(
        name="principal_components_images",
        make=make,
        cell={
            "inputs": get_args(Inputs),
            "network": get_args(Network),
            "start": tuple(range(10)),
        },
        seeds=12,
        shared=("inputs", "network", "start"),
        flow=Descent(rate=RATE),
        loss=cross_entropy,
        times=log_times(RATE, 1500 * RATE, 24),
        measures={"right": CorrectRows(), "projected": ProjectedAccuracy()},
        final={"critical": CriticalComponent()},
        dtype="float32",
    ),
    smoke={
        "cell": {"network": "linear", "m": 16, "start": 0, "n": 60, "n_test": 40},
        "seeds": 2,
        "times": log_times(RATE, 50 * RATE, 6),
    },
    paper={
        "cell": {
            "source": "cifar10",
            "m": 1024,
            "n": 20_000,
            "n_test": 5000,
            "inputs": "raw",
        }
    },
)


def accessibility(ds: xr.Dataset) -> xr.DataArray:
    """Share of networks and of time, evenly in t, with the correct class of a row."""
    span = float(ds["time"][-1] - ds["time"][0])
    return ds["right"].mean("start", skipna=False).integrate("time") / span


def needed(ds: xr.Dataset) -> xr.DataArray:
    """Components that a row needs, median over networks that classify it correctly.

    NaN for a row without such a network.
    """
    return ds["critical"].median("start")


def correlation(one: xr.DataArray, two: xr.DataArray) -> xr.DataArray:
    """Pearson's, over the rows with both values."""
    is_known = one.notnull() & two.notnull()
    return xr.corr(one.where(is_known), two.where(is_known), "row")


def gain(accuracy: xr.DataArray) -> xr.DataArray:
    """Best accuracy over time less that at the end.

    Computed from the mean over networks, and never below 0.
    """
    seen = accuracy.mean("start", skipna=False)
    return seen.max("time", skipna=False) - seen.isel(time=-1)


def _through(inputs: str) -> Curves:
    """Accuracy through the first components."""
    return Curves(
        lambda part: part["projected"].sel(first=part["first"].isin((1, 5, 10, 64))),
        of=lambda ds: at(ds, "inputs", inputs).isel(time=slice(1, None)),
        colour="first",
        pooled=("start",),
        title=f"{inputs}: test accuracy",
        xscale="log",
        ylim=(0, 1),
    )


figure = Panels(
    Points(
        accessibility,
        of=lambda ds: ds.isel(inputs=np.isin(ds["inputs"], ("raw", "white"))),
        x=needed,
        colour="inputs",
        title="accessibility of an image",
        xlabel="first components that are needed",
        xscale="log",
    ),
    *map(_through, get_args(Inputs)),
    rows="network",
    names={"network": NAMES},
    size=(4.2, 3.6),
    legend="inside",
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Order of images, accuracy through few components, and early stopping."""
    raw = at(ds, "inputs", "raw")
    pair = [accessibility(at(raw, "network", kind)) for kind in ("linear", "relu")]
    text, source = (
        "raw: correlation of accessibility, ReLU and linear",
        f"{PAPER}: 0.85",
    )
    rows = [mean_of(text, correlation(*pair), (0.75, 1), f"{source}; band ours")]
    for kind, name in NAMES.items():
        rows += _of_network(at(ds, "network", kind), name)
    return rows


def through_few(ds: xr.Dataset) -> xr.DataArray:
    """Test accuracy through the first `FEW` components."""
    return ds["projected"].sel(first=FEW)


def through_all(ds: xr.Dataset) -> xr.DataArray:
    """Test accuracy through all components."""
    return ds["right"].mean("row", skipna=False)


def _of_network(part: xr.Dataset, name: str) -> list[Claim]:
    raw, white, amplified = (at(part, "inputs", k) for k in get_args(Inputs))
    need, of_white = (correlation(accessibility(k), needed(k)) for k in (raw, white))
    text = f"accuracy through the first {FEW}, best less end"
    source = f"{PAPER}; band ours"
    linked = f"{name}, raw: correlation of accessibility and components needed"
    control = f"{name}, raw less white: correlation of accessibility and need"
    stopped = f"{name}: what stopping early gains, amplified less raw"
    falls = [gain(through_few(part)) for part in (raw, white)]
    more = gain(through_all(amplified)) - gain(through_all(raw))
    return [
        mean_of(f"{name}, raw: {text}", falls[0], (0.05, 1), source),
        # Never below 0 by definition, so a lower end would say nothing.
        mean_of(f"{name}, white: {text}", falls[1], (-np.inf, 0.05), source),
        mean_of(linked, need, (-1, -0.8), f"{PAPER}: −0.93; band ours"),
        mean_of(control, need - of_white, (-2, 0), "ours"),
        mean_of(stopped, more, (0, 1), PAPER),
    ]
