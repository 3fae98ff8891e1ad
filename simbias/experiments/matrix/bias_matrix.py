"""When is each bias observed?  Eleven tasks under one factor after another.

(in the making)

Reference: seed.
"""

from typing import Literal, get_args

import jax
from jaxtyping import PRNGKeyArray

from simbias.core import AbstractNetwork, Dataset, Experiment
from simbias.experiments._times import log_times
from simbias.experiments.matrix import _tasks
from simbias.experiments.matrix._loss import by_target
from simbias.experiments.matrix._measures import MEASURES
from simbias.experiments.matrix._network import scaled
from simbias.experiments.matrix._settings import EVERY, QUICK, parsed
from simbias.flows.descent import Descent
from simbias.presets import presets

Bias = Literal[
    "spectral",
    "principal",
    "low_dim",
    "distributional",
    "weights",
    "embeddings",
    "sensitivity",
    "alignment",
    "width",
    "randomised",
    "information",
]
BIASES = get_args(Bias)
TASKS = {
    "spectral": _tasks.waves,
    "principal": _tasks.components,
    "low_dim": _tasks.features,
    "distributional": _tasks.moments,
    "weights": _tasks.separable,
    "embeddings": _tasks.teacher,
    "sensitivity": _tasks.strings,
    "alignment": _tasks.teacher,
    "width": _tasks.crossed,
    "randomised": _tasks.features,
    "information": _tasks.curved,
}
OPTIMISERS = ("gd", "momentum", "adam", "adamw")
RATE = 0.01


def make(
    key: PRNGKeyArray, *, bias: Bias = "spectral", setting: str = QUICK[0]
) -> tuple[Dataset, AbstractNetwork]:
    """The task of a bias under a law of inputs, and the network of a setting."""
    key_data, key_network = jax.random.split(key)
    level = parsed(setting)
    data = TASKS[bias](key_data, level.inputs)
    return data, scaled(key_network, level, is_top_linear=bias == "weights")


experiment = presets(
    Experiment(
        name="bias_matrix",
        make=make,
        cell={"bias": BIASES, "setting": QUICK, "flow.optimiser": OPTIMISERS},
        seeds=20,
        flow=Descent(rate=RATE, is_shared=True),
        loss=by_target,
        times=log_times(0.02, 10.0, 10),
        measures=MEASURES,
        dtype="float32",
    ),
    smoke={
        "cell": {"setting": QUICK[0], "flow.optimiser": ("gd", "adam")},
        "seeds": 6,
        "times": log_times(0.02, 2.0, 5),
    },
    paper={"cell": {"setting": EVERY}, "seeds": 50},
)
