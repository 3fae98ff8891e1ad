"""A sample and a network that fit each other, refused by name if they do not."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from simbias.core import AbstractNetwork, Dataset
from simbias.errors import BadInput
from simbias.introspection.trained_arrays import split_trained, unknown_frozen
from simbias.validation.arrays import check_arrays
from simbias.validation.experiment import check_static


def made(pair: Any) -> tuple[Dataset, Any]:
    """What `make` returned.

    Raises:
        ValueError: unless it is a sample and a network.
    """
    if isinstance(pair, tuple) and len(pair) == 2:
        data, network = pair
        if isinstance(data, Dataset) and callable(network):
            check_arrays("data", data)
            check_arrays("network", network)
            return data, network
    of = lambda v: type(v).__name__
    got = f"({', '.join(map(of, pair))})" if isinstance(pair, tuple) else of(pair)
    raise BadInput(
        f"`make` must return (Dataset, network), got {got}. Example: return data, "
        "balanced(key, m=m, d=d)."
    )


_AS_BUFFER = (
    "Use a Buffer, which is not trained. Example: a field mask: Buffer without "
    "static=True, set to simbias.core.Buffer(array) and read as self.mask.value."
)
_IN_TRAINING = (
    ". A network is called with one input and no key. Call the dropout with "
    "inference=True there, and write a method in_training(x, key) that passes the key: "
    'the flow "descent" uses it in training.'
)
_STATE = (
    ". A network is called with one input and no state. Use eqx.nn.LayerNorm or "
    "eqx.nn.GroupNorm, or write a method on_sample(x, weight), as "
    "simbias.networks.resnet does."
)
_ADVICE = {
    eqx.nn.Dropout: _IN_TRAINING,
    eqx.nn.BatchNorm: _STATE,
    eqx.nn.SpectralNorm: _STATE,
}


def check_loss(loss: Any, data: Any) -> None:
    """Refuse a loss that is no mean over the sample.

    Raises:
        ValueError: if it does not take (prediction, target, weight), or returns
            anything but one real number.
    """
    like = lambda v: jax.ShapeDtypeStruct(v.shape, v.dtype)
    y, weight = like(data.y), like(data.weight)
    example = "Example: def loss(prediction, target, weight), a mean over samples."
    try:
        value = eqx.filter_eval_shape(loss, y, y, weight)
    except TypeError as error:
        why = str(error).splitlines()[0]
        raise BadInput(f"`loss` cannot be computed: {why}. {example}") from error
    is_array = isinstance(value, jax.ShapeDtypeStruct)
    if not is_array or value.shape or not jnp.issubdtype(value.dtype, jnp.floating):
        seen = f"{value.dtype}{list(value.shape)}" if is_array else repr(value)
        raise BadInput(f"`loss` must return one real number, got {seen}. {example}")


def check_fit(network: Any, data: Any) -> None:
    """Refuse a network that cannot be trained on a sample.

    Raises:
        ValueError: for an empty sample, sizes of inputs or outputs that differ, a
            network without arrays, or one of ours with a number in place of one.
    """
    if isinstance(network, eqx.Module):
        check_static("the network", network, _AS_BUFFER)
    for name in ("x", "y", "weight", "mean", "features"):
        if not hasattr(getattr(data, name), "shape"):
            raise BadInput(
                f"`data.{name}` must be an array, got {getattr(data, name)!r}. "
                f"Example: jnp.asarray({name})."
            )
        if not jnp.issubdtype(getattr(data, name).dtype, jnp.floating):
            raise BadInput(
                f"`data.{name}` must hold real numbers, got {getattr(data, name).dtype}"
                f". Example: {name}.astype(float)."
            )
    if data.x.ndim != 2 or data.x.shape[0] == 0:
        raise BadInput(
            "`data.x` must have the shape (n, d), with n at least 1, got "
            f"{data.x.shape}. Example: x[:, None] for numbers."
        )
    n = data.x.shape[0]
    expected = {"y": (n, *data.y.shape[1:2]), "mean": data.y.shape, "weight": (n,)}
    for name, shape in expected.items():
        found = getattr(data, name).shape
        if found != shape or (name == "y" and len(found) != 2):
            raise BadInput(
                f"`data.{name}` has the shape {found}, but there are {n} samples "
                f"`data.x`, and `data.y` has the shape {data.y.shape}. y and mean must "
                "be (n, k), weight (n,)."
            )
    if data.features.shape[1:] != data.x.shape[1:]:
        raise BadInput(
            f"`data.features` has the shape {data.features.shape}. It must have rows "
            f"of {data.x.shape[1]} coordinates, as `data.x` has."
        )
    further = {f"others[{name!r}]": other for name, other in data.others.items()}
    if data.test is not None:
        further["test"] = data.test
    for whose, sample in further.items():
        for name in ("x", "y"):
            one, other = getattr(sample, name).shape, getattr(data, name).shape
            if one[1:] != other[1:]:
                raise BadInput(
                    f"`data.{whose}.{name}` has the shape {one}, and `data.{name}` has "
                    f"{other}: all but the number of rows must agree."
                )
    _check_fresh(data)
    _check_outputs(network, data)
    _check_leaves(network)


def _has_advice(value: Any) -> bool:
    return type(value) in _ADVICE


def _check_fresh(data: Any) -> None:
    if data.fresh is None:
        return
    example = "Example: an eqx.Module with arrays and `__call__(self, key, rows)`."
    if not all(map(eqx.is_array, jax.tree.leaves(data.fresh))):
        raise BadInput(
            "`data.fresh` must be a module whose fields are arrays, got "
            f"{data.fresh!r}. "
            f"{example}"
        )
    draw = lambda key: data.fresh(key, 3)
    try:
        found = eqx.filter_eval_shape(draw, jax.random.key(0))
        shapes = [part.shape for part in found]
    except (TypeError, ValueError, AttributeError) as error:
        raise BadInput(
            "`data.fresh` cannot be called with a key and a number of rows: "
            f"{str(error).splitlines()[0]}. {example}"
        ) from error
    if any(jnp.issubdtype(part.dtype, jnp.complexfloating) for part in found):
        raise BadInput("`data.fresh` must return real numbers, got complex ones.")
    expected = [(3, *data.x.shape[1:]), (3, *data.y.shape[1:])]
    if shapes != expected:
        raise BadInput(
            "`data.fresh`, called for 3 rows, must return x and y of shapes "
            f"{expected}, got {shapes}."
        )


def _check_outputs(network: Any, data: Any) -> None:
    x = jax.ShapeDtypeStruct(data.x.shape[1:], data.x.dtype)
    try:
        found = eqx.filter_eval_shape(network, x)
    except Exception as error:  # of any kind: it was written for other calls
        why = (str(error).strip() or repr(error)).splitlines()[0].rstrip(".")
        held = jax.tree.leaves(network, is_leaf=_has_advice)
        advice = "".join(_ADVICE[type(v)] for v in held if _has_advice(v))
        of_shapes = isinstance(error, (TypeError, ValueError)) and not advice
        does = "does not take" if of_shapes else "cannot be called with"
        raise BadInput(
            f"the network {does} inputs of {data.x.shape[1]} coordinates, which "
            f"`data.x` has: {why}{advice}"
        ) from error
    if not isinstance(found, jax.ShapeDtypeStruct):
        raise BadInput(
            "the network must return an array of shape (k,) for one input, got a "
            f"{type(found).__name__}."
        )
    if jnp.issubdtype(found.dtype, jnp.complexfloating):
        raise BadInput(
            f"the network must return real numbers, got {found.dtype}. Example: return "
            "output.real."
        )
    if found.shape != data.y.shape[1:]:
        advice = (
            " Return one output as (1,): jnp.stack([output]), or out_size=1 and not "
            '"scalar" for eqx.nn.MLP.'
        )
        raise BadInput(
            f"the network has outputs of shape {found.shape}, but the targets `data.y` "
            f"have the shape {data.y.shape[1:]}.{advice if found.shape == () else ''}"
        )


def _check_leaves(network: Any) -> None:
    for path, leaf in jax.tree_util.tree_leaves_with_path(network):
        where = jax.tree_util.keystr(path)
        # Of Equinox's own modules a number is a constant; one of ours may mean either.
        is_number = isinstance(leaf, (int, float, complex)) and type(leaf) is not bool
        if is_number and isinstance(network, AbstractNetwork):
            raise BadInput(
                f"the network holds {leaf!r} at `{where}`, which is not an array. For "
                "a constant, declare the field as eqx.field(static=True). For a weight "
                "that is trained, use an array. Example: jnp.asarray(0.1)."
            )
        if isinstance(leaf, (jax.Array, np.ndarray)) and leaf.size == 0:
            raise BadInput(
                f"the network holds an empty array at `{where}`, of shape "
                f"{leaf.shape}: every layer must have at least one neuron."
            )
    for name in unknown_frozen(network):
        raise BadInput(
            f"`frozen` of the network names {name!r}, which it does not have. "
            "Example: frozen=('a',), or ('weights.0',) for the first of a tuple."
        )
    if not jax.tree.leaves(split_trained(network)[0]):
        raise BadInput(
            f"the network, a {type(network).__name__}, has nothing to train: it must "
            "hold an array of real numbers that is not frozen. Example: "
            "eqx.nn.MLP(2, 1, 50, 1, key=key)."
        )
