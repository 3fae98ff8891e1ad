"""Diverse pairs: a second network without the directions of the first errs elsewhere.

A network from a small initialisation depends on its main directions P alone.  A second
network is trained on P⊥x, and so has to use the other features.  Together the two are
wrong less often than two networks trained on the same inputs, also under noise.  The
control: the second network, from the same initialisation, is trained on x itself.

One coordinate is linear, but noise inside the margin for a tenth of the rows.  Each of
the others has five slabs and determines the class.  `make` trains the first network,
for as long as the run trains the second ones.

Reference: Morwani, Batra, Jain & Netrapalli (2023), arXiv:2302.00457, OrthoP; the law,
sizes and noise are ours.
"""

import jax
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.claims import Claims
from simbias.core import Claim, Dataset, Experiment, Real
from simbias.datasets import slabs
from simbias.experiment_presets import presets
from simbias.experiments.shortcuts._low_dim_pairs import (
    GIVEN,
    STEPS,
    Pairs,
    claims_of_pairs,
    pair_scores,
    pairs_on,
)
from simbias.figures import Panels
from simbias.flows import Descent
from simbias.losses import logistic
from simbias.measures import PairScores

AXES: tuple[str, ...] = ()
RATE = 0.2
# Noise at which the pairs are compared: half the gap between two slabs, and one gap.
COMPARED = (0.1, 0.2)


def make(
    key: PRNGKeyArray,
    *,
    scale: Real = 0.1,
    noise: Real = 0.1,
    n: int = 2000,
    d: int = 10,
    m: int = 100,
    n_test: int = 1000,
) -> tuple[Dataset, Pairs]:
    """A sample with its labels twice; the first network is trained here.

    Args:
        key: random key of the sample and of the networks.
        scale: λ of all networks.
        noise: share of rows whose linear coordinate is noise.
        n: samples.
        d: coordinates, 3 or more: two are the directions of P.
        m: neurons of each network, even.
        n_test: test samples.
    """
    key_data, key_networks = jax.random.split(key)
    data = slabs(key_data, n=n, d=d, noise=noise, n_test=n_test)
    return pairs_on(data, key_networks, m=m, scale=scale, rate=RATE)


experiment = presets(
    Experiment(
        name="low_dim_pair",
        make=make,
        cell={"scale": 0.1},
        seeds=20,
        shared=("scale",),
        flow=Descent(rate=RATE),
        loss=logistic,
        times=(0.0, *(STEPS * RATE / 2**k for k in range(4, -1, -1))),
        measures={"scores": PairScores(GIVEN)},
        dtype="float32",
    ),
    smoke={"cell": {"n": 100, "d": 4, "m": 8, "n_test": 100}, "seeds": 6},
    paper={"cell": {"d": 50, "n": 10_000, "m": 1000}, "seeds": 50},
)


figure = Panels(
    pair_scores("second", title="test accuracy of the second"),
    pair_scores("pair", title="test accuracy of the pair"),
    pair_scores("shared", title="errors of the first, shared", ylim=(0, 1.03)),
    of=lambda ds: ds.assign(pairs=ds["scores"].isel(time=-1)),
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """The second network learns, makes other errors, and the pair is more robust."""
    late = float(ds["time"][-1]) >= STEPS * RATE and int(ds["n"]) >= 2000
    found = claims_of_pairs(ds["scores"].isel(time=-1), COMPARED)
    return Claims(needs={f"t ≥ {STEPS * RATE:g}, n ≥ 2000": late}).rows(*found)
