"""How fast is a device, with how many lanes, and how far does one large member get?"""

import dataclasses
import functools
import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import throughput
from _agreement import is_equal
from _on_device import Cases, Place, small

from simbias.core import Status
from simbias.ensemble.events import Progress
from simbias.ensemble.lanes import idle
from simbias.ensemble.memory import bytes_in_flight, lanes_that_fit
from simbias.ensemble.pace import Pace
from simbias.ensemble.plan import make_plan
from simbias.ensemble.programs import Programs
from simbias.experiments import threshold
from simbias.flows.descent import Descent
from simbias.numerics.exact_numerics import exact_numerics
from simbias.verbs.simulate import simulate

# n, m, d, members: of benchmarks/throughput.py, with as many members as are worth it.
CASES = {
    "tiny": (20, 100, 2, 4096),
    "small": (100, 200, 5, 2048),
    "medium": (400, 400, 5, 1024),
    "square": (1000, 1000, 20, 256),
    "wide": (1000, 10_000, 5, 64),
}
LANES = (1, 8, 64, 512, 4096)
# Multiplications of all steps together, and how many steps that is at most.
_WORK, _MOST_STEPS = 1e12, 2000
# Arrays of n × m that a vmapped batch may hold.
_COPIES = 16
_DTYPES = ("float32", "float64")


def throughput_on(place: Place) -> Cases:
    """Gradient descent, and Tsit5 at a constant step."""
    plain = functools.partial(throughput.simbias_descent, may_fuse=False)
    descent = {
        "simbias": throughput.simbias_descent,
        "simbias_plain": plain,
        "jax_vmap": throughput.by_hand(jax.vmap),
    }
    tsit5 = {
        "simbias": throughput.simbias_flow,
        "diffrax_vmap": throughput.diffrax_by_hand(jax.vmap),
    }
    cases = {"smallest": (5, 8, 2, 3)} if place.is_smallest else CASES
    for name, sizes in cases.items():
        for dtype in _DTYPES[-1:] if place.is_smallest else _DTYPES:
            race = functools.partial(raced, place, name, sizes, dtype)
            yield f"{name}, {dtype}, gd", functools.partial(race, "gd", descent)
            if not place.is_smallest:  # which takes long to compile
                yield f"{name}, {dtype}, tsit5", functools.partial(race, "tsit5", tsit5)


def scaling(place: Place) -> Cases:
    """Lanes, memory, devices."""
    only = {"simbias": throughput.simbias_descent}
    for dtype in _DTYPES[:1] if place.is_smallest else _DTYPES:
        for lanes in (2,) if place.is_smallest else LANES:
            sizes = ((5, 8, 2) if place.is_smallest else (100, 200, 5)) + (lanes,)
            race = functools.partial(raced, place, "lanes", sizes, dtype, "gd", only)
            yield f"{lanes} lanes, {dtype}", race
    yield "lanes for the memory", functools.partial(memory, place)
    if len(place.devices) > 1:
        yield f"{len(place.devices)} devices", functools.partial(devices, place)


def raced(
    place: Place, name: str, sizes: Any, dtype: str, method: str, contenders: Any
) -> dict[str, Any]:
    """Medians of rounds in turn, of as many members as the memory holds."""
    n, m, d, members = sizes
    if place.bytes_limit is not None:
        each = _COPIES * n * m * jnp.dtype(dtype).itemsize
        members = max(1, min(members, place.bytes_limit // 2 // each))
    work, repeats = (1e3, 1) if place.is_smallest else (_WORK, 3)
    steps = max(2, min(int(work / (n * m * d * members * 4)), _MOST_STEPS))
    steps = steps if method == "gd" else max(steps // 6, 2)
    arrays = throughput.draw(n, m, d, members, dtype)
    sizes = (n, m, d, members)
    rows = throughput.race(
        name, sizes, dtype, method, contenders, arrays, steps, repeats
    )
    shown = (
        "microseconds_per_member_step",
        "ratio_to_simbias",
        "distance_from_simbias",
    )
    return {
        "n_m_d_members": sizes,
        "dtype": dtype,
        "method": method,
        "steps": steps,
        "contenders": {row["contender"]: {k: row[k] for k in shown} for row in rows},
    }


def memory(place: Place) -> dict[str, Any]:
    """A run with the lanes that were chosen, which ends, and what it took at most."""
    size = 8 if place.is_smallest else 1000
    members = 8 if place.is_smallest else 4096
    experiment = small(place, Descent(rate=0.05), n=size, m=size, activation="relu")
    experiment = dataclasses.replace(experiment, seeds=members)
    if not place.is_smallest:  # where programs are at hand if nothing else differs
        experiment = dataclasses.replace(experiment, times=(0.1,), final={})
    plan = make_plan(experiment)
    with place.side_by_side():
        ds = simulate(experiment, devices=[place.device])
    taken = (place.device.memory_stats() or {}).get("peak_bytes_in_use")
    is_done = bool((ds["status"] == Status.REACHED_TIME).all())
    return {
        "lanes": lanes_that_fit(plan.groups[0], place.device),
        "bytes_predicted": bytes_in_flight(plan, [place.device]),
        "bytes_at_most_so_far": taken,  # of this process, not of this case alone
        "holds": is_done,
    }


def devices(place: Place) -> dict[str, Any]:
    """The same bits from one device and from all; seconds, compiling apart."""
    experiment = small(place, Descent(rate=0.05), activation="relu")
    experiment = dataclasses.replace(
        experiment, seeds=16 if place.is_smallest else 4096
    )
    found, seconds = {}, {}
    with place.side_by_side():
        for count in (1, len(place.devices)):
            run = functools.partial(simulate, lanes=8 if place.is_smallest else 256)
            for _ in range(1 if place.is_smallest else 2):  # the first one compiles
                began = time.monotonic()
                found[count] = run(experiment, devices=place.devices[:count])
                seconds[count] = round(time.monotonic() - began, 3)
    one, all_ = found.values()
    return {"seconds_by_devices": seconds, "holds": is_equal(one, all_)}


def paper(place: Place) -> Cases:
    """The largest member of the paper's experiment, as far as it gets."""
    yield "threshold, one member", functools.partial(paper_member, place)


def paper_member(place: Place) -> dict[str, Any]:
    """In rounds, until it is finished or no time is left."""
    experiment = threshold.experiment("smoke" if place.is_smallest else "paper")
    sizes: Any = experiment.cell["n"]
    cell = {**experiment.cell, "n": max(sizes)}
    if place.is_smallest:
        cell = {**cell, "n": 4, "m": 8, "n_test": 1}
        risk = {"train_risk": experiment.measures["train_risk"]}
        experiment = dataclasses.replace(
            experiment, flow=Descent(), times=(1.0,), measures=risk, stop=None
        )
    experiment = dataclasses.replace(experiment, cell=cell, seeds=1, final={})
    plan = make_plan(experiment)
    programs, pace, seconds = Programs(plan, "gpu", Progress()), Pace(), []
    with exact_numerics(), jax.default_device(place.device):
        lanes = programs.begin([(0, 0)], idle(plan.groups[0].lane, 1))
        is_running = True
        while is_running and place.clock.left() > 0:
            began = time.monotonic()
            lanes = programs.advance(pace.attempts, lanes)
            is_running = int(lanes.state.status[0]) == Status.RUNNING
            seconds.append(time.monotonic() - began)
            pace.after(seconds[-1], 0, is_running)
        state, risk = lanes.state, np.asarray(lanes.records["train_risk"][0])
    recorded = risk[np.isfinite(risk)]
    return {
        "n_m": [cell["n"], cell.get("m")],
        "status": Status(int(state.status[0])).name,
        "flow_time": float(state.time[0]),
        "of": experiment.times[-1],
        "stats": {name: int(v[0]) for name, v in state.stats.items()},
        "seconds_of_first_round": round(seconds[0], 2),  # compiling included
        "seconds_of_others": round(sum(seconds[1:]), 2),
        "train_risk": float(recorded[-1]) if recorded.size else None,
        "holds": not Status(int(state.status[0])).is_failure,
    }
