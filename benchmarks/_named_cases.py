"""The smallest problems known on which an event can be told wrong."""

import jax
import numpy as np
from _cases import Case, D, M, N

from simbias.datasets import symmetric_separable
from simbias.experiments import max_margin
from simbias.networks.two_layer_init import balanced


def named_cases() -> list[Case]:
    """All of them."""
    return [
        *(coincident_pair(order) for order in ((0, 1, 2), (1, 0, 2))),
        *(mirrored(seed) for seed in range(8)),
        *(separable(seed) for seed in range(4)),
        *(dying(seed) for seed in range(4, 12)),
        *(vanishing(seed) for seed in range(4)),
    ]


def _case(name, kinds, x, y, w, a, slope=0.0, loss="half_mse", **more) -> Case:
    x, y, w, a = (np.asarray(v, float) for v in (x, y, w, a))
    y, a = y.reshape(len(y), -1), a.reshape(len(a), -1)
    # Those that fit take the program of the random cases.
    n, m, d = max(N, len(x)), max(M, len(w)), max(D, x.shape[1])
    pad = lambda v, *shape: np.pad(
        v, [(0, s - r) for s, r in zip(shape, v.shape, strict=True)]
    )
    weight = (np.arange(n) < len(x)).astype(float)
    x, y, w, a = pad(x, n, d), pad(y, n, 1), pad(w, m, d), pad(a, m, 1)
    return Case(name, kinds, x, y, weight, w, a, None, slope, loss, **more)


def coincident_pair(order: tuple[int, ...]) -> Case:
    """One neuron and one hyperplane, on which two samples pull against each other."""
    i = list(order)
    x = np.array([[1.0, 0], [1, 0], [-0.25, 1]])[i]
    y = np.array([-1.0, 0.5, 1])[i]
    name = "coincident-" + "".join(map(str, order))
    w, a = [[1e-3, 2e-3]], [np.sqrt(5) * 1e-3]
    return _case(name, ("duplicates_relabelled",), x, y, w, a, time=8.0)


def mirrored(seed: int) -> Case:
    """Every sample with its mirror image (−x, −y)."""
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal((4, 3)), rng.standard_normal(4)
    w = 1e-2 * rng.standard_normal((8, 3))
    a = np.linalg.norm(w, axis=1) * rng.choice([-1.0, 1.0], 8)
    x, y = np.concatenate([x, -x]), np.concatenate([y, -y])
    return _case(f"mirrored-{seed}", ("mirror_images",), x, y, w, a, time=20.0)


def separable(seed: int) -> Case:
    """A small network of the experiment max_margin: a sample that is its own mirror."""
    key = jax.random.key(seed)
    data = symmetric_separable(key, n=20, d=5, margin=0.3)
    net = balanced(key, m=20, d=5, scale=1e-2)
    arrays, kinds = (data.x, data.y, net.w, net.a), ("symmetric_separable",)
    name, slope = f"max_margin-{seed}", max_margin.SLOPE
    return _case(name, kinds, *arrays, slope, "logistic", time=40.0)


def dying(seed: int) -> Case:
    """Few samples and many neurons, many of which leave them all."""
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal((4, 3)), rng.standard_normal(4)
    w = 1e-4 * rng.standard_normal((100, 3))
    a = np.linalg.norm(w, axis=1) * rng.choice([-1.0, 1.0], 100)
    kinds = ("dead",)
    return _case(f"dying-{seed}", kinds, x, y, w, a, time=100.0, rtol=1e-4)


def vanishing(seed: int) -> Case:
    """|a| > |w|, every sample pushes back: w arrives at 0, where all planes meet."""
    rng = np.random.default_rng(seed)
    d = 2 + seed % 2
    x = rng.standard_normal((8, d))
    w = 0.3 * rng.standard_normal((2, d))
    return _case(
        f"vanishing-{seed}", ("w_to_0",), x, -np.ones(8), w, [1.0, 0.8], time=20.0
    )
