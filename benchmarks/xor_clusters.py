"""Does simbias follow the published code on XOR-like clusters, and how fast?

From the data and the start of the published run of the wide network (m = 4096, 8192
epochs) the same gradient descent and the exact flow: seconds, distance of the final
weights from the published ones, deviation of the scale √Σ‖wⱼ‖² along the way.  Then
the dynamic test of the embedding: at t = 60 every group of neurons is replaced by one
neuron, and both networks go on; the distance of their outputs until the end.

    python benchmarks/xor_clusters.py FOLDER [--json FILE|-]
    python benchmarks/xor_clusters.py --smallest
    python benchmarks/xor_clusters.py --figure FILE.png

The last draws the four-neuron run under the published descent and the exact flow.

FOLDER holds runB_2_pi2.npz and runB_2_pi3.npz, with X (n, 2), y (n,), W0 (m, 2), a0,
W, a and `scales` (epochs + 1).  The published code took 143 s per run on two cores.
"""

import argparse
import dataclasses
import json
import pathlib
import time

import jax
import jax.numpy as jnp
import numpy as np
from matplotlib.figure import Figure

from simbias.configuration import provenance
from simbias.core import AbstractFlow, Dataset
from simbias.experiments import xor_clusters as paper
from simbias.experiments import xor_four_neurons as four
from simbias.figures.style import COLOURS, blank, style
from simbias.flows.relu_flow import ReluFlow
from simbias.losses import logistic
from simbias.measures.direction_groups import DirectionGroups
from simbias.measures.neuron_weights import NeuronWeights
from simbias.measures.train_loss import TrainLoss
from simbias.networks.two_layer import TwoLayer
from simbias.simulate import simulate, solve

PUBLISHED_SECONDS = 143.0
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
    parser.add_argument("--json", default="-")
    parser.add_argument("--smallest", action="store_true")
    parser.add_argument("--figure", type=pathlib.Path)
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    rows = []
    if options.figure is not None:
        beside().savefig(options.figure, dpi=150)
        return
    if options.smallest:
        rows += compare("smallest", drawn(m=32, n=32), times=(0.0, 1.0, 60.0, 70.0))
    elif options.folder is None:
        parser.error("give the folder of the published runs, or --smallest")
    else:
        epochs = (0, 64, 128, 256, 384, 512, 640, 768, 960, 1280, 2048, 4096, 8192)
        for name in ("pi2", "pi3"):
            with np.load(options.folder / f"runB_2_{name}.npz") as file:
                run = dict(file)
            rows += compare(name, run, tuple(e * paper.RATE for e in epochs))
    document = {**provenance(), "runs": rows}
    text = json.dumps(document, indent=1, ensure_ascii=False)
    if options.json == "-":
        print(text)
    else:
        pathlib.Path(options.json).write_text(text + "\n")


def beside() -> Figure:
    """Scales and angles of the four neurons: descent broken, the exact flow solid."""
    one = four.experiment("smoke")
    runs = {"exact flow": one.flow, "published descent": four.published_descent()}
    with style():
        figure = blank(9.0, 3.8)
        left, right = figure.subplots(1, 2)
        for (name, flow), line in zip(runs.items(), ("-", "--"), strict=True):
            ds = simulate(dataclasses.replace(one, flow=flow)).isel(seed=0)
            for axes, values in (
                (left, four.scales_of(ds)),
                (right, four.angles_of(ds)),
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
            "times_faster": round(PUBLISHED_SECONDS / seconds, 1),
            "evaluations": ours.stats["evaluations"],
            "final_loss": float(ours.records["loss"][-1]),
            "final_angles_over_pi": angles(ours.records["groups"][-1]),
            "embedding": embedding(flow, data, ours.records, times),
        }
        if "W" in run:
            row |= against(run, ours.records["weights"], times)
        else:
            del row["times_faster"]
        rows.append(row)
    return rows


def against(run: dict, weights: np.ndarray, times: tuple[float, ...]) -> dict:
    """Distance from the published end, and from its scales along the way."""
    end = np.column_stack([run["W"], run["a"]])
    epochs = np.rint(np.array(times) / paper.RATE).astype(int)
    scales = np.sqrt(np.sum(weights[..., :2] ** 2, axis=(1, 2)))
    apart = scales / run["scales"][epochs] - 1
    distance = np.linalg.norm(weights[-1] - end)
    return {
        "final_weights_relative_distance": float(distance / np.linalg.norm(end)),
        "final_weights_largest_difference": float(np.abs(weights[-1] - end).max()),
        "scales_largest_relative_deviation": float(np.abs(apart).max()),
    }


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
    four = solve(small, data, flow, logistic, later, {"weights": NeuronWeights()})
    distances = []
    for i, weights in enumerate(four.records["weights"]):
        f, g = (outputs(w, data) for w in (records["weights"][begin + i], weights))
        distances.append(float(np.linalg.norm(f - g) / np.linalg.norm(f)))
    return {"at_t_60": distances[0], "largest_until_the_end": max(distances)}


def outputs(weights: np.ndarray, data: Dataset) -> np.ndarray:
    return np.maximum(np.asarray(data.x) @ weights[:, :2].T, 0) @ weights[:, 2]


if __name__ == "__main__":
    main()
