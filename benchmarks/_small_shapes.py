"""A grid of 24 small shapes: six sizes, two laws of the inputs and two of the noise."""

from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np

from simbias.core import Dataset, Experiment
from simbias.experiment_presets import presets
from simbias.flows.relu_flow import ReluFlow
from simbias.losses import half_mse
from simbias.measures import EffectiveWidth, TrainRisk
from simbias.networks import balanced


def make(
    key,
    *,
    n: int = 10,
    d: int = 5,
    m: int = 60,
    scale: float = 1e-3,
    sigma: float = 0.3,
    inputs: Literal["gaussian", "sphere"] = "gaussian",
    noise: Literal["normal", "laplace"] = "normal",
):
    """A noisy linear teacher and a balanced network."""
    key_x, key_noise, key_network = jax.random.split(key, 3)
    x = jax.random.normal(key_x, (n, d))
    if inputs == "sphere":
        x *= jnp.sqrt(d) / jnp.linalg.norm(x, axis=1, keepdims=True)
    law = jax.random.normal if noise == "normal" else jax.random.laplace
    error = law(key_noise, (n, 1)) / (1 if noise == "normal" else np.sqrt(2))
    mean = x[:, :1]
    data = Dataset(x, mean + sigma * error, jnp.ones(n), mean, jnp.zeros((0, d)))
    return data, balanced(key_network, m=m, d=d, scale=scale)


experiment = presets(
    Experiment(
        name="small_shapes",
        make=make,
        cell={
            "n": (10, 20, 30, 40, 50, 60),
            "inputs": ("gaussian", "sphere"),
            "noise": ("normal", "laplace"),
        },
        seeds=16,
        flow=ReluFlow(),
        loss=half_mse,
        times=np.geomspace(1, 1000, 9),
        measures={"train_risk": TrainRisk(), "effective_width": EffectiveWidth()},
    ),
    smoke={"seeds": 1, "times": (0.0, 1.0), "cell": {"n": (10, 20)}},
    paper={"seeds": 100},
)
