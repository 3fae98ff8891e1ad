"""Does a run take the memory that it is said to need?

    python benchmarks/memory.py [--json FILE|-] [--cases NAME ...] [--smallest]

For every case the memory in flight of one member, in MiB: predicted, which is what the
command line shows and what large runs are refused by; reserved by XLA for the programs
that draw and advance it; and, in a process of its own, the highest resident memory
above that before a run whose programs are on the disk already, less the same of a run
with a small sample and network: tracing and loading its programs takes 280 MiB for the
exact flow, some tens for the others.  Cases below that are judged by what is reserved.

Cases that are called `whole_…` are runs from their first program to their result: all
programs are compiled, and measured is the highest resident memory above that of a
process that has done a run of another kind; predicted is `bytes_at_most`.  Linux only.

The parts of the prediction are `attempt_size` of each flow, `footprint` of the
measures, and what drawing takes; a case whose ratio leaves 0.77 to 1.3 names the part
to change by what it is called.
"""

import argparse
import ctypes
import dataclasses
import gc
import json
import pathlib
import subprocess
import sys
from typing import Any

import jax
import jax.numpy as jnp
from _results import machine, written
from _tally import compile_cache

from simbias.core import Experiment
from simbias.datasets.teachers.gaussian_teacher import gaussian_teacher
from simbias.ensemble.compiling import bytes_of_compiling
from simbias.ensemble.events import Progress
from simbias.ensemble.lanes import idle
from simbias.ensemble.members import maker
from simbias.ensemble.memory import bytes_at_most, bytes_in_flight, station_devices
from simbias.ensemble.plan import Plan, make_plan
from simbias.ensemble.programs import Programs
from simbias.experiments import dominoes, threshold
from simbias.flows.descent import Descent
from simbias.flows.gradient_flow import GradientFlow
from simbias.flows.relu_flow import ReluFlow
from simbias.losses import half_mse
from simbias.measures.risk.train_risk import TrainRisk
from simbias.networks.dense.mlp_init import torch_default
from simbias.numerics.exact_numerics import exact_numerics
from simbias.numerics.program_cache import cache_no_programs
from simbias.registry import experiment_module
from simbias.verbs.simulate import simulate

MIB = 2**20
# Below this the measured memory is mostly that of any run.
LEAST_MEASURED = 300


def layers(key, *, n: int, d: int, m: int, depth: int, activation: str):
    """A linear teacher and a multilayer perceptron."""
    key_data, key_network = jax.random.split(key)
    data = gaussian_teacher(key_data, n=n, d=d, sigma=0.5, n_test=1)
    law = {"m": m, "depth": depth, "activation": activation}
    return data, torch_default(key_network, d=d, **law)


def two(flow: Any, time: float, **cell: Any) -> Experiment:
    """A two-layer network with all measures of `threshold`."""
    cell = {"scale": 0.1, "n_test": 2000, **cell}
    whole = threshold.experiment("smoke", **cell)
    return dataclasses.replace(whole, seeds=1, flow=flow, times=(time,))


def bare(experiment: Experiment) -> Experiment:
    """With one measure: what the flow holds then shows."""
    measures = {"train_risk": TrainRisk()}
    return dataclasses.replace(experiment, measures=measures, final={}, stop=None)


def deep(flow: Any, time: float, **cell: Any) -> Experiment:
    """A multilayer perceptron."""
    risk = {"train_risk": TrainRisk()}
    return Experiment("deep", layers, cell, 1, flow, half_mse, (time,), risk)


def small(experiment: Experiment) -> Experiment:
    """The same with so few samples and neurons that programs are all it takes."""
    few = {"n": 128, "n_test": 128, "m": 16}
    cell: dict[str, Any] = {**experiment.cell}
    sizes = {k: min(cell[k], v) for k, v in few.items() if k in cell}
    return dataclasses.replace(experiment, cell={**cell, **sizes})


def images(flow: Any = None, **cell: Any) -> Experiment:
    """A convolutional network, under mini-batches unless a flow is given."""
    whole = dominoes.experiment("smoke", correlation=0.5, **cell)
    flow = whole.flow if flow is None else flow
    return dataclasses.replace(whole, seeds=1, times=(1e-3,), flow=flow)


GD = Descent(rate=1e-3)
SGD = Descent(rate=1e-3, batch=100)
ADAM = Descent(rate=1e-3, optimiser="adam", batch=100)
TANH, EXACT = GradientFlow(rtol=1e-3), ReluFlow(rtol=1e-3)

CASES = {
    "gd_wide": two(GD, 2e-3, n=1000, m=20_000),
    "gd_weights": bare(two(GD, 2e-3, n=10, m=200_000, d=20, n_test=1)),
    "sgd_batches": two(SGD, 2e-3, n=20_000, m=2000),
    "adam_batches": two(ADAM, 2e-3, n=20_000, m=2000),
    "adam_drawing": bare(two(ADAM, 2e-3, n=20_000, m=100, d=500)),
    "adam_weights": bare(two(ADAM, 2e-3, n=10, m=200_000, d=20, n_test=1)),
    "gf_tanh": two(TANH, 1e-2, n=1000, m=20_000, activation="tanh"),
    "gf_attempt": bare(two(TANH, 1e-2, n=500, m=1000, activation="tanh", n_test=1)),
    "gf_weights": bare(
        two(TANH, 1e-3, n=10, m=200_000, d=20, activation="tanh", n_test=1)
    ),
    "relu": two(EXACT, 1e-3, n=1500, m=10_000),
    "relu_untiled": bare(two(EXACT, 1e-3, n=500, m=1000, n_test=1)),
    "relu_tiled": bare(two(EXACT, 1e-3, n=3000, m=5000, n_test=1)),
    "relu_tall": bare(two(EXACT, 1e-3, n=10_000, m=1000, n_test=1)),
    "relu_weights": bare(two(EXACT, 1e-3, n=50, m=40_000, d=20, n_test=1)),
    "mlp_gd": deep(GD, 2e-3, n=10_000, d=20, m=500, depth=3, activation="relu"),
    "mlp_gf": deep(TANH, 1e-2, n=10_000, d=20, m=200, depth=3, activation="tanh"),
    "convolutional": images(n=1000, n_test=2000),
    "convolutional_gd": bare(images(GD, n=1000, n_test=1)),
}


def three(m: int, seeds: int, times: tuple[float, ...], **changes: Any) -> Experiment:
    """`three_points`, where compiling or keeping takes more than steps."""
    one = experiment_module("three_points").experiment("smoke", m=m)
    return dataclasses.replace(one, seeds=seeds, times=times, **changes)


ELEVEN = tuple(map(float, range(11)))
WHOLE = {
    "whole_descent": bare(two(GD, 2e-3, n=3000, m=4000)),
    "whole_keep": three(500, 512, ELEVEN, keep=ELEVEN, flow=Descent()),
    "whole_gradient_flow": bare(two(TANH, 1e-2, n=2000, m=2000, activation="tanh")),
    "whole_relu": three(4000, 4, (0.0, 1e-2)),
}
SMALLEST = {"gd_smallest": two(GD, 1e-3, n=300, m=300, n_test=10)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", default="-")
    every = {**CASES, **WHOLE}
    parser.add_argument("--cases", nargs="+", choices=every, default=list(every))
    parser.add_argument("--smallest", action="store_true")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    if options.one:
        is_whole = options.one in WHOLE
        case = {**CASES, **WHOLE, **SMALLEST}[options.one]
        print(json.dumps(whole_row(case) if is_whole else row(case)))
        return
    document = {"unit": "MiB", **machine(), "cases": {}}
    with compile_cache():
        for name in SMALLEST if options.smallest else options.cases:
            command = [sys.executable, __file__, "--one", name]
            out = subprocess.check_output(command, text=True)
            document["cases"][name] = json.loads(out.splitlines()[-1])
            if options.json != "-":
                written(options.json, document)
    if options.json == "-":
        written("-", document)


def row(experiment: Experiment) -> dict[str, float | str]:
    """Memory of one case."""
    plan = make_plan(experiment)
    predicted = bytes_in_flight(plan, jax.local_devices()[:1]) / MIB
    reserved, around = reserved_by_xla(plan) / MIB, highest(small(experiment)) / MIB
    measured = highest(experiment) / MIB - around
    is_measured = measured >= LEAST_MEASURED
    return {
        "predicted": round(predicted, 1),
        "reserved": round(reserved, 1),
        "measured": round(measured, 1),
        "around": round(around, 1),
        "ratio": round(predicted / (measured if is_measured else reserved), 2),
        "judged_by": "measured" if is_measured else "reserved",
    }


def whole_row(experiment: Experiment) -> dict[str, float | str]:
    """Memory of a run that finds no program."""
    cache_no_programs()
    simulate(dataclasses.replace(small(two(GD, 1e-3, n=128, m=16)), measures={}))
    plan = make_plan(experiment)
    devices = station_devices(jax.local_devices(), plan.size)
    predicted = bytes_at_most(plan, devices) / MIB
    compiling = bytes_of_compiling(plan, len(devices)) / MIB
    measured = taken(experiment) / MIB
    return {
        "predicted": round(predicted, 1),
        "compiling": round(compiling, 1),
        "measured": round(measured, 1),
        "ratio": round(predicted / measured, 2),
        "judged_by": "measured",
    }


def reserved_by_xla(plan: Plan) -> int:
    """What the larger of two programs has at once: arguments, results, buffers."""
    cell = plan.grid.cells[0]
    fixed = (maker(plan.experiment), cell.sizes)
    with exact_numerics():
        programs = Programs(plan, "cpu", Progress())
        lanes, keys = idle(plan.groups[0].lane, 1), jnp.zeros((1, 3), jnp.uint32)
        numbers, _ = programs._traced(0)
        rounds = programs._advance.lower(jnp.int32(8), lanes)
        draws = programs._draw.lower(fixed, numbers, keys, jnp.int32(1))
    advancing, drawing = (
        lowered.compile().compiled.memory_analysis() for lowered in (rounds, draws)
    )
    # The lanes are donated, and lie there while members are drawn.
    held = advancing.argument_size_in_bytes
    return held + max(
        advancing.temp_size_in_bytes,
        drawing.temp_size_in_bytes + drawing.output_size_in_bytes,
    )


def highest(experiment: Experiment) -> int:
    """Highest resident memory of a run, above that before it."""
    # Writes the programs, and loads what Python and XLA load once.
    simulate(experiment)
    return taken(experiment)


def taken(experiment: Experiment) -> int:
    """Highest resident memory of a run, above that before it."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    before = resident("VmRSS")
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    simulate(experiment)
    return resident("VmHWM") - before


def resident(name: str) -> int:
    """A line of the process's status, in bytes."""
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    (line,) = (line for line in lines if line.startswith(name))
    return 1024 * int(line.split()[1])


if __name__ == "__main__":
    main()
