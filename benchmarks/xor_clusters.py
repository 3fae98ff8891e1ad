"""Does simbias follow the published code on XOR-like clusters, and how fast?

`wide`: from the data and the start of the published run of the wide network (m = 4096,
8192 epochs) the same gradient descent and the exact flow: seconds, deviation of the
scale √Σ‖wⱼ‖² along the way, distance of the final weights from the published ones.
Then the dynamic test of the embedding: at t = 60 every group of neurons is replaced by
one neuron, and both networks go on; the distance of their outputs until the end.
`four`: the three published runs of four neurons (32,768 epochs); scales and angles
against the published ones, by the published descent, by the same with the residual in
the published form, and by the exact flow.

    python benchmarks/xor_clusters.py [FOLDER] [--parts wide four] [--json FILE|-]
    python benchmarks/xor_clusters.py --smallest
    python benchmarks/xor_clusters.py --figure FILE.png

The last draws the four-neuron run under the published descent and the exact flow.

tests/reference has all four-neuron runs, and the wide one at 90° without its end.
FOLDER, if given, holds both wide runs with their ends, runB_2_pi2.npz and
runB_2_pi3.npz: X (n, 2), y (n,), W0 (m, 2), a0, W, a and `scales` (epochs + 1).  The
published code took 143 s per run on two cores.
"""

import argparse
import dataclasses
import pathlib
import time
from typing import get_args

import jax
import jax.numpy as jnp
import numpy as np
from _results import machine, written
from jaxtyping import Array, Float
from matplotlib.figure import Figure

from simbias.core import AbstractFlow, Dataset
from simbias.experiments import xor_clusters as paper
from simbias.experiments import xor_four_neurons as neurons
from simbias.figures.style import COLOURS, blank, style
from simbias.flows.relu_flow import ReluFlow
from simbias.losses import logistic
from simbias.measures.clusters.direction_groups import DirectionGroups
from simbias.measures.neurons.neuron_weights import NeuronWeights
from simbias.measures.risk.train_loss import TrainLoss
from simbias.networks.two_layer import TwoLayer
from simbias.verbs.simulate import simulate, solve

REFERENCE = pathlib.Path(__file__).parent.parent / "tests" / "reference"
PUBLISHED_SECONDS = 143.0
EPOCHS = (0, 64, 128, 256, 384, 512, 640, 768, 960, 1280, 2048, 4096, 8192)
METHODS = {
    "gradient descent, rate 2⁻⁴": paper.published_descent(),
    "exact flow, rtol 1e-5": ReluFlow(rtol=1e-5),
}
MEASURES = {
    "weights": NeuronWeights(),
    "loss": TrainLoss(logistic),
    "groups": DirectionGroups(),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=pathlib.Path)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--json", default="-")
    parser.add_argument("--smallest", action="store_true")
    parser.add_argument("--figure", type=pathlib.Path)
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    if options.figure is not None:
        beside().savefig(options.figure, dpi=150)
        return
    document = machine()
    if options.smallest:
        times = (0.0, 1.0, 60.0, 70.0)
        document["wide"] = compare("smallest", drawn(m=32, n=32), times)
    else:
        document |= {part: PARTS[part](options.folder) for part in options.parts}
    written(options.json, document)


def wide(folder: pathlib.Path | None) -> list[dict]:
    """Both angles, or what the tests have of one."""
    files = {"pi2": REFERENCE / "xor_wide.npz"}
    if folder is not None:
        files = {name: folder / f"runB_2_{name}.npz" for name in ("pi2", "pi3")}
    rows = []
    for name, path in files.items():
        with np.load(path) as file:
            run = dict(file)
        rows += compare(name, run, tuple(e * paper.RATE for e in EPOCHS))
    return rows


def four(folder: pathlib.Path | None) -> list[dict]:
    """Three starts under three methods."""
    del folder
    with np.load(REFERENCE / "xor_four_neurons.npz") as file:
        published = dict(file)
    x, y = jnp.asarray(published["X"]), jnp.asarray(published["y"])[:, None]
    data = Dataset(x, y, jnp.ones(len(x)), y, jnp.eye(2))
    times = tuple(map(float, neurons.epoch_times()[published["epochs"]]))
    methods = {
        "published descent": (neurons.published_descent(), logistic),
        "the same, residual sigmoid(f) − y": (neurons.published_descent(), rounded),
        "exact flow, rtol 1e-7": (ReluFlow(rtol=1e-7), logistic),
    }
    # How far each point is off the nearer axis: where neurons of the other class slide.
    nearest = np.arctan2(np.abs(x).min(1), np.abs(x).max(1))
    rows: list[dict] = [
        {
            "points": len(x),
            "distinct": len(np.unique(x, axis=0)),
            "nearest_angles": np.unique(nearest.round(9)).tolist(),
        }
    ]
    for i, start in enumerate(get_args(neurons.Start)):
        for method, (flow, loss) in methods.items():
            network = neurons.four_neurons(start)
            run = solve(network, data, flow, loss, times, {"weights": NeuronWeights()})
            row = {"start": start, "method": method, "status": run.status.name}
            w = run.records["weights"][..., :2]
            turn = (
                w[..., 1] * neurons.HALF_AXES[:, 0]
                - w[..., 0] * neurons.HALF_AXES[:, 1]
            )
            angles = np.arctan2(np.abs(turn), np.sum(w * neurons.HALF_AXES, axis=2))
            met = np.abs(angles[..., None] / nearest - 1).min(axis=(0, 1)) < 1e-6
            row["nearest_angles_met"] = np.unique(nearest[met].round(9)).tolist()
            rows.append(row | apart(np.linalg.norm(w, axis=2), angles, published, i))
    return rows


def apart(scales: np.ndarray, angles: np.ndarray, published: dict, i: int) -> dict:
    """Distance from start number i of the published runs, before the end and at it."""
    off = np.abs(scales / published["scales"][i] - 1).max(axis=1)
    turned = np.abs(angles - published["angles"][i])
    known = np.where(published["angles"][i] > 0, published["angles"][i], np.nan)
    at = int(np.flatnonzero(published["epochs"] == 12)[0])
    return {
        "scales_relative_before_the_end": float(off[:-1].max()),
        "scales_relative_at_the_end": float(off[-1]),
        "angles_relative_before_the_end": float(np.nanmax((turned / known)[:-1])),
        "angles_at_the_end": float(turned[-1].max()),
        "largest_scale_at_t_48": float(scales[at].max()),
        "final_angles": angles[-1].tolist(),
    }


def rounded(
    prediction: Float[Array, "n k"],
    target: Float[Array, "n k"],
    weight: Float[Array, " n"],
) -> Float[Array, ""]:
    """The published residual, sigmoid(f) − y with y in {0, 1}: its gradient only."""
    residual = jax.nn.sigmoid(prediction) - (target + 1) / 2
    linear = jax.lax.stop_gradient(residual) * prediction
    return jnp.sum(weight[:, None] * linear) / jnp.sum(weight)


def beside() -> Figure:
    """Scales and angles of the four neurons: descent broken, the exact flow solid."""
    one = neurons.experiment("smoke")
    runs = {"exact flow": one.flow, "published descent": neurons.published_descent()}
    with style():
        figure = blank(9.0, 3.8)
        left, right = figure.subplots(1, 2)
        for (name, flow), line in zip(runs.items(), ("-", "--"), strict=True):
            ds = simulate(dataclasses.replace(one, flow=flow)).isel(seed=0)
            for axes, values in (
                (left, neurons.scales_of(ds)),
                (right, neurons.angles_of(ds)),
            ):
                rows = abs(values).transpose("neuron", "time").values
                for k, row in enumerate(rows):
                    label = name if k == 0 else None
                    axes.plot(ds["time"], row, line, lw=0.9, c=COLOURS[k], label=label)
        for axes, title in ((left, "scale ‖wₖ‖"), (right, "angle with its own axis")):
            axes.set_title(title)
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.set_xlim(10, 1e4)
            axes.set_xlabel("time, the sum of the rates")
        right.set_ylim(1e-7, 1e-1)
        left.legend()
    return figure


def drawn(m: int, n: int) -> dict[str, np.ndarray]:
    """A start of our own, in the format of the published runs (without an end)."""
    data, network = paper.make(jax.random.key(0), m=m, n=n)
    assert isinstance(network, TwoLayer)
    arrays = {"X": data.x, "y": data.y[:, 0], "W0": network.w, "a0": network.a[:, 0]}
    return {name: np.asarray(v) for name, v in arrays.items()}


def compare(name: str, run: dict, times: tuple[float, ...]) -> list[dict]:
    """One row per method."""
    x, y = jnp.asarray(run["X"]), jnp.asarray(run["y"])[:, None]
    angle = {"pi2": np.pi / 2, "pi3": np.pi / 3}.get(name, np.pi / 2)
    features = jnp.asarray([[1.0, 0.0], [np.cos(angle), np.sin(angle)]])
    data = Dataset(x, y, jnp.ones(len(x)), y, features)
    network = TwoLayer(jnp.asarray(run["W0"]), jnp.asarray(run["a0"])[:, None])
    rows = []
    for method, flow in METHODS.items():
        solve(network, data, flow, logistic, times, MEASURES)  # compiles
        began, worked = time.perf_counter(), time.process_time()
        ours = solve(network, data, flow, logistic, times, MEASURES)
        seconds = time.perf_counter() - began
        cpu = time.process_time() - worked
        row = {
            "run": name,
            "method": method,
            "status": ours.status.name,
            "seconds": round(seconds, 2),
            "cpu_seconds": round(cpu, 2),
            "evaluations": ours.stats["evaluations"],
            "final_loss": float(ours.records["loss"][-1]),
            "final_angles_over_pi": angles(ours.records["groups"][-1]),
            "embedding": embedding(flow, data, ours.records, times),
        }
        if "scales" in run:
            row |= against(run, ours.records["weights"], times)
            row["times_faster"] = round(PUBLISHED_SECONDS / seconds, 1)
        rows.append(row)
    return rows


def against(run: dict, weights: np.ndarray, times: tuple[float, ...]) -> dict:
    """Distance from the published scales along the way, and from the end if known."""
    known = run.get("epochs", np.arange(len(run["scales"])))
    published = dict(zip(known.tolist(), run["scales"].tolist(), strict=True))
    scales = np.sqrt(np.sum(weights[..., :2] ** 2, axis=(1, 2)))
    epochs = np.rint(np.array(times) / paper.RATE).astype(int).tolist()
    apart = [
        s / published[e] - 1
        for s, e in zip(scales, epochs, strict=True)
        if e in published
    ]
    found = {"scales_largest_relative_deviation": float(np.abs(apart).max())}
    if "W" in run:
        end = np.column_stack([run["W"], run["a"]])
        gap = weights[-1] - end
        relative = np.linalg.norm(gap) / np.linalg.norm(end)
        found["final_weights_relative_distance"] = float(relative)
        found["final_weights_largest_difference"] = float(np.abs(gap).max())
    return found


def angles(groups: np.ndarray) -> list[float]:
    """Of the four heaviest groups."""
    kept = np.argsort(-np.linalg.norm(groups, axis=1))[:4]
    found = np.arctan2(groups[kept, 1], groups[kept, 0]) / np.pi
    return [round(float(v), 4) for v in np.sort(found)]


def embedding(
    flow: AbstractFlow, data: Dataset, records: dict, times: tuple[float, ...]
) -> dict:
    """Both networks from t = 60 on: largest rms(f − f₄)/rms(f) on the sample."""
    begin = times.index(paper.CONDENSED)
    groups = records["groups"][begin]
    kept = np.argsort(-np.linalg.norm(groups, axis=1))[:4]
    size = np.sqrt(np.linalg.norm(groups[kept], axis=1))
    sign = np.where(kept < len(groups) // 2, 1.0, -1.0)
    # Balanced neurons with the sums s_g of their groups.
    small = TwoLayer(
        jnp.asarray(groups[kept] / size[:, None]), jnp.asarray((sign * size)[:, None])
    )
    later = tuple(t - times[begin] for t in times[begin:])
    few = solve(small, data, flow, logistic, later, {"weights": NeuronWeights()})
    distances = []
    for i, weights in enumerate(few.records["weights"]):
        f, g = (outputs(w, data) for w in (records["weights"][begin + i], weights))
        distances.append(float(np.linalg.norm(f - g) / np.linalg.norm(f)))
    return {"at_t_60": distances[0], "largest_until_the_end": max(distances)}


def outputs(weights: np.ndarray, data: Dataset) -> np.ndarray:
    return np.maximum(np.asarray(data.x) @ weights[:, :2].T, 0) @ weights[:, 2]


PARTS = {"wide": wide, "four": four}


if __name__ == "__main__":
    main()
