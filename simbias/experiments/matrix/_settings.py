"""The settings of the matrix: inputs, activation, shape, initialisation, by name."""

import itertools
from typing import NamedTuple

from simbias.errors import BadInput
from simbias.networks.dense.layer_weights import LayerLaw
from simbias.suggestion import suggestion

AXES = ("bias", "setting", "flow.optimiser")
# Levels of every factor.
INPUTS = ("uniform", "steps", "heavy", "clusters")
ACTIVATIONS = ("relu", "tanh", "linear")
SHAPES = ("wide", "deep", "equal")
STARTS = ("rich", "lazy")
FACTORS = {
    "inputs": INPUTS,
    "activation": ACTIVATIONS,
    "shape": SHAPES,
    "start": STARTS,
}
# The activation of a setting -> its function, and the law of the weights.
KINDS: dict[str, tuple[str, LayerLaw]] = {
    "relu": ("relu", "kaiming"),
    "tanh": ("tanh", "lecun"),
    "linear": ("identity", "lecun"),
}
# Widths of the hidden layers.  Without biases "wide" has 288 weights, "equal" 290,
# "deep" 264.  "wide512", with 4608, is no level of the design.
HIDDEN = {
    "wide": (32,),
    "deep": (8, 8, 8, 8),
    "equal": (10, 10, 10),
    "wide512": (512,),
}
# Factor α of the output, and of the weights: see `CentredMlp`.
GAIN = {"rich": 0.15, "lazy": 3.0}

# One setting, and all that differ from it in one factor.
QUICK = (
    "uniform relu wide rich",
    *(f"{inputs} relu wide rich" for inputs in INPUTS[1:]),
    *(f"uniform {activation} wide rich" for activation in ACTIVATIONS[1:]),
    *(f"uniform relu {shape} rich" for shape in SHAPES[1:]),
    *(f"uniform relu wide {start}" for start in STARTS[1:]),
)
EVERY = tuple(" ".join(words) for words in itertools.product(*FACTORS.values()))


class Setting(NamedTuple):
    """One level of every factor."""

    inputs: str
    activation: str
    shape: str
    start: str


def parsed(setting: str) -> Setting:
    """The levels that a text such as "uniform relu wide rich" names.

    Raises:
        ValueError: for an unknown level (the message names its factor), or if there are
            not four words.
    """
    words = setting.split()
    if len(words) != len(FACTORS):
        raise BadInput(
            f"`setting` must name {', '.join(FACTORS)}, four words, got {setting!r}. "
            f"Example: setting={QUICK[0]!r}."
        )
    known = {**FACTORS, "shape": (*HIDDEN,)}
    for word, (factor, levels) in zip(words, known.items(), strict=True):
        if word not in levels:
            raise BadInput(
                f"`setting`: the {factor} must be one of {', '.join(levels)}, got "
                f"{word!r}.{suggestion(word, levels)}"
            )
    return Setting(*words)
