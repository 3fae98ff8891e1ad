"""Sensitivity after training: lower for transformers than LSTMs; wrong labels too.

Networks on strings of n bits are trained on some of the 2ⁿ strings and tested on the
others.  A transformer that has learned a parity of k bits has the sensitivity S = k/n,
and is right where labels were wrong.  An LSTM fits the wrong labels, and its S ends
nearer to ½, that of a random function.  Most LSTMs learn the parity of all bits, with S
= 1, and most transformers do not.

Tossed labels are the control: the class of a test string is random.  Some seeds learn a
parity and others do not, so the claims are about shares as well as means.  For ten bits
the sample is 39 % of all strings.  The variant `twenty_bits` trains LSTMs until they
fit 1000 of the 2²⁰ strings of twenty bits.

Reference: Bhattamishra, Patel, Kanade & Blunsom (2023), arXiv:2211.12316, sections 5
and 6, where n = 40, k = 4 and 30,000 strings; sizes, rate and steps are ours.
"""

import itertools
from collections.abc import Callable
from typing import Any, Literal, get_args

import jax
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.analysis.at import at
from simbias.claims import Claims, difference_of, mean_of, share_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.datasets import strings
from simbias.experiment_presets import presets
from simbias.experiments._times import after_steps, rate_of
from simbias.experiments.sensitivity._networks import NAMES, Kind, Law, network_of
from simbias.figures import Curves, Panels
from simbias.figures import Law as Level
from simbias.flows import Descent
from simbias.losses import logistic
from simbias.measures import Sensitivity, TestSignAccuracy, TrainSignAccuracy
from simbias.stops import TrainAccuracyAbove
from simbias.validation.sample import one_of

AXES = ("target", "network")
PAPER = "Bhattamishra et al. (2023), arXiv:2211.12316"
RATE = 3e-3
# What the claims are about.
STEPS = 2000
# Accuracies of networks that learned a parity, and of those near chance.
LEARNED, CHANCE = 0.95, 0.6
Target = Literal["sparse", "random", "full"]
TITLES = {
    "sparse": "parity of {k} bits, {flips:.0%} of labels wrong",
    "random": "tossed labels",
    "full": "parity of all bits",
}


def make(
    key: PRNGKeyArray,
    *,
    target: Target = "sparse",
    network: Kind = "transformer",
    n: int = 10,
    k: int = 3,
    rows: int = 400,
    flips: Real = 0.05,
    width: int = 16,
    depth: int = 2,
    law: Law = "default",
    heads: int = 1,
    n_test: int = 0,
) -> tuple[Dataset, AbstractNetwork]:
    """A sample of some strings, and a network that is to be trained on it.

    Args:
        key: random key.
        target: "sparse", the parity of k bits with wrong labels; "random", tossed
            ones; "full", the parity of all bits.
        network: "transformer", "lstm" or "mlp".
        n: bits; above 12 with `n_test`, and `Sensitivity(samples=…)`, as in "paper".
        k: relevant bits of "sparse".
        rows: training strings; the others are for the test.
        flips: share of wrong labels of "sparse".
        width: entries of a state, or neurons of a hidden layer.
        depth: layers; of an LSTM two at most.
        law: law of the initial weights; see `simbias.networks.transformer`.
        heads: heads of the transformer, a divisor of the width.
        n_test: strings of a test sample that is drawn, as is then the sample; 0 takes
            all strings that are not in the sample.
    """
    one_of("target", target, get_args(Target))
    key_data, key_network = jax.random.split(key)
    data = strings(
        key_data,
        rows=rows,
        n=n,
        target="random" if target == "random" else "parity",
        k=n if target == "full" else k,
        flips=flips if target == "sparse" else 0.0,
        n_test=n_test or None,
    )
    return data, network_of(
        key_network, network, n=n, width=width, depth=depth, law=law, heads=heads
    )


ACCURACIES = {
    "train_accuracy": TrainSignAccuracy(),
    "test_accuracy": TestSignAccuracy(),
}
experiment = presets(
    Experiment(
        name="sensitivity_training",
        make=make,
        cell={"target": get_args(Target), "network": get_args(Kind)},
        seeds=12,
        flow=Descent(optimiser="adam", rate=RATE, batch=64, clip=1.0),
        loss=logistic,
        times=after_steps(
            RATE, 0, 100, 200, 300, 400, 600, 800, 1000, 1300, 1600, STEPS
        ),
        measures={"sensitivity": Sensitivity(), **ACCURACIES},
        dtype="float32",
    ),
    smoke={
        "cell": {"network": "mlp", "n": 6, "rows": 32, "width": 8},
        "seeds": 6,
        "times": after_steps(RATE, 0, 200, STEPS),
    },
    paper={
        "cell": {"n": 40, "k": 4, "rows": 30_000, "n_test": 10_000, "flow.rate": 1e-3}
        | {"width": 64, "depth": 4, "heads": 4, "law": "xavier"},
        "seeds": 20,
        "flow": Descent(optimiser="adam", rate=1e-3, batch=500, clip=0.25),
        # 60 steps an epoch, 1500 epochs.
        "times": after_steps(1e-3, 0, 300, 1000, 3000, 10_000, 30_000, 90_000),
        "measures": {"sensitivity": Sensitivity(samples=1000), **ACCURACIES},
    },
    # A thousandth of all strings, and until the sample is fitted.
    twenty_bits={
        "cell": {"target": "sparse", "network": "lstm", "n": 20, "k": 4}
        | {"rows": 1000, "n_test": 2000, "flow.rate": 1e-2},
        "flow": Descent(optimiser="adam", rate=1e-2, batch=64, clip=1.0),
        "stop": TrainAccuracyAbove(0.99),
        "times": tuple(1e-2 * s for s in (0, 250, 500, 1000, 1500, 2000, 3000, 4000)),
        "measures": {"sensitivity": Sensitivity(samples=500), **ACCURACIES},
    },
    twenty_bits_smoke={"cell": {"n_test": 0}, "times": (0.0, 2.0, 20.0)},
)


def level_of(ds: xr.Dataset) -> xr.DataArray:
    """Sensitivity of the target of a part of the result."""
    return xr.DataArray(level(ds, str(ds["target"].item())))


figure = Panels(
    Curves(
        "sensitivity",
        colour="network",
        spread="each",
        ylabel="sensitivity S",
        ylim=(-0.03, 1.03),
        laws=(Level(level_of, "S of the target; chance", ":", "black"),),
    ),
    *(
        Curves(
            of,
            colour="network",
            spread="each",
            ylabel=f"{which} accuracy",
            ylim=(0.3, 1.03),
            laws=(Level(0.5, None, ":", "black"),),
        )
        for of, which in (("test_accuracy", "test"), ("train_accuracy", "train"))
    ),
    columns="target",
    x=lambda ds: ds["time"] / rate_of(ds, RATE),
    xlabel="steps of Adam",
    names={"network": NAMES, "target": TITLES},
    title="a line per seed",
    size=(4.0, 2.7),
)


def level(ds: xr.Dataset, target: str) -> float:
    """Sensitivity of the target: k/n, ½ of a random function, 1."""
    k, n = int(ds["k"]), int(ds["n"])
    return {"sparse": k / n, "random": 0.5, "full": 1.0}[target]


def claims(ds: xr.Dataset) -> list[Claim]:
    """S rises; order of the networks; wrong labels; share that learns the parity."""
    steps = float(ds["time"][-1]) / rate_of(ds, RATE)
    of = {"sparse": _of_wrong_labels, "random": _of_tossed_labels, "full": _of_all_bits}
    rows = [of[str(v)](ds.sel(target=v)) for v in ds["target"].values]
    needs = {f"{STEPS} steps": steps >= STEPS - 0.5}
    return Claims(needs).rows(*itertools.chain(*rows))


def _less(part: xr.Dataset, of: str, text: str, high: str, low: str) -> Claim:
    """A measure at the end: one kind of network minus another."""
    both = [at(part[of].isel(time=-1), "network", kind) for kind in (high, low)]
    text = f"{text}: {NAMES[high]} less {NAMES[low]}"
    return difference_of(text, both[0], both[1], (0, 1), PAPER)


def _rises(part: xr.Dataset, text: str) -> list[Claim]:
    out, text = [], f"{text}, {{}}: S at the end less at the start"
    for kind in part["network"].values:
        seen = part["sensitivity"].sel(network=kind)
        ends = seen.isel(time=-1), seen.isel(time=0)
        out.append(difference_of(text.format(NAMES[str(kind)]), *ends, (0, 1), PAPER))
    return out


def _of_wrong_labels(part: xr.Dataset) -> list[Claim]:
    name, unseen, end = "wrong labels", "test accuracy", part.isel(time=-1)
    lstm, transformer = (at(end, "network", k) for k in ("lstm", "transformer"))
    text = f"{name}, LSTM: train accuracy, wrong labels included"
    fits = f"{PAPER}: fits the noise; 0.98 ours"
    chance = f"{PAPER}: near chance; ± 0.1 ours"
    right, told = f"{PAPER}: near 100 %; 0.95 ours", f"{name}, transformer: {unseen}"
    return [
        *_rises(part, name),
        _less(part, "sensitivity", f"{name}, S", "lstm", "transformer"),
        _less(part, "test_accuracy", f"{name}, {unseen}", "transformer", "lstm"),
        mean_of(told, transformer["test_accuracy"], (0.95, 1), right),
        mean_of(text, lstm["train_accuracy"], (0.98, 1), fits),
        mean_of(f"{name}, LSTM: {unseen}", lstm["test_accuracy"], (0.4, 0.6), chance),
        share_of(
            f"{name}, transformers that learn the parity, of all",
            _known(transformer, lambda accuracy: accuracy >= LEARNED),
            (0.5, 1),
            f"{right}; the share ours",
        ),
        share_of(
            f"{name}, LSTMs of test accuracy {CHANCE} or less, of all",
            _known(lstm, lambda accuracy: accuracy <= CHANCE),
            (0.5, 1),
            f"{chance}; the share ours",
        ),
    ]


def _known(end: xr.Dataset, is_so: Callable[[xr.DataArray], Any]) -> xr.DataArray:
    """Whether the test accuracy meets a condition, as 1 and 0; NaN without a value."""
    seen = end["test_accuracy"]
    return is_so(seen).astype(float).where(seen.notnull())


def _of_tossed_labels(part: xr.Dataset) -> list[Claim]:
    text, end = "tossed labels", part["test_accuracy"].isel(time=-1)
    control = f"control, {text}, {{}}: test accuracy"
    level = ((0.47, 0.53), "chance; ± 0.03 ours")
    return [
        *_rises(part, text),
        _less(part, "sensitivity", f"{text}, S", "lstm", "transformer"),
        *(
            mean_of(control.format(NAMES[kind]), end.sel(network=kind), *level)
            for kind in map(str, part["network"].values)
        ),
    ]


def _of_all_bits(part: xr.Dataset) -> list[Claim]:
    name, end = "parity of all bits", part.isel(time=-1)
    text = f"{name}, test accuracy"
    out = [_less(part, "test_accuracy", text, "lstm", "transformer")]
    for kind, band in (("lstm", (0.5, 1)), ("transformer", (0, 0.5))):
        text = f"{name}, {NAMES[kind]}s that learn it, of all"
        is_so = _known(at(end, "network", kind), lambda accuracy: accuracy >= LEARNED)
        out.append(share_of(text, is_so, band, f"{PAPER}; the share ours"))
    return out
