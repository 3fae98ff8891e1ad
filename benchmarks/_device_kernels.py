"""Are the kernels of a GPU right, and is the plain form there where they are not?"""

import functools
import warnings
from typing import Any
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np
from _on_device import Cases, Place

from simbias.losses import half_mse
from simbias.networks import _chosen_gradient
from simbias.networks._chosen_gradient import works_on_gpu
from simbias.networks._fused_gradient import fused_gradient
from simbias.networks.activations import ACTIVATIONS, negative_slope
from simbias.networks.two_layer import TwoLayer

_INPUTS, _OUTPUTS = 5, 1


def kernels(place: Place) -> Cases:
    """Every activation in both precisions, and a kernel that fails."""
    for dtype in ("float32", "float64"):
        for name in ACTIVATIONS:
            if place.is_smallest and (name, dtype) != ("relu", "float32"):
                continue
            yield (
                f"{name}, {dtype}",
                functools.partial(against_plain, place, name, dtype),
            )
    yield "a kernel that fails", functools.partial(falls_back, place)


def against_plain(place: Place, name: str, dtype: str) -> dict[str, Any]:
    """Largest relative difference, or why there is none; it is used only if small.

    Without CUDA they run in Pallas' interpreter.
    """
    is_cuda = has_cuda()
    activation = ACTIVATIONS[name]
    kind = (activation, negative_slope(activation) is not None, dtype)
    form = (
        fused_gradient if is_cuda else functools.partial(fused_gradient, interpret=True)
    )
    out: dict[str, Any] = {"is_interpreted": not is_cuda}
    bound = float(jnp.finfo(dtype).eps) ** 0.5
    try:
        with mock.patch.object(_chosen_gradient, "fused_gradient", form):
            gap = _chosen_gradient._gap(place.device, *kind, _INPUTS, _OUTPUTS)
        out |= {"distance": gap, "tolerance": bound}
        is_right = gap < bound
    except Exception as error:  # of any library below
        out["raised"] = f"{type(error).__name__}: {error}"[:300]
        is_right = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # why it is not is put down above
        out["is_used"] = works_on_gpu(*kind, _INPUTS, _OUTPUTS)
    out["holds"] = out["is_used"] == is_right if is_cuda else is_right
    return out


def falls_back(place: Place) -> dict[str, Any]:
    """One warning, and the bits of the plain form."""
    rng = np.random.default_rng(0)
    shapes = ((128, _INPUTS), (128, 1), (128, _INPUTS), (128, 1))
    w, a, x, y = (jnp.asarray(rng.standard_normal(shape)) for shape in shapes)

    def gradient(may_fuse: bool) -> list[np.ndarray]:
        network = TwoLayer(w, a, may_fuse=may_fuse)
        run = lambda network: network.value_and_gradient(half_mse, x, y, jnp.ones(128))
        with jax.default_device(place.device):
            return [np.asarray(v) for v in jax.tree.leaves(jax.jit(run)(network))]

    fails = mock.Mock(side_effect=RuntimeError("no such kernel"))
    works_on_gpu.cache_clear()
    with (
        warnings.catch_warnings(record=True) as said,
        mock.patch.object(_chosen_gradient, "fused_gradient", fails),
        # Who has no CUDA is asked as if this were it.
        mock.patch.object(jax, "local_devices", return_value=[place.device]),
    ):
        warnings.simplefilter("always")
        ours = gradient(may_fuse=True)
    works_on_gpu.cache_clear()
    pairs = zip(ours, gradient(may_fuse=False), strict=True)
    is_equal = all(one.tobytes() == other.tobytes() for one, other in pairs)
    texts = [str(one.message)[:300] for one in said]
    is_said = any("no such kernel" in text for text in texts)
    return {"warned": texts, "equal": is_equal, "holds": is_equal and is_said}


def has_cuda() -> bool:
    try:
        return bool(jax.local_devices(backend="cuda"))
    except RuntimeError:
        return False
