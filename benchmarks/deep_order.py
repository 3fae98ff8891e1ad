"""Which order has the exact flow of deep networks in the length of its steps?

    python benchmarks/deep_order.py [--json FILE|-] [--smallest]

All steps have one length h, but the last before a time and those that an event ends;
none is rejected for its error.  The error is ‖θ − θ_ref‖/‖θ_ref‖ at the end, with the
flow at rtol 1e-12 as the reference.  The order is the slope of ln(error) on ln(h).

    crossings   deep_leaky_logistic: 3-6-6-1, slope 0.1; nothing slides
    slides      one trained layer between two frozen ones; a unit slides from a time on
    both        deep_three_hidden: 3-5-5-5-1

The lengths are 0.2 to 0.00625, and eight times these for `slides`: in a first run eight
of its eleven errors were of rounding.

Expected: 3 with crossings inside steps, as one leaves an error of h³; at least 4 where
every event ends a step, as the dense output of Tsit5 that finds it has order 4.
"""

import argparse
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from _deep_problems import distance, flat, flowed, problem, sample, started
from _results import machine, written

from simbias import losses
from simbias.core import Status
from simbias.flows.deep_relu_flow import DeepReluFlow
from simbias.networks import Mlp

LENGTHS = tuple(0.2 / 2 ** (k / 2) for k in range(11))
TIGHT = 1e-12
# Errors from here on are of rounding.
FLOOR = 1e-12


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", default="-")
    parser.add_argument("--smallest", action="store_true")
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    names = ("slides",) if options.smallest else tuple(PROBLEMS)
    lengths = LENGTHS[:2] if options.smallest else LENGTHS
    rows = [row for name in names for row in measured(name, lengths)]
    written(options.json, {**machine(), "rows": rows}, a_row_a_line=True)


def measured(name: str, lengths: tuple[float, ...]) -> list[dict[str, Any]]:
    """A row for every length of steps, and one with the order."""
    make, factor = PROBLEMS[name]
    net, data, loss, end = make()
    known = flowed(net, data, (end,), loss, TIGHT)[-1]
    theta, rows = flat(known.network), []
    for length in (factor * length for length in lengths):
        state = with_steps(net, data, loss, end, length)
        counts = {k: int(state.stats[k]) for k in ("crossings", "slides", "releases")}
        error = distance(flat(state.network), theta)
        row = {"problem": name, "h": float(f"{length:.4g}"), **counts}
        row |= {"error": float(f"{error:.3g}"), "status": Status(state.status).name}
        print(row, flush=True)
        rows.append(row)
    used = [(row["h"], row["error"]) for row in rows if row["error"] > FLOOR]
    if len(used) > 2:
        h, error = np.log(np.array(used).T)
        slope = float(np.polyfit(h, error, 1)[0])
        rows.append({"problem": name, "order": round(slope, 2), "lengths": len(used)})
        print(rows[-1], flush=True)
    return rows


def with_steps(net: Any, data: Any, loss: Any, end: float, length: float) -> Any:
    """The state at the end, by steps of one length."""
    flow = DeepReluFlow(rtol=jnp.asarray(1e9), atol=jnp.asarray(1e9))
    state = started(flow, net, data, loss)
    return _go(flow, state, data, loss, jnp.asarray(end), jnp.asarray(length))


@eqx.filter_jit
def _go(
    flow: DeepReluFlow, state: Any, data: Any, loss: Any, end: Any, length: Any
) -> Any:
    running = lambda s: (s.status == Status.RUNNING) & (s.time < end)

    def step(state):
        state = eqx.tree_at(lambda s: s.memory.length, state, length)
        return flow.step(state, data, loss, end)

    return jax.lax.while_loop(running, step, state)


def one_slide() -> Any:
    """Of `test_a_unit_behind_a_frozen_layer_slides_by_the_closed_form`."""
    weights = (np.eye(2), np.array([[1.0, -2.0]]), np.ones((1, 1)))
    frozen = ("weights.0", "weights.2")
    net = Mlp(tuple(map(jnp.asarray, weights)), (None,) * 3, frozen=frozen)
    data = sample(np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([[4.0], [-4.0]]))
    return net, data, losses.half_mse, 3.0


def stored(name: str) -> Any:
    """A stored problem until the first of its times."""
    net, data, loss, file = problem(name)
    return net, data, loss, float(file["times"][0])


# And by what lengths are multiplied.
PROBLEMS = {
    "crossings": (lambda: stored("deep_leaky_logistic"), 1.0),
    "slides": (one_slide, 8.0),
    "both": (lambda: stored("deep_three_hidden"), 1.0),
}


if __name__ == "__main__":
    main()
