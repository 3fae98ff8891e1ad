"""The exact flow as it was at an earlier commit, run by the code of that commit."""

import io
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile

import numpy as np

_ROOT = pathlib.Path(__file__).resolve().parent.parent
# What the child does: the flow in pieces, compiled before it is timed.
_CHILD = """
import json, sys, time
import equinox as eqx, jax, jax.numpy as jnp, numpy as np
jax.config.update("jax_enable_x64", True)
from simbias.core import Dataset, Status
from simbias.flows.relu_flow import ReluFlow
from simbias import losses
from simbias.networks.two_layer import TwoLayer

told = np.load("start.npz")
w, a, x, y = (jnp.asarray(told[k]) for k in "waxy")
patience, rtol = float(told["patience"]), float(told["rtol"])
loss = getattr(losses, str(told["loss"]))
none = jnp.zeros((0, x.shape[1]), x.dtype)
data = Dataset(x, y, jnp.ones(x.shape[0], x.dtype), y, none)
flow, network = ReluFlow(rtol=rtol), TwoLayer(w, a)

@eqx.filter_jit
def advanced(state, until):
    goes = lambda s: (s.status == Status.RUNNING) & (s.time < until)
    step = lambda s: flow.step(s, data, loss, until)
    return jax.lax.while_loop(goes, step, state)

state = eqx.filter_jit(flow.init)(network, data, loss, jax.random.key(0))
jax.block_until_ready(advanced(state, jnp.float64(1e-9)).time)
seconds = 0.0
for until in told["pieces"]:
    began = time.process_time()
    state = advanced(state, jnp.float64(until))
    is_over = int(state.status) != Status.RUNNING
    seconds += time.process_time() - began
    if is_over or seconds > patience:
        break
np.savez("end.npz", f=jax.vmap(state.network)(x))
found = {"time": float(state.time), "status": int(state.status), "seconds": seconds}
print(json.dumps({**found, "evaluations": int(state.stats["evaluations"])}))
"""


def is_held(commit: str) -> bool:
    """Whether this clone has the commit: one that is shallow has not."""
    git = ["git", "-C", str(_ROOT), "cat-file", "-e", f"{commit}^{{commit}}"]
    return subprocess.run(git, capture_output=True, check=False).returncode == 0


def of_commit(
    commit: str,
    arrays: dict[str, np.ndarray],
    loss: str,
    rtol: float,
    pieces: tuple[float, ...],
    patience: float,
) -> tuple[dict, np.ndarray]:
    """What it took, and f on the sample where it ended.

    Args:
        commit: one that this clone of the repository holds.
        arrays: `w`, `a`, `x` and `y` of a member.
        loss: its name.
        rtol: of the flow.
        pieces: times; after each of them it may be told to end.
        patience: seconds after which it ends.

    Raises:
        RuntimeError: if the commit is not there, or its code fails.
    """
    git = ["git", "-C", str(_ROOT), "archive", commit, "simbias"]
    taken = subprocess.run(git, capture_output=True, check=False)
    if taken.returncode:
        raise RuntimeError(taken.stderr.decode().strip())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        with tarfile.open(fileobj=io.BytesIO(taken.stdout)) as packed:
            packed.extractall(folder, filter="data")
        told = {"pieces": pieces, "patience": patience, "rtol": rtol, "loss": loss}
        np.savez(folder / "start.npz", **arrays, **told)
        done = subprocess.run(
            [sys.executable, "-c", _CHILD],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(folder)},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(done.stderr[-2000:])
        end = np.load(folder / "end.npz")["f"]
    return json.loads(done.stdout.splitlines()[-1]), end
