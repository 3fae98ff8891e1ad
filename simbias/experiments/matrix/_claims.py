"""Claims about the matrix: what theory predicts for single entries."""

import numpy as np
import xarray as xr

from simbias.analysis.effects import member_effects
from simbias.analysis.first_passage import first_passage
from simbias.analysis.spearman import foretold_order
from simbias.analysis.verdicts import effect_interval
from simbias.claims import difference_of, estimate_of, mean_of
from simbias.core import Claim, Estimate
from simbias.experiments.matrix._dependence import dependence, is_full, wide_less_deep
from simbias.experiments.matrix._numbers import LEVELS
from simbias.experiments.matrix._rows import ROWS
from simbias.experiments.matrix._settings import AXES, parsed

RICH, LINEAR = "uniform relu wide rich", "clusters linear equal lazy"
_HACOHEN = "Hacohen & Weinshall (2022), JMLR 23(155): 1"
_OF_CELLS = (
    ("spectral", RICH, "gd", (0.5, 1.0), "Rahaman et al. (2019), arXiv:1806.08734"),
    ("spectral", RICH, "adam", (0.5, 1.0), "Rahaman et al. (2019), arXiv:1806.08734"),
    ("principal", LINEAR, "gd", (0.8, 1.2), _HACOHEN),
    ("low_dim", RICH, "gd", (0.25, 1.0), "Morwani et al. (2023), arXiv:2302.00457"),
    ("randomised", RICH, "gd", (0.75, 1.25), "Shah et al. (2020), arXiv:2006.07710"),
    ("information", RICH, "gd", (0.75, 1.25), "arXiv:1905.11604"),
    ("embeddings", LINEAR, "gd", (0.0, np.inf), "Huh et al. (2023), arXiv:2103.10427"),
)
_OF_KERNELS = (RICH, "steps relu deep lazy", "heavy tanh deep rich")
_LAZY = "Chizat, Oyallon & Bach (2019), arXiv:1812.07956; band ours"
_STEP = "ours: a step of Adam is of one size in all coordinates"
# Written before the whole design was run: the share of the variance of a bias that a
# factor explains alone.
_OF_DESIGN = (
    ("low_dim", "start", (0.25, 1.0), _LAZY),
    ("weights", "start", (0.25, 1.0), _LAZY),
    ("alignment", "start", (0.25, 1.0), _LAZY),
    ("principal", "optimiser", (0.05, 1.0), _STEP),
    ("spectral", "optimiser", (-1.0, 0.1), "Rahaman et al. (2019); band ours"),
    ("embeddings", "optimiser", (-1.0, 0.1), "Huh et al. (2023); band ours"),
    ("randomised", "optimiser", (-1.0, 0.1), "Shah et al. (2020); band ours"),
)


def foretold(ds: xr.Dataset, bias: str) -> xr.DataArray:
    """ρ between the first kernel's rates and the order of the parts, per network."""
    part = ds.sel(bias=bias, drop=True)
    time = first_passage(part["learned"], LEVELS[bias])
    return foretold_order(part["rates"].isel(time=0), time, "part")


def statements(ds: xr.Dataset) -> list[Claim]:
    """The claims about entries that the result has."""
    found, out = member_effects(ds, ROWS, "bias", "setting")["scalar"], []
    for bias, setting, optimiser, band, source in _OF_CELLS:
        values = _cell(found, bias, setting, optimiser)
        if values is not None:
            row = ROWS[bias]
            seen = effect_interval(values, low=row.low, high=row.high)
            text = f"{row.title}, {setting}, {optimiser}: {row.text}"
            out.append(estimate_of(text, seen, band, f"{source}; band ours"))
    gd, adam = (_cell(found, "principal", LINEAR, one) for one in ("gd", "adam"))
    if gd is not None and adam is not None:
        text = f"principal component, {LINEAR}: −slope under gd less that under adam"
        out.append(difference_of(text, gd, adam, (0.25, np.inf), _STEP))
    for setting in _OF_KERNELS:
        if _cell(found, "spectral", setting, "gd") is not None:
            # Whether the first kernel has the order.
            one = ds.sel({"setting": [setting], "flow.optimiser": ["gd"]})
            seen = effect_interval(foretold(one, "spectral"), low=-1, high=1)
            text = f"{setting}, gd: Spearman's ρ of the first kernel's rates of the "
            text += "waves and of 1/time"
            out.append(estimate_of(text, seen, (0.5, 1.0), "lazy limit; band ours"))
    return [*out, *(_of_design(ds) if is_full(ds) else [])]


def _of_design(ds: xr.Dataset) -> list[Claim]:
    """What the whole design says: shares of factors, and wide against deep."""
    shares, out = dependence(ds), []
    for bias, source, band, paper in _OF_DESIGN:
        one = shares.sel(bias=bias, source=source)
        number = lambda k, one=one: float(one[k].item())
        method = "share of variance, jackknife over seeds"
        seen = Estimate(number("share"), number("low"), number("high"), method)
        text = f"{ROWS[bias].title}: share of the variance that the {source} explains"
        out.append(estimate_of(text, seen, band, paper))
    gap = wide_less_deep(ds)
    for bias in ("spectral", "principal"):
        text = f"{ROWS[bias].title}: wide less deep, same sample and as many weights"
        band, paper = (-0.25, 0.25), "ours: the order is that of the first kernel"
        out.append(mean_of(text, gap.sel(bias=bias).values, band, paper))
    gd = ds.sel({"flow.optimiser": "gd"})
    for bias in ("spectral", "principal"):
        order = foretold(gd, bias)
        for shape in ("wide", "deep"):
            is_there = [parsed(str(k)).shape == shape for k in ds["setting"].values]
            values = order.isel(setting=np.flatnonzero(is_there)).mean("setting")
            text = f"{ROWS[bias].title}, {shape} networks, gd: Spearman's ρ of the "
            text += "first kernel's rates and of 1/time, mean over settings"
            values = values.transpose("seed").values
            out.append(mean_of(text, values, (0.5, 1.0), "lazy limit; band ours"))
    return out


def _cell(found: xr.DataArray, *at: str) -> np.ndarray | None:
    """The scalars of a bias, setting and optimiser; None if the result lacks them."""
    place = dict(zip(AXES, at, strict=True))
    if any(value not in found[k].values for k, value in place.items()):
        return None
    return found.sel(place).values
