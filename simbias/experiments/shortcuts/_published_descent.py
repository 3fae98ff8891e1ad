"""The published training of the residual network on dominoes.

Reference: Tsoy & Konstantinov (2024), arXiv:2405.17299, and its replication files.
"""

import dataclasses
import math

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from simbias.flows import Descent

# Rows after the first: every 16 of 256 epochs.
RECORDS = 16


@dataclasses.dataclass(frozen=True)
class WarmUp:
    """Rises linearly from 0 at step 0 to 1 at `peak`, then falls to 0 at `steps`."""

    steps: int
    peak: int

    def __call__(self, step: Int[Array, ""]) -> Float[Array, ""]:
        """Factor of the rate."""
        k = step.astype(jnp.result_type(float))
        fall = (self.steps - k) / (self.steps - self.peak)
        return jnp.clip(jnp.minimum(k / self.peak, fall), 0, 1)


def published_descent(n: int = 37_500, epochs: int = 256) -> Descent:
    """Nesterov's momentum with weight decay and a rate that rises and falls."""
    steps = epochs * math.ceil(n / 128)
    return Descent(
        rate=128 / 1024,
        schedule=WarmUp(steps, steps // 8),
        optimiser="nesterov",
        batch=128,
        weight_decay=5e-4,
    )


def published_times(flow: Descent, records: int = RECORDS) -> tuple[float, ...]:
    """Times of the published descent at equal numbers of steps."""
    schedule = flow.schedule
    assert isinstance(schedule, WarmUp)
    k = np.arange(schedule.steps)
    fall = (schedule.steps - k) / (schedule.steps - schedule.peak)
    clock = np.cumsum(flow.rate * np.minimum(k / schedule.peak, fall))
    rows = np.arange(1, records + 1) * schedule.steps // records - 1
    # Sums may round differently: a time is met a little early rather than never.
    return (0.0, *(float(t) for t in clock[rows] * (1 - 1e-9)))
