import jax.numpy as jnp
import pytest
from _deep_problems import advance, sample, started

from simbias import losses
from simbias.core import Status
from simbias.experiments.rank._by_length import ByLength, FlowOrSteps
from simbias.flows import DeepReluFlow, Descent
from simbias.networks import Mlp


@pytest.mark.slow
def test_the_clock_is_the_length_of_the_path_until_the_network_rests():
    # Two layers of one unit and both weights q, from 0.1 to 1: a straight path.
    one = jnp.full((1, 1), 0.1)
    net = Mlp((one, one), (None, None))
    data = sample(jnp.ones((1, 1)), jnp.ones((1, 1)))
    flow = ByLength(DeepReluFlow(rtol=jnp.asarray(1e-6)), horizon=100.0)
    state = started(flow, net, data, losses.half_mse)
    state = advance(flow, state, data, losses.half_mse, jnp.asarray(0.5))
    q = float(state.network.weights[0][0, 0])
    assert float(state.time) == pytest.approx(2**0.5 * (q - 0.1), rel=1e-9)
    assert 0.5 <= float(state.time) < 0.502
    state = advance(flow, state, data, losses.half_mse, jnp.asarray(5.0))
    assert state.status == Status.CONVERGED
    assert float(state.time) == pytest.approx(2**0.5 * 0.9, rel=1e-6)


@pytest.mark.parametrize("rate", ["0", "-1", "long"])
def test_a_rate_is_the_exact_flow_or_a_length(rate):
    assert isinstance(FlowOrSteps("0.025").inner, Descent)
    with pytest.raises(ValueError, match="`rate` must be"):
        FlowOrSteps(rate)
