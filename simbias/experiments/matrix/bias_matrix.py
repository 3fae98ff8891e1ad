"""Bias matrix: eleven simplicity biases by data, network and optimiser.

Each bias has its own task.  The factors apply to every task: the law of the inputs, the
activation, the shape, the initialisation and the optimiser.  Each bias is measured by
one number for each network; 0 means no bias.  The rule was written before the matrix
was run.  With c the smallest value that counts, a bias is

    observed if the interval of the mean is at c or above,
    reversed if it is at −c or below,
    absent if it lies between −c and c,
    open if none of these,
    undefined if the bias makes no sense there or the task is not learned.

The preset `paper` has every combination of the factors.  `dependence(ds)` says what
share of the variance of each bias the inputs, the activation, the shape, the
initialisation and the optimiser explain, alone and two together.  The preset `quick`
changes one factor at a time.  Learning rates were chosen before, see
`benchmarks/matrix_rates.py`.

`table(ds)` is the matrix with its intervals, stages and the columns of the lecture
page.  `paired_differences(ds)` compares wide and deep networks on the same samples.
`foretold_table(ds)` says whether the first tangent kernel predicts the order.

Reference: project page "Quantifying modern inductive biases for deep learning", CS826;
scalars and rule are ours.
"""

import importlib.resources
import tomllib
from typing import Literal, get_args

import jax
import xarray as xr
from jaxtyping import PRNGKeyArray
from matplotlib.figure import Figure

from simbias import datasets
from simbias.analysis.effects import effect_matrix
from simbias.analysis.parts import with_axes
from simbias.analysis.verdicts import effect_table
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment
from simbias.experiment_presets import presets
from simbias.experiments._times import log_steps
from simbias.experiments.matrix._claims import foretold, statements
from simbias.experiments.matrix._dependence import dependence as dependence
from simbias.experiments.matrix._dependence import is_full
from simbias.experiments.matrix._dependence import (
    paired_differences as paired_differences,
)
from simbias.experiments.matrix._figure import full_figure
from simbias.experiments.matrix._numbers import LEVELS
from simbias.experiments.matrix._optimisers import MatrixDescent
from simbias.experiments.matrix._rows import ROWS
from simbias.experiments.matrix._settings import (
    AXES,
    EVERY,
    GAIN,
    HIDDEN,
    KINDS,
    QUICK,
    parsed,
)
from simbias.figures.verdict_squares import verdict_squares
from simbias.losses import logistic_or_half_mse
from simbias.measures import (
    ClassSeparation,
    ExplainedInformation,
    FirstLayerAlignment,
    LayerFeatureRanks,
    LearnedParts,
    PartRates,
    ProjectedScores,
    RandomisedAuc,
    Sensitivity,
    StableRank,
    TrainLoss,
    TrainSignAccuracy,
    WeightRank,
)
from simbias.networks import centred_mlp

Bias = Literal[
    "spectral", "principal", "low_dim", "distributional", "weights", "embeddings",
    "sensitivity", "alignment", "width", "randomised", "information",
]  # fmt: skip
BIASES = get_args(Bias)
TASKS = {
    "spectral": datasets.circle_waves,
    "principal": datasets.component_sum,
    "low_dim": datasets.linear_and_slabs,
    "distributional": datasets.moment_pairs,
    "weights": datasets.separating_coordinate,
    "embeddings": datasets.noisy_linear,
    "sensitivity": datasets.string_quarter,
    "alignment": datasets.noisy_linear,
    "width": datasets.crossed_clusters,
    "randomised": datasets.linear_and_slabs,
    "information": datasets.line_and_bend,
}
OPTIMISERS = ("gd", "sgd", "adam", "adamw")
STEPS = 2000


def make(
    key: PRNGKeyArray, *, bias: Bias = "spectral", setting: str = QUICK[0]
) -> tuple[Dataset, AbstractNetwork]:
    """The task of a bias under a law of inputs, and the network of a setting.

    Args:
        key: random key.
        bias: bias that the task belongs to.
        setting: inputs ("uniform", "steps", "heavy", "clusters"), activation ("relu",
            "tanh", "linear"), shape ("wide", "deep", "equal") and initialisation
            ("rich", "lazy"), in this order, such as "uniform relu wide rich".

    Raises:
        ValueError: for an unknown level.
    """
    key_data, key_network = jax.random.split(key)
    level = parsed(setting)
    data = TASKS[bias](key_data, law=level.inputs)
    activation, law = KINDS[level.activation]
    network = centred_mlp(
        key_network,
        (data.x.shape[1], *HIDDEN[level.shape], 1),
        gain=GAIN[level.start],
        law=law,
        activation=activation,
        # As the theory of low rank asks for.
        is_top_linear=bias == "weights",
    )
    return data, network


experiment = presets(
    Experiment(
        name="bias_matrix",
        make=make,
        cell={"bias": BIASES, "setting": QUICK, "flow.optimiser": OPTIMISERS},
        seeds=20,
        flow=MatrixDescent(),
        loss=logistic_or_half_mse,
        times=log_steps(1.0, 1, STEPS, 22),
        measures={
            "loss": TrainLoss(logistic_or_half_mse),
            "train_accuracy": TrainSignAccuracy(),
            "learned": LearnedParts(),
            "rates": PartRates(),
            "projected": ProjectedScores(layer="weights.0", rank=2),
            "separation": ClassSeparation(("means", "covariances")),
            "top_rank": StableRank(layer="weights.-2"),
            "layer_ranks": LayerFeatureRanks(),
            "sensitivity": Sensitivity(),
            "alignment": FirstLayerAlignment(layer="weights.0"),
            "first_rank": WeightRank(layer="weights.0", is_squared=True),
            "auc": RandomisedAuc(),
            "information": ExplainedInformation(("linear",), shuffles=5),
        },
        # Networks of one seed have the same sample where the law of inputs is the same.
        shared=("setting",),
        dtype="float32",
    ),
    smoke={
        "cell": {
            "bias": ("spectral", "randomised"),
            "setting": QUICK[0],
            "flow.optimiser": ("gd", "adam"),
        },
        "seeds": 6,
    },
    paper={"cell": {"setting": EVERY}, "seeds": 10},
)


def table(ds: xr.Dataset) -> xr.Dataset:
    """The matrix of a result, see `effect_matrix`, with the columns of the page.

    table(ds).to_dataframe().to_csv("bias_matrix.csv")
    """
    found = effect_matrix(with_axes(ds, AXES), ROWS, "bias", "setting")
    page = lecture_page()
    said = [page[str(v)] for v in found["bias"].values]
    columns = {k: ("bias", [one[k] for one in said]) for k in said[0]}
    return found.assign_coords(columns).transpose(*AXES)


def lecture_page() -> dict[str, dict[str, str]]:
    """What the lecture page says of each bias, by column."""
    file = importlib.resources.files(__package__ or "") / "_lecture.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))


def foretold_table(ds: xr.Dataset) -> xr.Dataset:
    """Mean of `foretold` and its interval, for each bias, setting and optimiser."""
    names = [k for k in ds["bias"].values if k in LEVELS]
    of = lambda name: effect_table(foretold(ds, name), least=1, low=-1, high=1)
    index = xr.DataArray(names, dims="bias", name="bias")
    whole = xr.concat([of(name) for name in names], index)
    return whole.drop_vars("verdict").rename(value="rho")


_NAMES = {
    "gd": "GD",
    "sgd": "SGD of 16",
    "adam": "Adam",
    "adamw": "AdamW",
    "uniform": "uniform inputs",
    "steps": "inputs 1 : 2 : 4",
    "heavy": "heavy tails",
    "clusters": "clusters",
    "relu": "ReLU",
}


def _heading(setting: str) -> str:
    inputs, activation, *others = (_NAMES.get(v, v) for v in setting.split())
    return f"{inputs}, {activation}\n{', '.join(others)}"


def figure(ds: xr.Dataset) -> Figure:
    """The matrix as coloured squares, or as a map beside the shares of the factors.

    The letter in a square is the first stage at which the bias is observed; the verdict
    may be about another stage.
    """
    found = table(ds)
    if is_full(ds):
        return full_figure(found, dependence(ds))
    return verdict_squares(found, ROWS, names=_NAMES, heading=_heading)


def claims(ds: xr.Dataset) -> list[Claim]:
    """What theory predicts for single entries."""
    return statements(with_axes(ds, AXES))
