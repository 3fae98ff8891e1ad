"""Results for the page: a true one with everything in it, and a large one of noise."""

import json

import numpy as np
import xarray as xr
from small import PlainDescent, Risk, small

import simbias
from simbias.core import Claim, Estimate
from simbias.measures import ClusterMasses, NeuronWeights

HOSTILE = "</script><img src=x onerror='hacked=1'><script>hacked=1</script>&lt;"

EXPERIMENT = small(
    name="small",
    cell={"n": (6, 20), "scale": (0.1, 0.5, 1e3), "m": 6},
    seeds=3,
    flow=PlainDescent(rate=0.05),
    times=(0.0, 0.5, 1.0, 5.0),
    measures={
        "test_risk": Risk(),
        "train_risk": Risk(),
        "weights": NeuronWeights(),
        "masses": ClusterMasses(count=14),
    },
    final={"final_risk": Risk()},
)


def true_result():
    """Members of the largest scale fail; the name is one that no run is given."""
    ds = simbias.simulate(EXPERIMENT)
    return ds.assign_attrs(experiment=f"small {HOSTILE}")


def with_events(ds):
    """The result as the exact flow would give it."""
    rng = np.random.default_rng(0)
    shape = (*ds["status"].shape, 7)
    values = {"time": rng.uniform(0, 5, shape), "neuron": rng.integers(0, 6, shape)}
    values |= {"sample": rng.integers(0, 6, shape), "kind": rng.integers(1, 6, shape)}
    dims = (*ds["status"].dims, "event")
    return ds.assign({f"event_{k}": (dims, v.astype(float)) for k, v in values.items()})


def claims_of_every_kind():
    say = lambda text, seen, low, high: Claim(text, seen, low, high, f"by {HOSTILE}")
    return [
        say(f"holds {HOSTILE}", Estimate(1.0, 0.5, 1.5, "exact"), 0.0, 2.0),
        say("fails", Estimate(4.0, 3.0, 5.0, "exact"), 0.0, 2.0),
        say("open", Estimate(1.0, -np.inf, 3.0, "exact"), 0.0, np.inf),
        say("nothing", Estimate(np.nan, -np.inf, np.inf, "none"), 0.0, 1.0),
        say("other", Estimate(1.0, 0.0, 3.0, "exact"), 0.0, 1.0).given(False, "two n"),
    ]


def large_result(seeds=1000, cells=8, times=30, quantities=8):
    """As large as the paper's run of an experiment, of noise."""
    rng = np.random.default_rng(0)
    shape = (cells, seeds, times)
    dims = ("n", "seed", "time")
    values = {
        f"quantity_{i}": (dims, np.exp(rng.normal(size=shape)))
        for i in range(quantities)
    }
    configuration = {"name": "large", "cell": {"n": list(range(cells))}, "measures": {}}
    return xr.Dataset(
        {"status": (dims[:2], np.ones(shape[:2], int)), **values},
        {
            "n": 2 ** np.arange(cells),
            "seed": np.arange(seeds),
            "time": np.geomspace(1, 1e4, times),
        },
        {
            "experiment": "large",
            "configuration": json.dumps(configuration | {"make": "large", "flow": {}}),
            "versions": "{}",
            "device": "none",
        },
    )
