"""A linear teacher with noise, and a network: one key gives the same at all sizes."""

import jax
from jaxtyping import PRNGKeyArray

from simbias.core import AbstractNetwork, Dataset, Real
from simbias.datasets import gaussian_teacher
from simbias.networks.activations import ActivationName
from simbias.networks.two_layer_init import INITIAL_LAWS, InitialLaw

# All arguments: a seed has one key, whatever is compared.
SHARED = (
    *("n", "d", "m", "sigma", "scale"),
    *("activation", "initial", "has_bias", "n_test"),
)


def noisy_teacher(
    key: PRNGKeyArray,
    *,
    n: int,
    d: int = 5,
    m: int = 200,
    sigma: Real = 0.3,
    scale: Real = 1e-3,
    activation: ActivationName = "relu",
    initial: InitialLaw = "balanced",
    has_bias: bool = False,
    n_test: int = 2000,
) -> tuple[Dataset, AbstractNetwork]:
    """The sample and the initial network of a key.

    A larger n adds samples, and a larger m adds neurons; σ and λ are factors.  So
    networks with one key differ only in the compared argument.

    Args:
        key: random key.
        n: samples to train on.
        d: entries of an input.
        m: width: neurons of a hidden layer.
        sigma: standard deviation of the noise of the targets.
        scale: scale of the initial weights.
        activation: activation of the hidden neurons.
        initial: law of the initial weights.
        has_bias: whether hidden neurons have a bias.
        n_test: samples of the test set.
    """
    key_data, key_network = jax.random.split(key)
    data = gaussian_teacher(key_data, n=n, d=d, sigma=sigma, n_test=n_test)
    network = INITIAL_LAWS[initial](
        key_network, m=m, d=d, scale=scale, activation=activation, has_bias=has_bias
    )
    return data, network
