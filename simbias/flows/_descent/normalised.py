"""Steps of one length."""

import optax

from simbias.core import Real


def normalised(rate: Real) -> optax.GradientTransformation:
    """θ ← θ − rate · g/‖g‖, ‖g‖ over all weights: the clock, steps × rate, is a length.

    With a short step the path of the gradient flow by its length.
    """
    return optax.chain(optax.normalize_by_update_norm(), optax.sgd(rate))
