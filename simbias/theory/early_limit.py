"""Where the early phase leads each neuron, in two dimensions."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from simbias.core import Dataset, Loss
from simbias.errors import BadInput
from simbias.theory._circle import arcs


class EarlyLimit(NamedTuple):
    """Neurons near zero after a long time: ‖wⱼ(t)‖ → amplitudeⱼ · exp(rateⱼ t).

    Attributes:
        direction: limits of wⱼ/‖wⱼ‖.
        rate: sign(aⱼ) G(directionⱼ), with G in the units of the loss; 0 where the
            neuron ends with nothing active.
        amplitude: in units of weight.
        time: when the neuron came to the arc or the kink where it stays, on the clock
            of the loss; of one that loses its last sample, when it did.
    """

    direction: Float[np.ndarray, "m 2"]
    rate: Float[np.ndarray, " m"]
    amplitude: Float[np.ndarray, " m"]
    time: Float[np.ndarray, " m"]

    @property
    def fastest(self) -> float:
        """λ, the largest rate reached by a neuron."""
        return float(self.rate.max())

    def prominent(self, tolerance: float = 1e-9) -> np.ndarray:
        """True for the neurons that grow at the rate λ, up to a relative tolerance."""
        return self.rate >= (1 - tolerance) * self.fastest


def early_limit(
    data: Dataset, loss: Loss, w: Float[Array, "m 2"], a: Float[Array, " m"]
) -> EarlyLimit:
    """Exact limit of wⱼ' = aⱼD(wⱼ), aⱼ' = wⱼ·D(wⱼ) from a balanced start, d = 2.

    D(w) = −Σ_{k: w·x_k > 0} ∂L/∂f_k(0) x_k,   G(w) = D(w)·w

    Between two kinks of G, with ψ the angle from D to w and s the sign of a,

        tan(ψ/2) ∝ e^{−s|D|t},   ‖w‖ |sin ψ| constant;

    a neuron crosses a kink or, if it is pushed back, stays on it.  The prominent
    neurons of an initial network σθ₀ are at (1/λ) ln(r/σ) within o(r) of r times
    amplitude/σ in their direction.  In NumPy, not to be traced.

    Args:
        data: the sample, with inputs in the plane.
        loss: what the flow descends.
        w: hidden weights at time 0, |aⱼ| = ‖wⱼ‖ > 0.
        a: output weights at time 0.

    Raises:
        ValueError: for inputs of another dimension, several outputs, a start that is
            not balanced, or labels that pull at nothing.

    Reference: Tsoy & Konstantinov (2024), arXiv:2405.17299, theorem of the first
    phase; Maennel, Bousquet & Gelly (2018), arXiv:1803.08367.
    """
    if data.x.shape[1] != 2 or data.y.shape[1] != 1:
        raise BadInput(
            "`data` must have two inputs and one output, got x "
            f"{data.x.shape} and y {data.y.shape}. Example: d=2."
        )
    start, sign = np.asarray(w, float), np.sign(np.asarray(a, float))
    size = np.linalg.norm(start, axis=1)
    if not np.allclose(size, np.abs(a), rtol=1e-6, atol=0) or not size.all():
        raise BadInput(
            "`a` must be balanced, |aⱼ| = ‖wⱼ‖ > 0 for every neuron. "
            "Example: networks.two_layer_init.balanced."
        )
    pull = -jax.grad(loss)(jnp.zeros_like(data.y), data.y, data.weight)[:, 0]
    x, pull = np.asarray(data.x, float), np.asarray(pull, float)
    has_kink = (pull != 0) & (x != 0).any(axis=1)
    if not has_kink.any():
        raise BadInput(
            "`data` must have an input that is not 0 with a label that pulls at f = 0, "
            "and it has none: no neuron moves."
        )
    kink, drive = arcs(x[has_kink], pull[has_kink])
    order = np.argsort(kink)
    kink, drive = kink[order], drive[order]
    angle = np.arctan2(start[:, 1], start[:, 0]) % (2 * np.pi)
    ends = [_end(kink, drive, *one) for one in zip(angle, sign, strict=True)]
    last, rate, logarithm, time = (np.array(v) for v in zip(*ends, strict=True))
    direction = np.stack([np.cos(last), np.sin(last)], axis=1)
    return EarlyLimit(direction, rate, size * np.exp(logarithm), time)


def _end(
    kink: Float[np.ndarray, " c"], drive: Float[np.ndarray, "c 2"], at: float, s: float
) -> tuple[float, float, float, float]:
    """Last angle, rate, ln of ‖w(t)‖ e^{−rate t}/‖w(0)‖, and when it came there."""
    time, grown = 0.0, 0.0
    i = (np.searchsorted(kink, at, side="right") - 1) % len(kink)
    for _ in range(2 * len(kink)):
        length = float(np.hypot(*drive[i]))
        if length == 0:
            return at, 0.0, grown, time
        towards = np.arctan2(drive[i][1], drive[i][0]) + (0 if s > 0 else np.pi)
        # From the end of this motion to the neuron; it shrinks.
        away = _wrapped(at - towards)
        step = 1 if away < 0 else -1
        wall = kink[(i + 1) % len(kink)] if step > 0 else kink[i]
        room = ((wall - at) * step) % (2 * np.pi)
        if room >= abs(away):
            amplitude = np.log(np.cos(away / 2) ** 2)
            return towards, length, grown + amplitude - length * time, time
        after = _wrapped(away + step * room)
        passed = np.log(np.tan(abs(away) / 2) / np.tan(abs(after) / 2)) / length
        grown += np.log(np.sin(abs(away)) / np.sin(abs(after)))
        time, at = time + passed, wall
        new = (i + step) % len(kink)
        speed = s * (drive[new] @ [-np.sin(wall), np.cos(wall)])
        if speed * step <= 0:
            rate = s * float(drive[new] @ [np.cos(wall), np.sin(wall)])
            return wall, rate, grown - rate * time, time
        i = new
    raise AssertionError("a neuron went around the circle twice")


def _wrapped(angle: float) -> float:
    return float((angle + np.pi) % (2 * np.pi) - np.pi)
