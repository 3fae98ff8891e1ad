"""The rows of the matrix: what is one number of a bias, and when it counts.

Everything here was written before the matrix was run; the tasks had been tried with
three seeds in one setting, to see that they are learned.

Every scalar is turned so that 0 is no bias and a positive value is the bias.
"""

import dataclasses
from collections.abc import Callable

import numpy as np
import xarray as xr

from simbias.experiments.matrix import _scalars as s
from simbias.experiments.matrix._settings import HIDDEN, Setting

Values = Callable[[xr.Dataset], xr.DataArray]


def _always(setting: Setting) -> str:  # noqa: ARG001
    return ""


def _not_linear(why: str) -> Callable[[Setting], str]:
    return lambda setting: why if setting.activation == "linear" else ""


def _three_layers(setting: Setting) -> str:
    return "" if len(HIDDEN[setting.shape]) > 2 else "fewer than three hidden layers"


@dataclasses.dataclass(frozen=True)
class Row:
    """A bias, its scalar, and the rule.

    Args:
        title: as in the figure.
        text: what the scalar is.
        scalar: of the members of the row, one number each, NaN for none.
        least: smallest scalar that counts as the bias.
        low: least value of the scalar.
        high: largest value.
        full: a scalar of full strength, for the figure.
        staged: what is seen of the bias at every time, over `time`.
        least_staged: smallest of these that counts.
        is_learned: whether a member has learned its task.
        why_undefined: of a setting, why the bias makes no sense there, or "".
        bound_staged: `staged` lies between minus this and this.
    """

    title: str
    text: str
    scalar: Values
    least: float
    low: float
    high: float
    full: float
    staged: Values
    least_staged: float
    is_learned: Values
    why_undefined: Callable[[Setting], str] = _always
    bound_staged: float = np.inf


_INF = np.inf
ROWS: dict[str, Row] = {
    "spectral": Row(
        "spectral",
        "Spearman's ρ of the frequency and the time to 0.9 of its amplitude",
        s.spectral, 0.5, -1.0, 1.0, 1.0,
        s.spectral_staged, 0.5, s.two_waves,
        bound_staged=1.0,
    ),
    "principal": Row(
        "principal component",
        "−slope of ln time to ½ on ln variance; 1 for a linear model under GD",
        s.principal, 0.25, -_INF, _INF, 1.0,
        s.principal_staged, 0.5, s.four_components,
        bound_staged=1.0,
    ),
    "low_dim": Row(
        "low-dimensional input",
        "accuracy with P⊥x exchanged less that with Px exchanged, rank of P 2",
        s.low_dim, 0.25, -1.0, 1.0, 0.5,
        s.low_dim_staged, 0.25, s.classified,
        bound_staged=1.0,
    ),
    "distributional": Row(
        "distributional",
        "1 if the clone of means is left before that of covariances, −1 if after",
        s.distributional, 0.5, -1.0, 1.0, 1.0,
        s.distributional_staged, 0.02, s.mostly_classified,
        _not_linear("a linear network sees no more than two moments"),
    ),
    "weights": Row(
        "low-rank weights",
        "share of stable rank − 1 that the matrix before the last has lost",
        s.weights, 0.5, -_INF, 1.0, 1.0,
        s.weights_staged, 0.5, s.fitted_all,
    ),
    "embeddings": Row(
        "low-rank embeddings",
        "−slope of the entropy of layer l on ln l, at the end",
        s.embeddings, 0.1, -_INF, _INF, 1.0,
        s.embeddings_staged, 0.1, s.half_fitted,
        _three_layers,
    ),
    "sensitivity": Row(
        "low sensitivity",
        "½ − S(f) once random labels of a quarter of the strings are fitted",
        s.sensitivity, 0.05, -0.5, 0.5, 0.25,
        s.sensitivity_staged, 0.05, s.fitted,
    ),
    "alignment": Row(
        "early alignment",
        "gain of the share of the first layer along Σ yx before the loss is halved",
        s.alignment, 0.1, -1.0, 1.0, 0.5,
        s.alignment_staged, 0.1, s.half_fitted,
    ),
    "width": Row(
        "effective width",
        "share of effective rank − 1 that the first layer has lost by then",
        s.width, 0.25, -_INF, 1.0, 1.0,
        s.width_staged, 0.25, s.classified,
    ),
    "randomised": Row(
        "extreme: S-randomised AUC",
        "share of AUC − ½ that is lost with the simple coordinate exchanged",
        s.randomised, 0.75, -2.0, 3.0, 1.0,
        s.randomised_staged, 0.75, s.separated,
        _not_linear("a linear network sees the linear coordinate alone"),
    ),
    "information": Row(
        "a line first: μ/I",
        "μ/I at the first record with half of the information there will be",
        s.information, 0.75, -_INF, 1.5, 1.0,
        s.information_staged, 0.75, s.informed,
        _not_linear("a linear network is a line"),
    ),
}  # fmt: skip
BIASES = tuple(ROWS)
STAGES = ("start", "early", "late", "end")
