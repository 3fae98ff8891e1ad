"""Claims on dominoes: over training, by weight decay, at the end."""

import numpy as np
import xarray as xr

from simbias.analysis.jackknife_interval import jackknife_interval
from simbias.claims import difference_of, estimate_of, mean_of, smallest_of
from simbias.core import Claim

PAPER = "Tsoy & Konstantinov (2024), arXiv:2405.17299, figure 3"
REVERSED = "Tsoy & Konstantinov (2024), arXiv:2405.17299, figures 8, 9"
WHOLE = "ours: from time 0 on, where the published test begins at ¼"
SHAH = "Shah et al. (2020), arXiv:2006.07710, section 4"
DECAY = "flow.weight_decay"
# A fall of the accuracy of a probe by less than this says nothing.
RELEVANT = 0.02

_PROBES = {
    "complex_probe": "the probe's OOD accuracy",
    "free_probe": "the OOD accuracy of a probe without penalty",
}
_SCALES = {
    "complex_probe": "the probe's scale",
    "free_probe": "the scale of a probe without penalty",
}


def _quarter_and_end(
    part: xr.Dataset, probe: str, kind: str = "accuracy"
) -> tuple[np.ndarray, np.ndarray]:
    """OOD accuracy or scale of a probe after ¼ of training and at the end, per seed."""
    seen = part[probe].sel(probe=kind).transpose("seed", "time").values
    return seen[:, len(part["time"]) // 4], seen[:, -1]


def over_training(part: xr.Dataset, where: str) -> list[Claim]:
    """From a quarter of training to its end, as in the paper's test.

    The paper's networks have weight decay.  Without it the bands are ours, and ask for
    no relevant fall.  With exceptions (ρ < 1) we know no prediction.
    """
    is_pure = float(part["correlation"]) == 1
    decays = DECAY not in part.coords or bool(part[DECAY] > 0)
    low, high = (RELEVANT, 1.0) if decays else (-RELEVANT, RELEVANT)
    source = PAPER if decays else "ours: without decay nothing falls late"
    asked = PAPER if is_pure and decays else f"{PAPER}, asked where the paper does not"
    falls, growths = [], []
    for probe, name in _PROBES.items():
        text = f"fall of {name} from ¼ of training to the end, mean, {where}"
        quarter, end = _quarter_and_end(part, probe)
        claim = difference_of(text, quarter, end, (low, high), source)
        falls.append(claim.given(is_pure, "ρ = 1, of which it is stated"))
        text = f"growth of {_SCALES[probe]} from ¼ of training to the end, {where}"
        ends = _quarter_and_end(part, probe, "scale")
        growths.append(_growth(text, *ends, asked))
    # What was asked before: another window than that of the fall.
    first = part["complex_probe"].sel(probe="scale").isel(time=0)
    text = f"growth of the probe's scale from the start to the end, {where}"
    end = _quarter_and_end(part, "complex_probe", "scale")[1]
    return [*falls, *growths, _growth(text, first.values, end, WHOLE)]


def _growth(text: str, first: np.ndarray, last: np.ndarray, source: str) -> Claim:
    """Ratio of the means over seeds with a result."""
    pairs = np.stack([last, first], axis=1)
    pairs = pairs[np.isfinite(pairs).all(axis=1)]
    seen = jackknife_interval(lambda v: np.divide(*v.mean(axis=0)), pairs)
    return estimate_of(text, seen, (1.0, np.inf), source)


def by_decay(part: xr.Dataset, where: str) -> list[Claim]:
    """The additional fall due to the largest decay, in pairs, relative to none."""
    ends = [part.isel({DECAY: i}) for i in (-1, 0)]
    more, none = (np.subtract(*_quarter_and_end(p, "complex_probe")) for p in ends)
    text = f"fall with decay − fall without, pair by pair, mean, ρ = 1{where}"
    claim = difference_of(
        text, more, none, (RELEVANT, 1.0), "ours, of what the paper states"
    )
    return [claim.given(float(part[DECAY][0]) == 0, "members without decay")]


def at_the_end(last: xr.Dataset, chance: float, where: str) -> list[Claim]:
    """The digit decides, the lower block does not."""
    accuracy = last["accuracy"]
    digit = last["simple_probe"].sel(probe="accuracy")
    test, simple, lower = (
        accuracy.sel(randomised=k) for k in ("nothing", "simple", "complex")
    )
    lost = "accuracy lost with the lower block exchanged"
    probe = "accuracy of a probe for the digit (reversed labels)"
    rows = [
        ("test accuracy", test, 0.9, 1.0, SHAH),
        (
            "accuracy with the digit exchanged − chance",
            simple - chance,
            -0.05,
            0.05,
            SHAH,
        ),
        (lost, test - lower, -0.05, 0.05, SHAH),
    ]
    # All seeds may have the same value, of which a mean has no interval.
    every = smallest_of(
        f"{probe}, smallest, ρ = 1{where}", digit, (0.95, 1.0), REVERSED
    )
    means = [
        mean_of(f"{text}, ρ = 1{where}", seen, (low, high), source)
        for text, seen, low, high, source in rows
    ]
    return [*means, every]


def against_control(last: xr.Dataset, chance: float, where: str) -> Claim:
    """The probe where the digit suffices, and where it has no information."""
    probe = last["complex_probe"].sel(probe="accuracy")
    free, same = (probe.isel(correlation=i).values for i in (0, -1))
    is_pair = abs(float(last["correlation"][0]) - chance) < 1e-9
    text = f"OOD accuracy of the probe, blocks independent − the same class{where}"
    claim = difference_of(text, free, same, (0.1, 1.0), f"{PAPER}: bad accuracy")
    return claim.given(is_pair, "ρ = 1/classes, where blocks are independent")
