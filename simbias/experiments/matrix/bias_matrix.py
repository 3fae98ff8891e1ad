"""When is each bias of simplicity observed: eleven of them, by data, net, optimiser.

Each bias has a task of its own, to which the factors apply: the law of the inputs, the
activation, the shape, the start, and the optimiser.  Of each there is one number per
member, turned so that 0 is no bias, and a rule that was written before the matrix was
run: observed if the interval of the mean lies at the least number that counts or above,
reversed if at minus it or below, absent if between the two, open if it is too wide;
undefined where a bias makes no sense or the task is not learned.

`table(ds)` is the matrix with its intervals, stages and the columns of the lecture
page; `together`, `broken` and `foretold_table` of it say which biases travel together,
which break under another optimiser, and whether the first tangent kernel has the order.

Reference: project page "Quantifying modern inductive biases for deep learning", CS826;
scalars and rule are ours.
"""

from typing import Literal, get_args

import jax
import xarray as xr
from jaxtyping import PRNGKeyArray
from matplotlib.figure import Figure

from simbias.analysis.parts import with_axes
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment
from simbias.experiments._times import log_times
from simbias.experiments.matrix import _tasks
from simbias.experiments.matrix._loss import by_target
from simbias.experiments.matrix._measures import MEASURES
from simbias.experiments.matrix._network import scaled
from simbias.experiments.matrix._picture import picture
from simbias.experiments.matrix._seed import SAID, Said
from simbias.experiments.matrix._settings import EVERY, QUICK, parsed
from simbias.experiments.matrix._statements import statements
from simbias.experiments.matrix._table import matrix, scalars
from simbias.experiments.matrix._task import N
from simbias.experiments.matrix._together import broken, foretold_table, together
from simbias.flows import Descent
from simbias.presets import presets

__all__ = ["broken", "foretold_table", "together"]

AXES = ("bias", "setting", "flow.optimiser")
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
RATE = 0.005


def make(
    key: PRNGKeyArray, *, bias: Bias = "spectral", setting: str = QUICK[0]
) -> tuple[Dataset, AbstractNetwork]:
    """The task of a bias under a law of inputs, and the network of a setting.

    Args:
        key: random key.
        bias: whose task.
        setting: inputs ("uniform", "steps", "heavy", "clusters"), activation ("relu",
            "tanh", "linear"), shape ("wide", "deep", "equal") and start ("rich",
            "lazy"), in this order, as "uniform relu wide rich".

    Raises:
        ValueError: for a level that there is not.
    """
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
        times=log_times(RATE, 10.0, 20),
        measures=MEASURES,
        dtype="float32",
    ),
    smoke={
        "cell": {
            "bias": ("spectral", "randomised"),
            "setting": QUICK[0],
            "flow.optimiser": ("gd", "adam"),
        },
        "seeds": 6,
        "times": log_times(RATE, 10.0, 20),
    },
    paper={"cell": {"setting": EVERY, "flow.batch": (16, N)}, "seeds": 50},
)


def table(ds: xr.Dataset) -> xr.Dataset:
    """The matrix of a result: see `_table.matrix`; with the columns of the page.

    table(ds).to_dataframe().to_csv("bias_matrix.csv")
    """
    found = matrix(with_axes(ds, AXES))
    said = [SAID[str(v)] for v in found["bias"].values]
    columns = {k: ("bias", [getattr(one, k) for one in said]) for k in Said._fields}
    return found.assign_coords(columns)


def figure(ds: xr.Dataset) -> Figure:
    """The matrix at a glance."""
    return picture(table(ds))


def claims(ds: xr.Dataset) -> list[Claim]:
    """What theory says of single cells."""
    ds = with_axes(ds, AXES)
    return statements(ds, scalars(ds))
