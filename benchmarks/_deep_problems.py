"""Deep networks as flat vectors, and their exact flow to given times."""

import pathlib
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from simbias import losses
from simbias.core import AbstractFlow, Dataset, FlowState, Loss, Status
from simbias.flows.deep_relu_flow import DeepReluFlow
from simbias.introspection.trained_arrays import split_trained
from simbias.networks.activations import LeakyRelu
from simbias.networks.dense.mlp import Mlp

REFERENCE = pathlib.Path(__file__).parent.parent / "tests" / "reference" / "deep"


def network(
    widths: tuple[int, ...],
    theta: np.ndarray,
    has_bias: bool = False,
    slope: float = 0.0,
) -> Mlp:
    """Of a vector: the weights of every layer row by row, then its biases."""
    weights, biases, begin = [], [], 0
    for a, b in zip(widths, widths[1:], strict=False):
        weights.append(jnp.asarray(theta[begin : begin + a * b]).reshape(b, a))
        begin += a * b
        biases.append(jnp.asarray(theta[begin : begin + b]) if has_bias else None)
        begin += b if has_bias else 0
    activation = jax.nn.relu if slope == 0 else LeakyRelu(slope)
    return Mlp(tuple(weights), tuple(biases), activation)


def flat(net: Any) -> np.ndarray:
    """The vector of a network."""
    parts = []
    for w, b in zip(net.weights, net.biases, strict=True):
        parts += [np.asarray(w).ravel()] + ([] if b is None else [np.asarray(b)])
    return np.concatenate(parts)


def sample(x: Any, y: Any, weight: Any = None) -> Dataset:
    """A sample without features."""
    x, y = jnp.asarray(x), jnp.asarray(y)
    weight = jnp.ones(len(x), x.dtype) if weight is None else jnp.asarray(weight)
    return Dataset(x, y, weight, y, jnp.zeros((0, x.shape[1]), x.dtype))


@eqx.filter_jit
def advance(
    flow: AbstractFlow, state: FlowState, data: Dataset, loss: Loss, until: Any
) -> FlowState:
    """The state at a time, or where the member ended."""
    running = lambda s: (s.status == Status.RUNNING) & (s.time < until)
    return jax.lax.while_loop(running, lambda s: flow.step(s, data, loss, until), state)


@eqx.filter_jit
def euler(net: Any, data: Dataset, loss: Loss, time: Any, step: Any) -> Any:
    """Explicit Euler with the gradient of jax; its steps cross and slide by luck."""
    params, rest = split_trained(net)

    def value(params):
        out = jax.vmap(eqx.combine(params, rest))(data.x)
        return loss(out, data.y, data.weight)

    def body(_, params):
        return jax.tree.map(lambda v, g: v - step * g, params, jax.grad(value)(params))

    count = jnp.round(time / step).astype(int)
    return eqx.combine(jax.lax.fori_loop(0, count, body, params), rest)


@eqx.filter_jit
def started(flow: Any, net: Any, data: Dataset, loss: Loss) -> FlowState:
    """The state at time 0."""
    return flow.init(net, data, loss, jax.random.key(0))


def flowed(
    net: Any,
    data: Dataset,
    times: Any,
    loss: Loss = losses.half_mse,
    rtol: float = 1e-8,
    **options: Any,
) -> list[FlowState]:
    """The states of the exact flow at the times."""
    flow = DeepReluFlow(rtol=jnp.asarray(rtol), **options)
    state, states = started(flow, net, data, loss), []
    for time in times:
        state = advance(flow, state, data, loss, jnp.asarray(float(time)))
        states.append(state)
    return states


def problem(path: pathlib.Path | str) -> tuple[Mlp, Dataset, Loss, Any]:
    """Network, sample, loss and file of a reference, by its name or its path."""
    path = pathlib.Path(path)
    file = np.load(path if path.suffix else REFERENCE / f"{path}.npz")
    widths = tuple(int(v) for v in file["widths"])
    net = network(widths, file["theta0"], bool(file["bias"]), float(file["slope"]))
    return net, sample(file["x"], file["y"]), getattr(losses, str(file["loss"])), file


def distance(one: np.ndarray, two: np.ndarray) -> float:
    """‖one − two‖ / ‖two‖."""
    return float(np.linalg.norm(one - two) / np.linalg.norm(two))
