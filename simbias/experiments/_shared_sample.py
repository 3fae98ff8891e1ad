"""A noisy linear teacher whose sample and start do not depend on the rest of a cell."""

import jax
from jaxtyping import PRNGKeyArray

from simbias.core import AbstractNetwork, Dataset, Index, Real
from simbias.datasets import gaussian_teacher
from simbias.networks.activations import ActivationName
from simbias.networks.two_layer_init import INITIAL_LAWS, InitialLaw


def shared_sample(
    key: PRNGKeyArray,
    *,
    n: int,
    draw: Index = 0,
    start: Index = 0,
    d: int = 5,
    m: int = 200,
    sigma: Real = 0.3,
    scale: Real = 1e-3,
    activation: ActivationName = "relu",
    initial: InitialLaw = "balanced",
    has_bias: bool = False,
    n_test: int = 2000,
) -> tuple[Dataset, AbstractNetwork]:
    """Sample number `draw`, of which a larger `n` sees more, and start number `start`.

    The same `draw` is the same sample for every network and every n, σ and λ, so that
    what is compared differs in nothing else.
    """
    del key
    key_data, key_network = jax.random.split(jax.random.key(draw))
    data = gaussian_teacher(key_data, n=n, d=d, sigma=sigma, n_test=n_test)
    network = INITIAL_LAWS[initial](
        jax.random.fold_in(key_network, start),
        m=m,
        d=d,
        scale=scale,
        activation=activation,
        has_bias=has_bias,
    )
    return data, network
