"""The bytes of a member are its own: whatever runs it, beside whom, in what pieces."""

import dataclasses
import hashlib
import pathlib
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr
from small import make, small
from two_devices import printed_by

from simbias.core import Status
from simbias.ensemble.events import Progress, fits, from_host, to_host
from simbias.ensemble.lanes import idle
from simbias.ensemble.plan import make_plan
from simbias.ensemble.programs import Programs
from simbias.flows.descent import Descent
from simbias.flows.gradient_flow import GradientFlow
from simbias.networks.two_layer_init import balanced
from simbias.numerics.exact_numerics import exact_numerics
from simbias.verbs.simulate import simulate

pytestmark = pytest.mark.bits

SANE, WRONG = (0, 1), (2, 3, 4, 5)


def troubled(key, *, kind: int = 0, activation: str = "relu"):
    """Members of kind 2 to 5 have a NaN or an infinity in their start or their data."""
    data, _ = make(key, n=6)
    network = balanced(key, m=6, d=2, scale=0.3, activation=activation)
    if kind in (2, 3):
        poison = jnp.nan if kind == 2 else jnp.inf
        network = dataclasses.replace(network, w=network.w.at[0, 0].set(poison))
    if kind == 4:
        data = dataclasses.replace(data, x=data.x.at[0, 0].set(jnp.nan))
    if kind == 5:
        data = dataclasses.replace(data, y=data.y.at[0, 0].set(jnp.inf))
    return data, network


@pytest.mark.long
@pytest.mark.parametrize(
    ("flow", "activation"), [(Descent(), "relu"), (GradientFlow(), "tanh")]
)
def test_a_member_that_is_not_finite_says_so_at_once_and_changes_nobody(
    flow, activation
):
    cell = {"kind": (0, *WRONG, 1), "activation": activation}
    experiment = small(make=troubled, cell=cell, seeds=2, flow=flow, final={})
    ds = simulate(experiment, lanes=2)
    wrong = ds.sel(kind=list(WRONG))
    assert (wrong["status"] == Status.NONFINITE).all()
    assert (wrong["end_time"] == 0).all()
    assert (wrong["accepted"] + wrong["rejected"] <= 1).all()
    assert wrong["risk"].sel(time=[1, 5]).isnull().all()
    alone = dataclasses.replace(experiment, cell={**cell, "kind": SANE})
    sane = ds.sel(kind=list(SANE))
    assert (sane["status"] == Status.REACHED_TIME).all()
    np.testing.assert_array_equal(sane["risk"], simulate(alone)["risk"])


def test_a_start_too_large_to_compute_with_is_a_failure():
    cell = {"n": 6, "scale": (0.1, 1e30, 1e200)}
    ds = simulate(small(cell=cell, flow=Descent(), final={}))
    large = ds.sel(scale=[1e30, 1e200])
    assert (large["status"] == Status.NONFINITE).all()
    assert large["risk"].sel(time=5).isnull().all()
    alone = simulate(small(cell={**cell, "scale": 0.1}, flow=Descent(), final={}))
    np.testing.assert_array_equal(ds["risk"].sel(scale=0.1), alone["risk"])


CELL = {"n": 6, "scale": (0.1, 0.5)}


def digest(ds: xr.Dataset) -> str:
    names = ["status", "end_time", "risk", "norms"]
    return hashlib.sha256(b"".join(ds[n].values.tobytes() for n in names)).hexdigest()


@pytest.mark.long
def test_another_process_with_two_devices_and_one_core_gives_the_same_bytes():
    code = (
        "import os, sys; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
        f"sys.path.append({str(pathlib.Path(__file__).parent)!r})\n"
        "from small import small\n"
        "from test_equal_bytes import CELL, digest\n"
        "from simbias.verbs.simulate import simulate\n"
        "runs = [simulate(small(cell=CELL), lanes=k) for k in (1, 2, None)]\n"
        "one = simulate(small(cell=CELL), devices=jax.devices()[1:])\n"
        "print(len(jax.devices()), *map(digest, [*runs, one]))\n"
    )
    # There with the code that XLA makes by default, here with the older kind.
    devices, *digests = printed_by(code).split()
    assert devices == "2"
    assert {*digests} == {digest(simulate(small(cell=CELL)))}


FLOWS = [
    Descent(batch=3, optimiser="adam", rate=0.01),
    GradientFlow(),
]


def begun(programs, member):
    """The lane of one member at time 0."""
    lanes = idle(programs.plan.groups[0].lane, 1)
    return jax.tree.map(lambda v: v[0], programs.begin([(member, 0)], lanes))


def one_member(flow):
    """The programs of a run of one member, and its lane at time 0."""
    cell = {"kind": 0, "activation": "tanh"}
    plan = make_plan(small(make=troubled, cell=cell, seeds=1, flow=flow, final={}))
    programs = Programs(plan, "cpu", Progress())
    return plan, programs, begun(programs, 0)


@pytest.mark.parametrize("flow", FLOWS, ids=lambda flow: type(flow).__name__)
def test_a_lane_that_is_saved_and_restored_ends_with_the_same_bytes(flow):
    with exact_numerics():
        plan, programs, lane = one_member(flow)
        like = plan.groups[0].lane
        whole = programs.advance(10_000, programs.place(0, lane, idle(lane, 1)))
        lanes = programs.place(0, lane, idle(lane, 1))
        for _ in range(3):
            lanes = programs.advance(3, lanes)
            leaves = [np.asarray(v[0]) for v in to_host(lanes)]
            assert fits(like, leaves)
            assert not fits(like, leaves[1:])
            restored = from_host(like, leaves)
            lanes = programs.place(0, restored, idle(restored, 1))
        assert (lanes.state.status == Status.RUNNING).all()
        parts = programs.advance(10_000, lanes)
        for left, right in zip(to_host(whole), to_host(parts), strict=True):
            assert left.tobytes() == right.tobytes()
            assert left.dtype == right.dtype


@pytest.mark.parametrize(
    ("flow", "platform"), [(FLOWS[0], "cpu"), (FLOWS[1], "gpu")], ids=["cpu", "gpu"]
)
def test_a_round_calls_no_host_and_waits_for_no_other_device(flow, platform):
    with exact_numerics():
        plan, _, lane = one_member(flow)
        programs = Programs(plan, platform, Progress())
        lowered = programs._advance.lower(jnp.int32(8), idle(lane, 3))
        text = lowered.compile().compiled.as_text()
    assert "while" in text
    pattern = "callback|all-reduce|all-gather|all-to-all|collective|reduce-scatter"
    assert not re.findall(pattern, text)
    assert jax.devices()[0].platform == "cpu"
