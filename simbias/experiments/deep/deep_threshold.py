"""The optimisation threshold in deeper ReLU networks: does it exist, and where.

Networks with 2 or more matrices, without biases, learn a noisy linear teacher from a
small initialisation under the exact flow.  Beyond some n, two-layer networks from a
vanishing initialisation end at one least-squares regression on each side of the
teacher, and fit no more of the noise (`threshold`).  We measure the train error minus
that of these two regressions, and the share of the sizes that are interpolated.

The initialisation scale λ depends on the depth L, such that all networks leave 0 at
about the same time T: λ = e^{(1−T)/2} for L = 2, and T^{−1/(L−2)} for L > 2
(`deep_alignment`).

The control is L = 2: there the train error must be that of the two regressions.

Reference: Boursier & Flammarion (2024), arXiv:2410.02348, prove the threshold for two
layers.  The question for more layers, and all sizes, are ours.
"""

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jax.core import Tracer
from jaxtyping import PRNGKeyArray

from simbias.analysis.at import at
from simbias.claims import Claims, difference_of, median_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.datasets import gaussian_teacher
from simbias.errors import BadInput
from simbias.experiment_presets import presets
from simbias.experiments._times import log_times
from simbias.experiments.deep._depths import check_depth
from simbias.figures import Curves, Law, Panels, Points
from simbias.flows import DeepReluFlow
from simbias.losses import half_mse
from simbias.measures import (
    FirstLayerAlignment,
    SlidingPairs,
    StableRanks,
    TestRisk,
    TrainRisk,
    TwoGroupGap,
)
from simbias.networks import mlp
from simbias.results import is_finished
from simbias.stops import TrainRiskBelow
from simbias.theory.two_group import two_group_threshold
from simbias.validation.values import positive

AXES = ("depth", "waiting", "n")
END = 150.0
# Of T, for two layers.
LONGEST = 1400
# A network interpolates if its train error is below this share of σ².
INTERPOLATED = 0.01
OURS = "ours: diversity survives an escape by blow-up"
THEOREM = "arXiv:2410.02348, theorem 2; band ours"


def make(
    key: PRNGKeyArray,
    *,
    n: int,
    depth: int = 3,
    d: int = 5,
    m: int = 10,
    sigma: Real = 0.3,
    waiting: Real = 10.0,
    n_test: int = 1000,
) -> tuple[Dataset, AbstractNetwork]:
    """A noisy linear teacher, and a network without biases from a small start.

    Args:
        key: random key.
        n: samples to train on.
        depth: matrices of the network, 2 or more.
        d: entries of an input.
        m: width of the hidden layers.
        sigma: standard deviation of the noise of the targets.
        waiting: T, about the time at which networks leave 0.  It gives the factor λ of
            the initial weights, N(0, 2λ²/inputs); 1 is λ = 1.
        n_test: samples of the test set.

    Raises:
        ValueError: for fewer than 2 matrices, or a T that is not positive, or so large
            that λ is 0.
    """
    check_depth(depth)
    positive("waiting", waiting)
    if depth == 2 and not isinstance(waiting, Tracer) and waiting > LONGEST:
        raise BadInput(
            f"`waiting` must be at most {LONGEST} for 2 matrices, as λ = e^((1 − T)/2) "
            f"is 0 in floating point beyond, got {waiting}. Example: waiting=40."
        )
    if depth == 2:
        scale = jnp.exp((1 - waiting) / 2)
    else:
        scale = jnp.asarray(waiting) ** (-1 / (depth - 2))
    key_data, key_network = jax.random.split(key)
    data = gaussian_teacher(key_data, n=n, d=d, sigma=sigma, n_test=n_test)
    widths = (d, *[m] * (depth - 1), 1)
    return data, mlp(key_network, widths, scale=scale, has_bias=False)


experiment = presets(
    Experiment(
        name="deep_threshold",
        make=make,
        cell={"depth": (2, 3, 4), "n": (10, 20), "waiting": (40.0,), "m": 30},
        seeds=6,
        shared=("depth", "waiting"),
        pad_to=20,
        flow=DeepReluFlow(rtol=1e-4, max_steps=4000, max_sliding=96),
        loss=half_mse,
        times=log_times(1.0, END, 20),
        measures={
            "train_risk": TrainRisk(),
            "test_risk": TestRisk(),
            "two_group_gap": TwoGroupGap(),
            "pairs": SlidingPairs(),
            "alignment": FirstLayerAlignment("weights.0"),
        },
        final={"stable_rank": StableRanks()},
        # A hundredth of what counts as interpolated, at σ = 0.3.
        stop=TrainRiskBelow(1e-5),
    ),
    smoke={
        "cell": {"depth": (2, 3), "n": (8, 20), "m": 4, "waiting": (10.0,)},
        "seeds": 2,
        "times": log_times(1.0, 30.0, 6),
    },
    paper={
        "cell": {"n": (10, 20, 40, 80, 160), "waiting": (1.0, 40.0, 160.0), "m": 50},
        "flow": DeepReluFlow(rtol=1e-4),
        "seeds": 20,
        "pad_to": 160,
        "times": log_times(1.0, 1000.0, 24),
    },
)


def numbers(ds: xr.Dataset) -> xr.Dataset:
    """Final values for the claims, and errors over σ² in time."""
    last, variance = ds.isel(time=-1), ds["sigma"] ** 2
    is_fitted = last["train_risk"] < INTERPOLATED * variance
    return ds.assign(
        gap=last["two_group_gap"] / variance,
        error=ds["train_risk"] / variance,
        excess=ds["two_group_gap"] / variance,
        fitted=is_fitted.astype(float).where(is_finished(ds)),
        first=ds["stable_rank"].isel(layer=0),
    )


def _largest(name: str) -> Callable[[xr.Dataset], xr.DataArray]:
    """A number at the largest n and the largest T."""
    return lambda ds: at(at(ds[name], "n", max), "waiting", max)


_in_time = partial(Curves, colour="depth", xlabel="time", xscale="log", xlim=(5, None))
_at_end = partial(Points, x="depth", is_joined=False, xlabel="layers")
figure = Panels(
    _in_time(_largest("error"), ylabel="train error over σ²", yscale="log"),
    _in_time(
        _largest("excess"),
        ylabel="train error − two regressions, over σ²",
        ylim=(-1, 4),
        laws=(Law(0),),
    ),
    _at_end(_largest("gap"), ylabel="at the end, over σ²", laws=(Law(0),)),
    _at_end(_largest("first"), ylabel="stable rank of the first layer"),
    of=numbers,
    across=2,
    names={"depth": "layers"},
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Networks against two regressions, and deeper ones against two layers."""
    seen, out = at(numbers(ds), "waiting", max), []
    needs = {f"t ≥ {END:g}": float(ds["time"][-1]) >= END}
    n, d = int(ds["n"].values[-1]), int(ds["d"])
    needs[f"n > {two_group_threshold(d):.3g}"] = n > two_group_threshold(d)
    near = d / (2 * n)
    text = "train error − that of two regressions, over σ²"
    two = at(seen, "depth", 2)
    share = lambda of: of["fitted"].mean("n", skipna=False)
    largest = lambda name, of: at(of[name], "n", max)
    row = median_of(f"control: {text}", largest("gap", two), (-near, near), THEOREM)
    out += Claims(needs, f"2 layers, n = {n}").rows(row)
    for depth in [k for k in ds["depth"].values.tolist() if k > 2]:
        deep = at(seen, "depth", depth)
        rank, of_two = largest("first", deep), largest("first", two)
        fitted = "share of the sizes n that are interpolated, less that with 2 layers"
        directions = "stable rank of the first layer"
        more = f"{directions}, less that with 2 layers"
        out += Claims(needs, f"{depth} layers, n = {n}").rows(
            median_of(text, largest("gap", deep), (-np.inf, -near), OURS),
            median_of(directions, rank, (1.01, np.inf), OURS),
            difference_of(more, rank, of_two, (0, np.inf), OURS),
            difference_of(fitted, share(deep), share(two), (0, 1), OURS),
        )
    return out
