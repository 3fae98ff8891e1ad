"""The compiled programs of a plan, shared by its stations."""

import functools
import itertools
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, UInt

from simbias.core import (
    AbstractFlow,
    Experiment,
)
from simbias.ensemble.calls import Calls
from simbias.ensemble.events import Finished, Leaves, Progress, from_host
from simbias.ensemble.grid import Cell
from simbias.ensemble.keys import key_numbers
from simbias.ensemble.lane import Lane, Layout, advance_all
from simbias.ensemble.lanes import (
    Drawn,
    draw_members,
    finish_members,
    place_lane,
    spread_lane,
    start_members,
)
from simbias.ensemble.members import Maker, maker, member_flow
from simbias.ensemble.memory import members_together
from simbias.ensemble.plan import Plan
from simbias.errors import BadInput
from simbias.numerics.program_cache import quick_to_compile, quickest_to_compile
from simbias.validation.targets import readers_of, refuse

# A member and the place of its lane.
Seat = tuple[int, int]


class Programs:
    """Begin, place, advance and take lanes; each is compiled once per shape.

    Members begin and are taken some at a time, each by itself in a loop inside the
    program: what calling a program costs the host is shared, and nothing a member
    computes depends on who else was called.

    A run traces its own programs: what `make`, a loss or a measure reads besides its
    arguments may have changed since the last one.  Compiling what came out the same is
    spared by the cache on disk, see `simbias.cache_programs`.
    """

    def __init__(self, plan: Plan, platform: str, progress: Progress):
        self.plan = plan
        self.layout: Layout = "in turn" if platform == "cpu" else "side by side"
        self.progress = progress
        progress.shapes = len(plan.groups)
        self._call = Calls(progress)
        brief = quick_to_compile()
        jit: Any = eqx.filter_jit  # whose type leaves out the options of jax.jit
        donating = lambda f, options: jit(
            lambda first, lanes: f(first, lanes),
            donate="all-except-first",
            compiler_options=options,
        )
        self._draw = _brief(draw_members, quickest_to_compile())
        self._take = _brief(finish_members, brief)
        self._start = donating(functools.partial(start_members, plan.recorder), brief)
        self._place = donating(place_lane, brief)
        self._spread = donating(spread_lane, brief)
        self._advance = donating(
            lambda attempts, lanes: advance_all(
                plan.recorder, lanes, attempts, self.layout
            ),
            None,
        )
        self._traced = functools.lru_cache(1024)(self._traced_of)

    def begin(self, seats: Sequence[Seat], lanes: Lane) -> Lane:
        """`lanes` with members at time 0 in some places.

        Raises:
            ValueError: for labels that the loss does not see, naming the member.
        """
        cell_of = lambda seat: seat[0] // self.plan.seeds
        together = members_together(lanes)
        for cell, of_cell in itertools.groupby(seats, cell_of):
            for some in _parts(list(of_cell), together):
                lanes = self._begin(cell, some, together, lanes)
        return lanes

    def resume(self, group: int, leaves: Leaves) -> Lane:
        """A member where it was when its lane was saved."""
        return from_host(self.plan.groups[group].lane, leaves)

    def place(self, place: int, lane: Lane, lanes: Lane) -> Lane:
        """`lanes` with one of them replaced."""
        return self._call(self._place, (jnp.int32(place), lane), lanes)

    def spread(self, places: Sequence[int | None], lanes: Lane) -> Lane:
        """`lanes` whose empty places hold a copy of another, in which nothing runs.

        Lanes side by side all compute, so that none may hold what no member can be.
        """
        is_empty = np.asarray([member is None for member in places])
        place = jnp.int32(np.argmin(is_empty))
        return self._call(self._spread, (place, jnp.asarray(is_empty)), lanes)

    def prepare(self, lanes: Lane) -> Lane:
        """The same lanes, in which nothing runs, and what will advance them.

        That is compiled unless another station is about it: who does not compile draws
        its members meanwhile.
        """
        none = jnp.int32(0)
        if self._call.is_wanted(self._advance, none, lanes):
            lanes = self._call(self._advance, none, lanes)
        return lanes

    def advance(self, attempts: int, lanes: Lane) -> Lane:
        """A round, whose seconds `progress` notes for this thread."""
        count, me = jnp.int32(attempts), threading.current_thread()
        if not self._call.is_compiled(self._advance, count, lanes):
            # One of no attempts: what follows is computing, and not compiling.
            lanes = self._call(self._advance, jnp.int32(0), lanes)
        began = time.perf_counter()
        lanes = self._call(self._advance, count, lanes)
        jax.block_until_ready(lanes.state.status)
        taken = self.progress.stepping.get(me, 0.0)
        self.progress.stepping[me] = taken + time.perf_counter() - began
        return lanes

    def take(self, places: Sequence[int], lanes: Lane) -> list[Finished]:
        """What is kept of members that are finished, on the host."""
        out: list[Finished] = []
        final, together = dict(self.plan.experiment.final), members_together(lanes)
        for some in _parts(places, together):
            count, padded = jnp.int32(len(some)), _padded(some, together)
            stacked = self._call(self._take, final, padded, count, lanes)
            leaves, structure = jax.tree.flatten(jax.device_get(stacked))
            for i in range(len(some)):
                out.append(jax.tree.unflatten(structure, [v[i] for v in leaves]))
        return out

    def _begin(
        self, index: int, seats: Sequence[Seat], together: int, lanes: Lane
    ) -> Lane:
        experiment, cell = self.plan.experiment, self.plan.grid.cells[index]
        count, seeds = len(seats), [self.plan.seed(member) for member, _ in seats]
        numbers, flow = self._traced(index)
        fixed, keys = _asked(experiment, cell, seeds, together)
        drawn = self._call(self._draw, fixed, numbers, keys, jnp.int32(count))
        found, readers = jax.device_get(drawn.faults), _readers(experiment)
        for i, seed in enumerate(seeds):
            try:
                of_one = jax.tree.map(lambda v: v[i], found)  # noqa: B023
                refuse(experiment.loss, readers, of_one)
            except ValueError as error:
                raise BadInput(f"seed {seed} of {cell.arguments}: {error}") from None
        places = _padded([place for _, place in seats], together)
        return self._call(self._start, (flow, drawn, places, jnp.int32(count)), lanes)

    def _traced_of(self, index: int) -> tuple[dict[str, jax.Array], AbstractFlow]:
        """Numbers and flow of a cell, traced: a sweep over them compiles once."""
        cell = self.plan.grid.cells[index]
        return _numbers(cell), member_flow(self.plan.experiment, cell)


def drawer() -> Callable[[Experiment, Cell, Sequence[int], int], Drawn]:
    """Draws members of a cell as a run does, to the last bit, outside a run.

    The function takes the experiment, the cell, the seeds, and how many places there
    are, at least one for each of them; those that are left hold zeros.
    """
    program = _brief(draw_members, quickest_to_compile())

    def drawn(experiment: Experiment, cell: Cell, seeds: Sequence[int], places: int):
        fixed, keys = _asked(experiment, cell, seeds, places)
        return program(fixed, _numbers(cell), keys, jnp.int32(len(seeds)))

    return drawn


def _readers(experiment: Experiment) -> list[tuple[str, Any]]:
    measures = {**experiment.measures, **experiment.final}
    return readers_of(measures, experiment.stop)


def _brief(f: Callable[..., Any], options: dict[str, Any]) -> Any:
    """A program that does not run for long."""
    jit: Any = eqx.filter_jit  # whose type leaves out the options of jax.jit
    own = lambda *arguments: f(*arguments)  # traced anew
    return jit(own, compiler_options=options)


def _numbers(cell: Cell) -> dict[str, jax.Array]:
    return {k: jnp.asarray(np.asarray(v)) for k, v in cell.numbers.items()}


def _asked(
    experiment: Experiment, cell: Cell, seeds: Sequence[int], places: int
) -> tuple[tuple[Maker, Any], UInt[Array, "members 3"]]:
    """What is fixed of members that are drawn together, and their keys."""
    keys = np.zeros((places, 3), np.uint32)
    keys[: len(seeds)] = [key_numbers(experiment.root, cell, seed) for seed in seeds]
    return (maker(experiment), cell.sizes), jnp.asarray(keys)


def _parts(values: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    for first in range(0, len(values), size):
        yield values[first : first + size]


def _padded(places: Sequence[int], width: int) -> Int[Array, " members"]:
    out = np.zeros(width, np.int32)
    out[: len(places)] = places
    return jnp.asarray(out)
