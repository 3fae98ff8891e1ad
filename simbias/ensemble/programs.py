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

from simbias.compiled import make_room
from simbias.core import (
    AbstractFlow,
    AbstractMeasure,
    AbstractNetwork,
    Dataset,
    Status,
)
from simbias.ensemble.events import Leaves, Progress, from_host
from simbias.ensemble.grid import member_keys
from simbias.ensemble.lane import Lane, Layout, advance_all, start
from simbias.ensemble.plan import Plan, draw, member_flow
from simbias.losses import check_sample


class Programs:
    """Start, place, advance and take lanes; each is compiled once per shape.

    A run traces its own programs: what `make`, a loss or a measure reads besides its
    arguments may have changed since the last one.  Compiling what came out the same is
    spared by the cache on disk, see `simbias.cache_programs`.
    """

    def __init__(self, plan: Plan, platform: str, progress: Progress):
        self.plan = plan
        self.layout: Layout = "in turn" if platform == "cpu" else "side by side"
        self._progress = progress
        self._guard = threading.Lock()
        self._locks: dict[Any, threading.Lock] = {}
        self._ready: set[Any] = set()
        own = lambda f: eqx.filter_jit(lambda *arguments: f(*arguments))
        self._draw, self._start = own(draw), own(start)
        self._take, self._final = own(_take), own(_measured)
        self._place = eqx.filter_jit(
            lambda new, lanes: _placed(new, lanes), donate="all-except-first"
        )
        self._advance = eqx.filter_jit(
            lambda attempts, lanes: advance_all(
                plan.recorder, lanes, attempts, self.layout
            ),
            donate="all-except-first",
        )
        self._traced = functools.lru_cache(1024)(self._traced_of)

    def begin(self, member: int) -> Lane:
        """A member at time 0.

        Raises:
            ValueError: for labels that the loss does not see, naming the member.
        """
        plan, cell = self.plan, self.plan.cell(member)
        experiment, seed = plan.experiment, plan.seed(member)
        key_draw, key_flow = member_keys(experiment.root, cell, seed)
        numbers, flow = self._traced(member // experiment.seeds)
        data, network = self._once(
            self._draw, experiment.make, experiment.dtype, cell.sizes, numbers, key_draw
        )
        try:
            check_sample(experiment.loss, data.y, data.weight)
        except ValueError as error:
            raise ValueError(f"seed {seed} of {cell.arguments}: {error}") from None
        return self._once(self._start, plan.recorder, flow, network, data, key_flow)

    def _traced_of(self, index: int) -> tuple[dict[str, jax.Array], AbstractFlow]:
        """Numbers and flow of a cell, traced: a sweep over them compiles once."""
        cell = self.plan.grid.cells[index]
        numbers = {k: jnp.asarray(np.asarray(v)) for k, v in cell.numbers.items()}
        return numbers, member_flow(self.plan.experiment, cell)

    def resume(self, group: int, leaves: Leaves) -> Lane:
        """A member where it was when its lane was saved."""
        return from_host(self.plan.groups[group].lane, leaves)

    def place(self, i: int, lane: Lane, lanes: Lane) -> Lane:
        """`lanes` with one of them replaced."""
        return self._once(self._place, (jnp.int32(i), lane), lanes)

    def advance(self, attempts: int, lanes: Lane) -> Lane:
        """A round."""
        return self._once(self._advance, jnp.int32(attempts), lanes)

    def take(self, i: int, lanes: Lane) -> tuple[Lane, dict[str, jax.Array]]:
        """One lane, and its final measures."""
        lane = self._once(self._take, jnp.int32(i), lanes)
        final = dict(self.plan.experiment.final)
        return lane, self._once(self._final, final, lane.state.network, lane.data)

    def _once(self, program: Any, *arguments: Any) -> Any:
        """Call a program; of several threads that need it compiled, one compiles."""
        leaves, structure = jax.tree.flatten(arguments)
        shape = lambda v: (v.shape, v.dtype) if eqx.is_array(v) else v
        key = (id(program), structure, tuple(map(shape, leaves)))
        if key in self._ready:
            return program(*arguments)
        with self._guard:
            lock = self._locks.setdefault(key, threading.Lock())
        with self._compiling(), lock:
            make_room()
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


def _placed(new: tuple[jax.Array, Lane], lanes: Lane) -> Lane:
    i, lane = new
    return jax.tree.map(lambda all_, one: all_.at[i].set(one), lanes, lane)


def _take(i: jax.Array, lanes: Lane) -> Lane:
    return jax.tree.map(lambda v: v[i], lanes)


def _measured(
    final: dict[str, AbstractMeasure], network: AbstractNetwork, data: Dataset
) -> dict[str, jax.Array]:
    return {name: measure(network, data) for name, measure in final.items()}
