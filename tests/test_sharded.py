"""Lanes on two devices in one program; run in a child process that has two."""

import functools
import re

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from small import small
from two_devices import printed_by

from simbias.ensemble.engine import exact_numerics
from simbias.ensemble.events import Progress
from simbias.ensemble.lane import advance_all
from simbias.ensemble.plan import make_plan
from simbias.ensemble.programs import Programs, idle
from simbias.ensemble.sharded import advance_sharded

ATTEMPTS = 1000


def four_lanes(**changes):
    plan = make_plan(small(cell={"n": 20, "scale": (0.1, 0.5)}, seeds=2, **changes))
    programs = Programs(plan, "cpu", Progress())
    members = [(member, member) for member in range(4)]
    return plan.recorder, programs.begin(members, idle(plan.groups[0].lane, 4))


def collectives(program, *arguments):
    text = program.lower(*arguments).compile().as_text()
    names = "all-reduce|all-gather|all-to-all|reduce-scatter|collective"
    return re.findall(names, text)


def check(layout, **changes):
    """To be called where there are two devices."""
    devices = jax.devices()
    assert len(devices) == 2
    with exact_numerics():
        recorder, lanes = four_lanes(**changes)
        attempts = jnp.int32(ATTEMPTS)
        advance = functools.partial(advance_all, recorder, layout=layout)
        alone = jax.jit(lambda lanes, attempts: advance(lanes, attempts=attempts))
        sharded = jax.jit(
            lambda lanes, attempts: advance_sharded(
                recorder, lanes, attempts, layout, devices
            )
        )
        found = sharded(lanes, attempts)
        assert {v.sharding.num_devices for v in jax.tree.leaves(found)} == {2}
        for i, device in enumerate(devices):
            share = jax.tree.map(lambda v: v[2 * i : 2 * i + 2], lanes)  # noqa: B023
            expected = alone(jax.device_put(share, device), attempts)
            for mine, theirs in zip(
                jax.tree.leaves(eqx.filter(found, _is_plain)),
                jax.tree.leaves(eqx.filter(expected, _is_plain)),
                strict=True,
            ):
                np.testing.assert_array_equal(mine[2 * i : 2 * i + 2], theirs)
        assert collectives(sharded, lanes, attempts) == []
        # The other way there are some, so that the line above can fail.
        mesh = jax.sharding.Mesh(np.asarray(devices), ("lane",))
        spread = jax.sharding.NamedSharding(mesh, jax.P("lane"))
        assert collectives(alone, jax.device_put(lanes, spread), attempts) != []


def _is_plain(leaf):
    return not jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def test_two_devices_in_one_program_give_the_bytes_of_each_alone():
    printed_by(
        "from test_sharded import check; check('in turn'); check('side by side')"
    )


def test_lanes_that_cannot_be_shared_equally_are_refused():
    with exact_numerics():
        recorder, lanes = four_lanes()
        devices = jax.devices()[:1] * 3
        with pytest.raises(ValueError, match="`lanes` must be a multiple"):
            advance_sharded(recorder, lanes, jnp.int32(1), "in turn", devices)
