import jax
import jax.numpy as jnp
import pytest
from _deep_problems import advance, sample

from simbias import losses
from simbias.core import Status
from simbias.experiments.rank._along_path import AlongPath
from simbias.flows import DeepReluFlow
from simbias.networks import Mlp


@pytest.mark.slow
def test_the_clock_is_the_length_of_the_path():
    # One unit per layer, all weights q: a straight path of length √3 (q − q₀).
    start, times = 0.1, (0.5, 1.0, 20.0)
    one = jnp.full((1, 1), start)
    net = Mlp((one, one, one), (None, None, None))
    data = sample(jnp.ones((1, 1)), jnp.ones((1, 1)))
    flow = AlongPath(flow=DeepReluFlow(rtol=jnp.asarray(1e-6)))
    state = flow.init(net, data, losses.log_logistic, jax.random.key(0))
    for time in times:
        state = advance(flow, state, data, losses.log_logistic, jnp.asarray(time))
        assert state.status == Status.RUNNING
        assert float(state.time) == time
        q = start + float(state.memory.length) / 3**0.5
        for weights in state.network.weights:
            assert float(weights[0, 0]) == pytest.approx(q, rel=1e-6)
        late = float(state.memory.length) - time
        assert -1e-4 * 0.02 * 3**0.5 * q <= late <= 0.02 * 3**0.5 * q


@pytest.mark.slow
def test_a_network_that_has_stopped_is_at_rest():
    # Nothing is active.
    net = Mlp((-jnp.ones((1, 1)), jnp.ones((1, 1)), jnp.ones((1, 1))), (None,) * 3)
    data = sample(jnp.ones((1, 1)), jnp.ones((1, 1)))
    flow = AlongPath(flow=DeepReluFlow(rtol=jnp.asarray(1e-6)))
    state = flow.init(net, data, losses.log_logistic, jax.random.key(0))
    state = advance(flow, state, data, losses.log_logistic, jnp.asarray(20.0))
    assert state.status == Status.STATIONARY
