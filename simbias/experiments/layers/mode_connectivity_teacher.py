"""Mode connectivity of students: the matched barrier peaks, then falls with width.

Two ReLU networks learn a teacher of four neurons from Gaussian inputs, each used once.
If they have the teacher's width, both find its neurons; after reordering they are the
same network.  If they are a little wider, each shares the teacher's neurons among its
own in a different way, and no order is right: the matched barrier has a peak.  In wider
networks the shares become equal, and the barrier falls at least like m^{−½}.  Without
reordering it does not fall.

The loss is the population loss in closed form, also on the line between the two.

Reference: Zhan, Li & Wu (2025), arXiv:2503.06001, read by its abstract.
"""

import jax
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.analysis.at import at
from simbias.analysis.barrier import barrier
from simbias.claims import difference_of, largest_of, slope_of
from simbias.core import Claim, Dataset, Experiment
from simbias.experiment_presets import presets
from simbias.experiments.layers._side_by_side import NAMES, SideBySide, side_by_side
from simbias.experiments.layers._students import shared_half_mse, student, taught
from simbias.figures import Curves, Law, Panels
from simbias.flows import Descent
from simbias.measures import GaussianPath
from simbias.measures.pairs.weight_path import MATCHINGS

ZHAN = "Zhan, Li & Wu (2025), arXiv:2503.06001, abstract"
REBASIN = "Ainsworth, Hayase & Srinivasa (2023), arXiv:2209.04836"
OURS = "ours"
UNIQUE = "ours: the minimum is one up to the order of neurons"
LEAST_TIME = 2000.0
AXES = ("m",)
# Samples in a step for each of the two students.
RATE, BATCH = 1.0, 32
# Smaller barriers are shown at this value.
_FLOOR = 1e-6


def make(
    key: PRNGKeyArray,
    *,
    m: int = 64,
    d: int = 4,
    neurons: int = 4,
    n: int = 64,
    is_output_trained: bool = False,
) -> tuple[Dataset, SideBySide]:
    """Two students of m neurons; the n samples of the dataset are not used in training.

    Args:
        key: random key.
        m: neurons of each student.
        d: dimension of an input.
        neurons: neurons of the teacher.
        n: samples of the dataset; training uses fresh ones.
        is_output_trained: whether output weights are trained too.
    """
    key_data, *keys = jax.random.split(key, 3)
    data = taught(key_data, n=n, d=d, neurons=neurons)
    pair = (student(k, m=m, d=d, is_output_trained=is_output_trained) for k in keys)
    return data, side_by_side(*pair)


experiment = presets(
    Experiment(
        name="mode_connectivity_teacher",
        make=make,
        cell={"m": (4, 6, 8, 16, 32, 64, 128)},
        seeds=20,
        flow=Descent(rate=RATE, batch=2 * BATCH, sampling="fresh"),
        loss=shared_half_mse,
        times=(0.0, 10_000.0),
        measures={},
        final={"path": GaussianPath()},
        dtype="float32",
    ),
    smoke={"cell": {"m": (4, 8)}, "seeds": 2, "times": (0.0, LEAST_TIME)},
    # The published sizes are not known to us.
    paper={
        "cell": {
            "m": (4, 5, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)
        },
        "times": (0.0, 40_000.0),
        "seeds": 50,
    },
)


def root_law(part: xr.Dataset) -> xr.DataArray:
    """The law m^{−½} through the barrier at the peak, for larger widths."""
    top, widths = part["peak"], part["m"]
    level = barrier(part["path"]).sel(m=top, matching="weights", drop=True).mean()
    return (level * np.sqrt(top / widths)).where(widths >= top)


figure = Panels(
    *(
        Curves(
            lambda part, m=m: part["path"].sel(m=part[m]),
            colour="matching",
            x="alpha",
            xlabel="α, from one student to the other",
            yscale="log",
            ylim=(1e-10, 1),
            title=f"loss ½ E (f − f*)², m = {{{m}}}",
        )
        for m in ("peak", "widest")
    ),
    Curves(
        lambda part: barrier(part["path"]).clip(min=_FLOOR),
        colour="matching",
        mark="o",
        x="m",
        xlabel="width m",
        xscale={"value": "log", "base": 2},
        yscale="log",
        ylim=(_FLOOR, 1),
        ticks=True,
        title="barrier",
        laws=(Law(root_law, "$m^{-1/2}$"),),
    ),
    names={"matching": NAMES},
    of=lambda ds: ds.assign_coords(
        peak=_peak(barrier(ds["path"])), widest=ds["m"].values[-1]
    ),
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """No matched barrier at the teacher's width, a peak, and then a fall."""
    high, far = barrier(ds["path"]), (0, np.inf)
    as_teacher, top = at(high, "m", int(ds["neurons"])), high.sel(m=_peak(high))
    past = high.sel(m=ds["m"] > _peak(high))
    ends = ds["path"].isel(alpha=[0, -1])
    out = [largest_of("loss of a student, largest", ends, (0, 1e-4), OURS)]
    for way in MATCHINGS[1:]:
        how, mine = NAMES[way], {"matching": way}
        for m in ds["m"].values:
            naive, after = (high.sel(m=m, matching=k) for k in ("none", way))
            text = f"barrier, as they are − {how}, m = {m}"
            out.append(difference_of(text, naive, after, far, REBASIN))
        text = f"{how}: barrier at the teacher's width, largest"
        out.append(largest_of(text, as_teacher.sel(mine), (0, 1e-6), UNIQUE))
        text = f"{how}: barrier at the peak − at the teacher's width"
        rise = top.sel(mine), as_teacher.sel(mine)
        out.append(difference_of(text, *rise, far, ZHAN))
        text = f"{how}: slope of ln barrier against ln m, past the peak"
        out.append(_slope(text, past.sel(mine), (-np.inf, -0.5), ZHAN))
    text = "control: slope of ln barrier against ln m, as they are"
    out.append(_slope(text, past.sel(matching="none"), (-0.25, 0.25), OURS))
    return out


def _peak(high: xr.DataArray) -> int:
    """The width at which the mean barrier, matched by weights, is largest."""
    average = high.sel(matching="weights").mean("seed")
    return int(average["m"][int(average.fillna(-np.inf).argmax("m"))])


def _slope(
    text: str, high: xr.DataArray, band: tuple[float, float], source: str
) -> Claim:
    """Slope of ln of the mean barrier in ln m; it needs three widths."""
    with np.errstate(divide="ignore"):
        logs = np.log(high.mean("seed").values)
    logs = np.where(np.isfinite(logs), logs, np.nan)
    found = slope_of(text, np.log(high["m"].values), logs, band, source)
    return found.given(high.sizes["m"] > 2, "three widths past the peak")
