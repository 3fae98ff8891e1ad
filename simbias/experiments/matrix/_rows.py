"""The rows of the matrix: the number that measures a bias, and when it counts.

We wrote everything here before the matrix was run.  Only the tasks had been tried, with
three seeds in one setting, to check that they are learned.

For every scalar 0 means no bias, and a positive value means the bias.
"""

from collections.abc import Callable

import numpy as np

from simbias.analysis.effects import Effect
from simbias.experiments.matrix import _numbers as s
from simbias.experiments.matrix._settings import HIDDEN, parsed


def _not_linear(why: str) -> Callable[[str], str]:
    return lambda setting: why if parsed(setting).activation == "linear" else ""


def _three_layers(setting: str) -> str:
    is_deep = len(HIDDEN[parsed(setting).shape]) > 2
    return "" if is_deep else "fewer than three hidden layers"


def _classified(least: float) -> s.Values:
    """The test accuracy at the end."""
    return s.ends_at(least, "projected", score="accuracy", mixed="nothing")


_INF = np.inf
ROWS: dict[str, Effect] = {
    "spectral": Effect(
        "spectral",
        "Spearman's ρ of the frequency and the time to 0.9 of its amplitude",
        s.spectral, 0.5, -1.0, 1.0, 1.0,
        s.in_order(4), 0.5, s.reached(2, 0.9),
        bound_staged=1.0,
    ),
    "principal": Effect(
        "principal component",
        "−slope of ln time to ½ on ln variance; 1 for a linear model under GD",
        s.principal, 0.25, -_INF, _INF, 1.0,
        s.in_order(8), 0.5, s.reached(4, 0.5),
        bound_staged=1.0,
    ),
    "low_dim": Effect(
        "low-dimensional input",
        "accuracy with P⊥x exchanged less that with Px exchanged, rank of P 2",
        "end", 0.25, -1.0, 1.0, 0.5,
        s.low_dim, 0.25, _classified(0.9),
        bound_staged=1.0,
    ),
    "distributional": Effect(
        "distributional",
        "1 if the clone of means is left before that of covariances, −1 if after",
        s.distributional, 0.5, -1.0, 1.0, 1.0,
        s.distributional_staged, 0.02, _classified(0.75),
        _not_linear("a linear network sees no more than two moments"),
    ),
    "weights": Effect(
        "low-rank weights",
        "share of stable rank − 1 that the matrix before the last has lost",
        "end", 0.5, -_INF, 1.0, 1.0,
        s.lost("top_rank"), 0.5, s.ends_at(1, "train_accuracy"),
    ),
    "embeddings": Effect(
        "low-rank embeddings",
        "−slope of the entropy of layer l on ln l, at the end",
        "end", 0.1, -_INF, _INF, 1.0,
        s.embeddings, 0.1, s.half_fitted,
        _three_layers,
    ),
    "sensitivity": Effect(
        "low sensitivity",
        "½ − S(f) once random labels of a quarter of the strings are fitted",
        "end", 0.05, -0.5, 0.5, 0.25,
        s.sensitivity, 0.05, s.ends_at(0.95, "train_accuracy"),
    ),
    "alignment": Effect(
        "early alignment",
        "gain of the share of the first layer along Σ yx before the loss is halved",
        "early", 0.1, -1.0, 1.0, 0.5,
        s.alignment, 0.1, s.half_fitted,
    ),
    "width": Effect(
        "effective width",
        "share of effective rank − 1 that the first layer has lost by then",
        "early", 0.25, -_INF, 1.0, 1.0,
        s.lost("first_rank"), 0.25, _classified(0.9),
    ),
    "randomised": Effect(
        "extreme: S-randomised AUC",
        "share of AUC − ½ that is lost with the simple coordinate exchanged",
        "end", 0.75, -2.0, 3.0, 1.0,
        s.randomised, 0.75, s.ends_at(0.9, "auc", randomised="nothing"),
        _not_linear("a linear network sees the linear coordinate alone"),
    ),
    "information": Effect(
        "a line first: μ/I",
        "μ/I at the first record with half of the information there will be",
        s.information, 0.75, -_INF, 1.5, 1.0,
        s.information_staged, 0.75, s.informed,
        _not_linear("a linear network is a line"),
    ),
}  # fmt: skip
