import jax.numpy as jnp
import pytest
from _deep_problems import advance, sample, started
from scipy.integrate import quad

from simbias import losses
from simbias.core import Status
from simbias.experiments.deep._until_escape import UntilEscape
from simbias.flows import DeepReluFlow
from simbias.networks import Mlp


@pytest.mark.slow
@pytest.mark.parametrize("scale", [0.1, 0.01])
def test_three_layers_escape_at_the_time_of_the_closed_form(scale):
    # One unit per layer and all weights q: q' = (1 − q³) q² on x = y = 1.
    one = jnp.full((1, 1), scale)
    net = Mlp((one, one, one), (None, None, None))
    data = sample(jnp.ones((1, 1)), jnp.ones((1, 1)))
    flow = UntilEscape(DeepReluFlow(rtol=jnp.asarray(1e-8)))
    state = started(flow, net, data, losses.half_mse)
    state = advance(flow, state, data, losses.half_mse, jnp.asarray(1e6))
    assert state.status == Status.CONVERGED
    q = float(state.network.weights[0][0, 0])
    slowness = lambda q: 1 / (q**2 * (1 - q**3))
    time = quad(slowness, scale, q, epsrel=1e-10, limit=200)[0]
    assert float(state.time) == pytest.approx(time, rel=1e-6)
    left = (1 - q**3) ** 2
    before = (1 - (q / 1.06) ** 3) ** 2
    assert left <= 0.9 < before
