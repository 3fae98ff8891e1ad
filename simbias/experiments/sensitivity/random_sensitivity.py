"""Random transformers are functions of low sensitivity, random LSTMs are not.

The sensitivity S(f) of a function on {−1, +1}ⁿ is the share of bits that change it when
they are flipped: 0 for a constant, 1/n for one bit, ½ for a random function, 1 for the
parity of all.  Networks are drawn from an initial law and never trained.  Transformers
lie far below LSTMs, the more so the larger their weights; a multilayer perceptron of
large weights lies between.

On the whole cube one evaluation tells everything: neighbours are found by their
number.

Reference: Bhattamishra, Patel, Kanade & Blunsom (2023), arXiv:2211.12316, section 4,
where n = 5 … 20; its numbers are not used here.
"""

from typing import get_args

import jax
import xarray as xr
from jaxtyping import PRNGKeyArray
from matplotlib.figure import Figure

from simbias.claims import difference_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment
from simbias.datasets.boolean.parity import parity
from simbias.experiments.sensitivity._networks import NAMES, Kind, Law, network_of
from simbias.figures.band import band
from simbias.figures.laws import law_level
from simbias.figures.legends import legend_beside
from simbias.figures.style import COLOURS, blank, style
from simbias.flows.descent import Descent
from simbias.losses import logistic
from simbias.measures.sensitivity.degree_weights import DegreeWeights
from simbias.measures.sensitivity.sensitivity import Sensitivity
from simbias.presets import presets

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
        law: of the weights: "uniform" U(±10), "normal" of deviation 10, "xavier" or
            "default", that of torch; see `simbias.networks.transformer`.
        n: bits, 12 at most.
        width: of a state or a hidden layer.
        depth: layers; of an LSTM two at most.

    Raises:
        ValueError: for a name that is not known, or a size out of range.
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
    smoke={
        "cell": {"law": "uniform", "n": 4, "width": 4, "depth": 1},
        "seeds": 6,
    },
    paper={"cell": {"n": (5, 6, 7, 8, 9, 10, 12)}, "seeds": 100},
)


def figure(ds: xr.Dataset) -> Figure:
    """Sensitivity against n, a panel per law; and the weight of every degree."""
    laws, kinds = ds["law"].values, [str(v) for v in ds["network"].values]
    with style():
        whole = blank(3.2 * len(laws) + 1.2, 6.0)
        panels = whole.subplots(2, len(laws), squeeze=False)
        top = ds.isel(n=-1)
        for (above, below), law in zip(panels.T, laws, strict=True):
            for kind, colour in zip(kinds, COLOURS, strict=False):
                seen = ds["sensitivity"].isel(time=0).sel(law=law, network=kind)
                text = NAMES[kind]
                band(above, ds["n"], seen, "o-", colour=colour, label=text, ms=4)
                weight = top["weights"].sel(law=law, network=kind).mean("seed")
                below.plot(ds["degree"], weight, "o-", color=colour, ms=4)
            law_level(above, 0.5)
            above.set(title=str(law), xlabel="bits n", ylim=(-0.02, 0.6))
            above.set_xticks(ds["n"].values)
            below.set(xlabel="degree k", ylim=(-0.02, 1.02))
        panels[0, 0].set_ylabel("sensitivity")
        panels[1, 0].set_ylabel(f"weight of degree k, n = {int(top['n'])}")
        legend_beside(panels[0, -1])
        whole.suptitle("median, 10–90 % of networks; dotted: a random function")
    return whole


def claims(ds: xr.Dataset) -> list[Claim]:
    """Who lies below whom in every law."""
    found = []
    seen, top = ds["sensitivity"].isel(time=0), int(ds["n"][-1])
    seen = seen.sel(n=top)
    kinds = {*ds["network"].values.tolist()}
    for law in ds["law"].values:
        part = seen.sel(law=law)
        pairs = (("lstm", "transformer", PAPER), ("mlp", "transformer", "ours"))
        for high, low, source in pairs:
            if {high, low} <= kinds:
                both = part.sel(network=high), part.sel(network=low)
                text = f"{law}, n = {top}: S of {NAMES[high]} less {NAMES[low]}"
                found.append(difference_of(text, *both, (0, 1), source))
    if {"lstm", "transformer"} <= kinds and {"uniform", "xavier"} <= {
        *ds["law"].values
    }:
        apart = seen.sel(network="lstm") - seen.sel(network="transformer")
        text = f"n = {top}: LSTM less transformer, uniform law less xavier"
        both = apart.sel(law="uniform"), apart.sel(law="xavier")
        found.append(difference_of(text, *both, (0, 1), PAPER))
    return found
