"""Where trials of an accelerator take place, and for how long."""

import contextlib
import dataclasses
import time
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import jax

from simbias.core import Experiment
from simbias.ensemble import engine
from simbias.ensemble.programs import Programs
from simbias.experiments import threshold
from simbias.flows.relu_flow import ReluFlow
from simbias.losses import half_mse
from simbias.measures.risk.train_risk import TrainRisk

# A name, and what measures it: what it returns is put down.
Cases = Iterator[tuple[str, Callable[[], dict[str, Any]]]]


class Clock:
    """Seconds since it was made, of which there are so many."""

    def __init__(self, seconds: float):
        self.seconds, self.began = seconds, time.monotonic()

    def passed(self) -> float:
        return time.monotonic() - self.began

    def left(self) -> float:
        return self.seconds - self.passed()


@dataclasses.dataclass(frozen=True)
class Place:
    """Devices of one kind, and how much is asked of them."""

    devices: list[jax.Device]
    clock: Clock
    is_smallest: bool

    @property
    def device(self) -> jax.Device:
        """The last one: of a CPU that poses as two, not the one to compare it with."""
        return self.devices[-1]

    @property
    def bytes_limit(self) -> int | None:
        """Memory of a device, if it tells."""
        return (self.device.memory_stats() or {}).get("bytes_limit")

    @contextlib.contextmanager
    def side_by_side(self) -> Iterator[None]:
        """Runs lay lanes side by side, as on an accelerator, whatever this is."""

        def programs(plan, platform, progress):
            platform = "gpu" if platform == "cpu" else platform
            return Programs(plan, platform, progress)

        with mock.patch.object(engine, "Programs", programs):
            yield


def neurons(network, data):
    """Hidden weights."""
    del data
    return network.w


def small(place: Place, flow: Any, dtype: str = "float64", **cell: Any) -> Experiment:
    """Two-layer networks that are wide enough for kernels, for a short time."""
    size, seeds = (8, 2) if place.is_smallest else (128, 8)
    # The exact flow is for ReLU, the smooth one for what has no kinks.
    own = {"activation": "relu" if isinstance(flow, ReluFlow) else "tanh"}
    known = {"n": size, "m": size, "sigma": 0.3, "scale": 0.1, "n_test": 1}
    return Experiment(
        name="small",
        make=threshold.make,
        cell={**known, **own, **cell},
        seeds=seeds,
        flow=flow,
        loss=half_mse,
        times=(0.5, 1.0) if place.is_smallest else (1.0, 10.0),
        measures={"train_risk": TrainRisk()},
        final={"neurons": neurons},
        dtype=dtype,
    )
