import equinox as eqx
import jax
import jax.numpy as jnp

from simbias.core import AbstractFlow, AbstractFlowWrapper, Dataset
from simbias.flows import DeepReluFlow
from simbias.losses import half_mse
from simbias.networks import mlp


class Same(AbstractFlowWrapper):
    flow: AbstractFlow

    @property
    def inner(self):
        return self.flow


def test_a_wrapped_flow_has_the_events_and_the_size_of_its_own():
    key = jax.random.key(0)
    net = mlp(key, widths=(2, 4, 1))
    x = jax.random.normal(key, (3, 2))
    data = Dataset(x, x[:, :1], jnp.ones(3), x[:, :1], x[:1])
    flow = DeepReluFlow(rtol=jnp.asarray(1e-4), events=5)
    same = Same(flow)
    states = [f.init(net, data, half_mse, key) for f in (flow, same)]
    assert eqx.tree_equal(*states)
    seen, plain = same.history(states[1]), flow.history(states[0])
    assert seen.keys() == plain.keys() != set()
    sizes = [f.attempt_size(net, 3, 8, 8) for f in (flow, same)]
    assert sizes[0] == sizes[1]
    assert same.step_equations(states[1]) is None
