"""Lanes on several devices inside one program.

The engine gives each device a thread and a program of its own, and needs none of this.
It is for a program that JAX already runs on all devices at once.
"""

import jax
import numpy as np
from jaxtyping import Array, Int

from simbias.ensemble.lane import Lane, Layout, Recorder, advance_all
from simbias.errors import BadInput

_AXIS = "lane"


def advance_sharded(
    recorder: Recorder,
    lanes: Lane,
    attempts: Int[Array, ""],
    layout: Layout,
    devices: list[jax.Device],
) -> Lane:
    """`advance_all`, with an equal share of the lanes on each device.

    Every device has a loop of its own, which ends when its lanes have; nothing is sent
    from one to another.  (Under `jit` alone, sharded lanes share one loop, and all
    devices wait in every step to agree whether to go on.)  The bytes are those of
    `advance_all` on each share.  Call it under `jit`.

    Args:
        recorder: what is written down, and when.
        lanes: stacked along a leading member axis.
        attempts: attempted steps per lane, at most.
        layout: of the lanes of one device.
        devices: of one kind; the lanes stay on them, in this order.

    Raises:
        ValueError: if the lanes cannot be shared equally.
    """
    width = jax.tree.leaves(lanes)[0].shape[0]
    if not devices or width % len(devices):
        raise BadInput(
            f"`lanes` must be a multiple of the number of `devices`, got {width} lanes "
            f"and {len(devices)} devices. Example: fill up with `programs.idle`."
        )
    shared, whole = jax.P(_AXIS), jax.P()
    run = jax.shard_map(
        lambda lanes, attempts: advance_all(recorder, lanes, attempts, layout),
        mesh=jax.sharding.Mesh(np.asarray(devices), (_AXIS,)),
        in_specs=(shared, whole),
        out_specs=shared,
        # With the check, JAX refuses loops whose carry starts equal on all devices.
        check_vma=False,
    )
    return run(lanes, attempts)
