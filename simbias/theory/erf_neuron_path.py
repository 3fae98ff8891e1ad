"""The path of an erf neuron under the law of the rectangle, and where it ends."""

import functools

import numpy as np
import scipy
from jaxtyping import Float

from simbias.theory.erf_neuron_force import erf_neuron_force

Numbers = tuple[float, ...]


@functools.cache
def optimum(means: Numbers, deviations: Numbers) -> Float[np.ndarray, " p"]:
    """Direction, of length 1, where the flow rests under the law of the rectangle."""
    mean, deviation = np.array(means), np.array(deviations)
    force = lambda w: erf_neuron_force(w, mean, deviation)
    near = path((0.0, 200.0), means, deviations)[-1]
    found = scipy.optimize.root(force, near, tol=1e-10)
    assert found.success
    return found.x / np.linalg.norm(found.x)


@functools.cache
def path(
    times: Numbers, means: Numbers, deviations: Numbers, sides: int = 2
) -> Float[np.ndarray, "time p"]:
    """w(t) of the flow under the law from w = 0, at `times` from 0 on."""
    mean, deviation = np.array(means), np.array(deviations)
    force = lambda _, w: erf_neuron_force(w, mean, deviation, sides=sides)
    span, start = (0.0, times[-1]), np.zeros(len(mean))
    found = scipy.integrate.solve_ivp(
        force, span, start, "LSODA", times, rtol=1e-7, atol=1e-9
    )
    return found.y.T
