"""Sensitivity at initialisation: low for transformers, not for LSTMs.

The sensitivity S(f) of a function on {−1, +1}ⁿ is the share of bits that change it when
they are flipped.  It is 0 for a constant, 1/n for one bit, ½ for a random function and
1 for the parity of all bits.  Networks have random weights of an initial law and are
never trained.  Transformers lie far below LSTMs, and the gap grows with the weights.  A
multilayer perceptron with large weights lies between.

One evaluation on the whole cube is enough: the neighbours of a string follow from its
number.

Reference: Bhattamishra, Patel, Kanade & Blunsom (2023), arXiv:2211.12316, section 4,
where n = 5 … 20; its numbers are not used here.
"""

from typing import get_args

import jax
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.analysis.at import at
from simbias.claims import Claims, difference_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment
from simbias.datasets import parity
from simbias.experiment_presets import presets
from simbias.experiments.sensitivity._networks import NAMES, Kind, Law, network_of
from simbias.figures import Curves, Panels
from simbias.figures import Law as Level
from simbias.flows import Descent
from simbias.losses import logistic
from simbias.measures import DegreeWeights, Sensitivity

AXES = ("network", "law", "n")
PAPER = "Bhattamishra et al. (2023), arXiv:2211.12316, figure 2 (?)"


def make(
    key: PRNGKeyArray,
    *,
    network: Kind = "transformer",
    law: Law = "uniform",
    n: int = 10,
    width: int = 64,
    depth: int = 4,
) -> tuple[Dataset, AbstractNetwork]:
    """A random network of n bits; the sample is one string, as nothing is trained.

    Args:
        key: random key.
        network: "transformer", "lstm" or "mlp".
        law: law of the weights: "uniform" U(±10), "normal" of deviation 10, "xavier" or
            "default", that of torch; see `simbias.networks.transformer`.
        n: bits, 12 at most.
        width: entries of a state, or neurons of a hidden layer.
        depth: layers; of an LSTM two at most.
    """
    key_data, key_network = jax.random.split(key)
    drawn = network_of(key_network, network, n=n, width=width, depth=depth, law=law)
    return parity(key_data, n=1, d=n, k=1), drawn


experiment = presets(
    Experiment(
        name="random_sensitivity",
        make=make,
        cell={"network": get_args(Kind), "law": get_args(Law), "n": (5, 10)},
        seeds=20,
        flow=Descent(rate=0.1),
        loss=logistic,
        times=(0.0,),
        measures={"sensitivity": Sensitivity()},
        final={"weights": DegreeWeights()},
    ),
    smoke={"cell": {"law": "uniform", "n": 4, "width": 4, "depth": 1}, "seeds": 6},
    paper={"cell": {"n": (5, 6, 7, 8, 9, 10, 12)}, "seeds": 100},
)


def largest_n(ds: xr.Dataset) -> xr.DataArray:
    """Mean weight of each degree over the networks, at the largest n."""
    return ds["weights"].isel(n=-1).mean("seed")


figure = Panels(
    Curves(
        lambda ds: ds["sensitivity"].isel(time=0),
        colour="network",
        mark="o",
        x="n",
        xlabel="bits n",
        ticks=True,
        ylabel="sensitivity",
        ylim=(-0.02, 0.6),
        laws=(Level(0.5, "a random function", ":", "black"),),
    ),
    Curves(
        largest_n,
        colour="network",
        mark="o",
        x="degree",
        xlabel="degree k",
        ylabel="weight of degree k, largest n",
        ylim=(-0.02, 1.02),
    ),
    columns="law",
    names={"network": NAMES},
    title="median, 10–90 % of networks",
    size=(3.2, 3.0),
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Order of the sensitivities in every law."""
    top, seen = int(ds["n"][-1]), ds["sensitivity"].isel(time=0, n=-1)
    transformer, lstm, mlp = (at(seen, "network", k) for k in NAMES)
    apart, out = lstm - transformer, []
    for law in ds["law"].values:
        low, high, between = (v.sel(law=law) for v in (transformer, lstm, mlp))
        out += Claims(where=f"{law}, n = {top}").rows(
            difference_of("S of LSTM less transformer", high, low, (0, 1), PAPER),
            difference_of("S of MLP less transformer", between, low, (0, 1), "ours"),
        )
    large, small = at(apart, "law", "uniform"), at(apart, "law", "xavier")
    text = "LSTM less transformer, uniform law less xavier"
    row = difference_of(text, large, small, (0, 1), PAPER)
    return out + Claims(where=f"n = {top}").rows(row)
