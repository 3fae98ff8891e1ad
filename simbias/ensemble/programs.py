"""The compiled programs of a plan, shared by its stations."""

import contextlib
import dataclasses
import functools
import threading
from collections.abc import Iterator
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from simbias.core import Status
from simbias.ensemble.events import Leaves, Progress, from_host
from simbias.ensemble.grid import member_keys
from simbias.ensemble.lane import Lane, Layout, advance_all, start
from simbias.ensemble.plan import Plan, draw, member_flow


class Programs:
    """Start, place, advance and take lanes; each is compiled once per shape."""

    def __init__(self, plan: Plan, platform: str, progress: Progress):
        experiment, recorder = plan.experiment, plan.recorder
        layout: Layout = "in turn" if platform == "cpu" else "side by side"
        self.plan = plan
        self._progress = progress
        self._guard = threading.Lock()
        self._locks: dict[Any, threading.Lock] = {}
        self._ready: set[Any] = set()
        self._draws: dict[Any, Any] = {}
        self._begin = eqx.filter_jit(functools.partial(start, recorder))

        def advance(attempts: jax.Array, lanes: Lane) -> Lane:
            progress.compiled += 1  # runs when traced: once per shape
            return advance_all(recorder, lanes, attempts, layout)

        self._advance = eqx.filter_jit(advance, donate="all-except-first")
        self._place = eqx.filter_jit(_place, donate="all-except-first")
        self._take = eqx.filter_jit(_take)
        self._final = eqx.filter_jit(
            lambda lane: {
                name: measure(lane.state.network, lane.data)
                for name, measure in experiment.final.items()
            }
        )

    def begin(self, member: int) -> Lane:
        """A member at time 0."""
        plan = self.plan
        cell = plan.cell(member)
        sizes = tuple(cell.sizes.items())
        # Numbers are traced, so that a sweep over them compiles once.
        program = self._draws.setdefault(
            sizes,
            eqx.filter_jit(
                lambda key, numbers: draw(
                    plan.experiment, {**cell.sizes, **numbers}, key
                )
            ),
        )
        key_draw, key_flow = member_keys(plan.experiment.root, cell, plan.seed(member))
        numbers = {k: jnp.asarray(np.asarray(v)) for k, v in cell.numbers.items()}
        data, network = self._once(program, (key_draw, numbers), sizes)
        flow = member_flow(plan.experiment, cell)
        return self._once(self._begin, (flow, network, data, key_flow), "begin")

    def resume(self, group: int, leaves: Leaves) -> Lane:
        """A member where it was when its lane was saved."""
        return from_host(self.plan.groups[group].lane, leaves)

    def place(self, i: int, lane: Lane, lanes: Lane) -> Lane:
        """`lanes` with one of them replaced."""
        return self._once(self._place, ((jnp.int32(i), lane), lanes), "place")

    def advance(self, attempts: int, lanes: Lane) -> Lane:
        """A round."""
        return self._once(self._advance, (jnp.int32(attempts), lanes), "advance")

    def take(self, i: int, lanes: Lane) -> tuple[Lane, dict[str, jax.Array]]:
        """One lane, and its final measures."""
        lane = self._once(self._take, (jnp.int32(i), lanes), "take")
        return lane, self._once(self._final, (lane,), "final")

    def _once(self, program: Any, arguments: tuple, name: Any) -> Any:
        """Call a program; of several threads that need it compiled, one compiles."""
        shapes = jax.tree.map(lambda v: (v.shape, str(v.dtype)), arguments)
        key = (name, jax.tree.structure(shapes), tuple(jax.tree.leaves(shapes)))
        if key in self._ready:
            return program(*arguments)
        with self._guard:
            lock = self._locks.setdefault(key, threading.Lock())
        with self._compiling(), lock:
            out = program(*arguments)
            self._ready.add(key)
        return out

    @contextlib.contextmanager
    def _compiling(self) -> Iterator[None]:
        self._progress.compiling += 1
        try:
            yield
        finally:
            self._progress.compiling -= 1


def idle(lane: Lane, width: int) -> Lane:
    """`width` lanes in which nothing runs."""
    status = jnp.int32(Status.REACHED_TIME)
    state = dataclasses.replace(lane.state, status=status)
    lane = dataclasses.replace(lane, state=state)
    return jax.tree.map(lambda v: jnp.stack([v] * width), lane)


def _place(new: tuple[jax.Array, Lane], lanes: Lane) -> Lane:
    i, lane = new
    return jax.tree.map(lambda all_, one: all_.at[i].set(one), lanes, lane)


def _take(i: jax.Array, lanes: Lane) -> Lane:
    return jax.tree.map(lambda v: v[i], lanes)
