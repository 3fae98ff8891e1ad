"""Lower layers settle first, and networks of two seeds share neurons.

How alike a layer's activations are to those it has at the end is measured by SVCCA and
by linear CKA, at epochs of training: the lower a layer, the sooner it is what it will
be.  Two networks that learn the same classes from different starts, on other batches,
have neurons in common, which a matching of one's to the other's finds; with a network
that learned another task, odd or even, there are fewer.

The measures come with what they must be: 1 for the same activations, the same after a
rotation (CCA: any invertible map), and for independent normal activations the mean ρ²
that chance gives, q/(n − 1).

Reference: Raghu, Gilmer, Yosinski & Sohl-Dickstein (2017), arXiv:1706.05806; Kornblith,
Norouzi, Lee & Hinton (2019), arXiv:1905.00414; Li et al. (2016), arXiv:1511.07543.
"""

import dataclasses
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float, PRNGKeyArray
from matplotlib.figure import Figure

from simbias.claims import difference, largest, mean, smallest
from simbias.core import AbstractMeasure, Claim, Dataset, Experiment
from simbias.datasets.vision.images import Source, images
from simbias.experiments.layers._digits import (
    BATCH,
    CLASSES,
    RATE,
    ClassAccuracy,
    N,
    input_size,
)
from simbias.experiments.layers._remembering import EPOCHS, remembering
from simbias.experiments.layers._side_by_side import (
    SideBySide,
    shared_cross_entropy,
    side_by_side,
    with_targets,
)
from simbias.figures.band import band
from simbias.figures.style import COLOURS, blank, style
from simbias.flows.descent import Descent
from simbias.measures._sample import second_sample
from simbias.networks.dense.mlp import mlp
from simbias.numerics.similarity import cka, matched_correlation, svcca
from simbias.presets import presets

SVCCA = "Raghu et al. (2017), arXiv:1706.05806"
CKA = f"{SVCCA}, of CKA as well: ours"
MATCHED = "Li et al. (2016), arXiv:1511.07543; the other task is ours"
KORNBLITH = "Kornblith et al. (2019), arXiv:1905.00414, section 2"
CHANCE = "E tr(PQ) = pq/(n − 1) of independent projections; the band is ours"
# What the claims are about: the final time of the smallest preset at least.
LEAST_TIME = 20.0
HIDDEN = 3
# What the figure and the claims read.
AXES = ()
_LAYERS = np.arange(1, HIDDEN + 1)
_INDICES = np.array(["SVCCA", "CKA"])
_OTHERS = np.array(["same task", "another task"])
# Independent normal activations: draws, rows, columns of the one side and the other.
_DRAWS, _N, _P, _Q = 8, 400, 50, 100


def make(
    key: PRNGKeyArray,
    *,
    n: int = N,
    n_test: int = 597,
    m: int = 128,
    source: Source = "digits",
    data_dir: str = "",
    verify: bool = True,
) -> tuple[Dataset, SideBySide]:
    """Images, and three networks: two learn the classes, one which are odd.

    The first of them remembers.
    """
    keys = jax.random.split(key, 5)
    data = images(
        keys[0], n=n, n_test=n_test, source=source, data_dir=data_dir, verify=verify
    )
    assert data.test is not None
    odd = lambda y: jax.nn.one_hot(jnp.argmax(y, 1) % 2, CLASSES, dtype=y.dtype)
    same, other = (data.y, data.test.y), (odd(data.y), odd(data.test.y))
    data = with_targets(data, same, other)
    widths = (input_size(source), *[m] * HIDDEN, CLASSES)
    first, second, third = (mlp(k, widths) for k in keys[1:4])
    return _with_normal(data, keys[4]), side_by_side(
        remembering(first, n), second, third
    )


def _with_normal(data: Dataset, key: PRNGKeyArray) -> Dataset:
    """The sample, and beside it normal numbers, in rows as long as its own."""
    d = data.x.shape[1]
    rows = -(-_DRAWS * _N * (_P + _Q) // d)
    x, y = jax.random.normal(key, (rows, d), jnp.float64), jnp.zeros_like(data.y[:1])
    y, one = jnp.repeat(y, rows, axis=0), jnp.ones(rows)
    normal = {"normal": Dataset(x, y, one, y, data.features)}
    return dataclasses.replace(data, others=normal)


def hidden(network: Any, data: Dataset) -> Float[Array, "layer n m"]:
    """Activations of all hidden layers, in double precision where it is on."""
    double = lambda v: v.astype(jnp.result_type(float))
    network = jax.tree.map(double, network)
    layers = jax.vmap(lambda x: jnp.stack(network.activations(x)))(double(data.x))
    return jnp.moveaxis(layers, 1, 0)


class EpochSimilarity(AbstractMeasure):
    """SVCCA and CKA of every hidden layer at epoch τ with itself now, on the test set.

    NaN for an epoch to come.
    """

    dims: ClassVar[tuple[str, ...]] = ("index", "layer", "epoch")

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "2 layer epoch"]:
        """Similarities in [0, 1]; the first of the networks remembers."""
        test, one = second_sample(data), network.networks[0]
        weight = test.weight.astype(jnp.result_type(float))
        now = hidden(one.network, test)

        def of_layer(pair: tuple[Array, Array]) -> Float[Array, "2"]:
            then, now = pair
            return jnp.stack([svcca(then, now, weight), cka(then, now, weight)])

        def at(then: Any) -> Float[Array, "layer 2"]:
            return jax.lax.map(of_layer, (hidden(then, test), now))

        return jnp.moveaxis(jax.lax.map(at, one.then()), 0, 2).swapaxes(0, 1)

    def coords(self) -> dict[str, np.ndarray]:
        """Indices, hidden layers from 1, epochs."""
        return {"index": _INDICES, "layer": _LAYERS, "epoch": np.array(EPOCHS)}


class MatchedCorrelation(AbstractMeasure):
    """Mean correlation of the first network's neurons with their partners, by layer.

    Of the network of the same task, and of that of another; on the test set.
    """

    dims: ClassVar[tuple[str, ...]] = ("other", "layer")

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "2 layer"]:
        """Correlations in [−1, 1]."""
        test = second_sample(data)
        weight = test.weight.astype(jnp.result_type(float))
        one, *others = network.networks
        mine = hidden(one.network, test)
        pairs = [(mine, hidden(other, test)) for other in others]
        both = jax.tree.map(lambda *v: jnp.concatenate(v), *pairs)
        matched = lambda pair: matched_correlation(pair[0], pair[1], weight)
        found = jax.lax.map(matched, both)
        return found.reshape(len(others), -1)

    def coords(self) -> dict[str, np.ndarray]:
        """The two tasks, hidden layers from 1."""
        return {"other": _OTHERS, "layer": _LAYERS}


class Identities(AbstractMeasure):
    """How far the similarities are from what they must be; 0 but for rounding.

    Of the last hidden layer then (at the start) and now.  The last entry is no error:
    mean ρ² of independent normal columns, over its expectation q/(n − 1).
    """

    dims: ClassVar[tuple[str, ...]] = ("identity",)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " identity"]:
        """Errors, and a ratio."""
        test, one = second_sample(data), network.networks[0]
        weight = test.weight.astype(jnp.result_type(float))
        start = jax.tree.map(lambda v: v[0], one.then())
        then, now = hidden(start, test)[-1], hidden(one.network, test)[-1]
        m = now.shape[1]
        turn, _ = jnp.linalg.qr(jax.random.normal(jax.random.key(1), (m, m), now.dtype))
        pairs = ((then, now), (3 * then @ turn, now), (now, now))
        stacked = tuple(map(jnp.stack, zip(*pairs, strict=True)))
        errors = []
        for index in (svcca, cka):
            plain, turned, same = jax.lax.map(
                lambda pair, index=index: index(pair[0], pair[1], weight), stacked
            )
            errors += [1 - same, turned - plain]
        mapped = now + now @ turn / 2
        errors.append(1 - svcca(mapped, now, weight, share=1.0))
        errors.append(1 - matched_correlation(now[:, ::-1], now, weight) / _alive(now))
        normal = data.others["normal"].x.astype(now.dtype).ravel()
        draws = normal[: _DRAWS * _N * (_P + _Q)].reshape(_DRAWS, _N, _P + _Q)

        def of_draw(x: Float[Array, "n pq"]) -> Float[Array, ""]:
            sides, one = (x[:, :_P], x[:, _P:]), jnp.ones_like(x[:, 0])
            return svcca(*sides, one, share=1.0, is_squared=True)

        rho = jnp.mean(jax.lax.map(of_draw, draws))
        return jnp.stack([*map(jnp.abs, errors), rho * (_N - 1) / _Q])

    def coords(self) -> dict[str, np.ndarray]:
        """What each is."""
        names = [f"{k}, {of}" for k in _INDICES for of in ("of itself", "turned")]
        names += ["CCA, mapped", "matching, permuted", "chance"]
        return {"identity": np.array(names)}


def _alive(h: Float[Array, "n m"]) -> Float[Array, ""]:
    """Share of the neurons that vary."""
    return jnp.mean(jnp.ptp(h, axis=0) > 0, dtype=h.dtype)


def _times(steps: int, last: int) -> tuple[float, ...]:
    """Clock at the start, and after the last epoch of so many steps."""
    return (0.0, RATE * steps * last)


def _descent(batch: int) -> Descent:
    """Every network draws rows of its own."""
    return Descent(
        rate=RATE, batch=3 * batch, optimiser="momentum", sampling="replacement"
    )


experiment = presets(
    Experiment(
        name="layer_similarity",
        make=make,
        cell={"m": 128},
        seeds=20,
        flow=_descent(BATCH),
        loss=shared_cross_entropy,
        times=_times(N // BATCH, 100),
        measures={
            "accuracy": ClassAccuracy(),
            "matched_correlation": MatchedCorrelation(),
        },
        final={
            "similarity": EpochSimilarity(),
            "identities": Identities(),
        },
        dtype="float32",
    ),
    smoke={"cell": {"n": 200, "m": 32}, "seeds": 6, "times": _times(4, 100)},
    paper={
        "cell": {"m": 256, "n": 60_000, "n_test": 10_000, "source": "mnist"},
        "flow": _descent(128),
        "times": _times(469, 100),
    },
)


def figure(ds: xr.Dataset) -> Figure:
    """Similarity with the end by epoch and layer; what matching finds in common."""
    with style():
        whole = blank(12.0, 3.6)
        panels = whole.subplots(1, 3)
        places = np.arange(len(EPOCHS))
        for axes, index in zip(panels, _INDICES, strict=False):
            for i, layer in enumerate(_LAYERS):
                values = ds["similarity"].sel(index=index, layer=layer)
                label = f"{layer}"
                band(axes, places, values, "o-", colour=COLOURS[i], label=label, ms=4)
            axes.set_xticks(places, [str(epoch) for epoch in EPOCHS])
            axes.set_xlabel("epoch")
            axes.set_title(f"{index} with the same layer at the end")
        panels[0].legend(loc="lower right", title="hidden layer")
        matched = ds["matched_correlation"]
        for i, other in enumerate(_OTHERS):
            values, colour = matched.sel(other=other), COLOURS[(5, 3)[i]]
            for time, line, when in ((-1, "o-", ""), (0, "o:", ", at the start")):
                place = (panels[2], _LAYERS, values.isel(time=time), line)
                band(*place, colour=colour, label=f"{other}{when}", ms=4)
        panels[2].set_xticks(_LAYERS)
        panels[2].set_xlabel("hidden layer")
        panels[2].set_title("correlation of matched neurons")
        panels[2].legend()
    return whole


def claims(ds: xr.Dataset) -> list[Claim]:
    """Lower layers are nearer their end, seeds share neurons, identities hold."""
    train = ds["accuracy"].isel(time=-1).sel(sample="train")
    out = [smallest("training accuracy, smallest", train, 0.99, 1.0, "ours")]
    # Between the start and the last of the epochs.
    way = ds["similarity"].isel(epoch=slice(1, -1)).mean("epoch", skipna=False)
    for index, source in zip(_INDICES, (SVCCA, CKA), strict=True):
        for lower, upper in zip(_LAYERS, _LAYERS[1:], strict=False):
            text = (
                f"{index} with the end, epochs 1 to 40: layer {lower} − layer {upper}"
            )
            one, other = (way.sel(index=index, layer=k) for k in (lower, upper))
            out.append(difference(text, one, other, 0.0, 1.0, source))
    for layer in _LAYERS:
        shared = ds["matched_correlation"].sel(layer=layer)
        same, other = (shared.sel(other=k) for k in _OTHERS)
        text = f"matched correlation, same task − another task, layer {layer}"
        out.append(
            difference(text, same.isel(time=-1), other.isel(time=-1), 0.0, 1.0, MATCHED)
        )
        text = f"control: the same at the start, layer {layer}"
        out.append(
            difference(text, same.isel(time=0), other.isel(time=0), -0.02, 0.02, "ours")
        )
    found = ds["identities"]
    for name in found["identity"].values[:-1]:
        error = found.sel(identity=name)
        out.append(largest(f"error of {name}, largest", error, 0.0, 1e-6, KORNBLITH))
    chance = found.sel(identity="chance")
    text = "independent columns: mean ρ²·(n − 1)/q"
    return [*out, mean(text, chance, 0.99, 1.01, CHANCE)]
