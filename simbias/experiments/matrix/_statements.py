"""What is claimed of the matrix: what theory says of single cells."""

import numpy as np
import xarray as xr

from simbias.analysis.verdicts import effect_interval
from simbias.claims import difference_of, estimate_of
from simbias.core import Claim
from simbias.experiments.matrix._rows import ROWS
from simbias.experiments.matrix._settings import parsed
from simbias.experiments.matrix._together import foretold

RICH, LINEAR = "uniform relu wide rich", "clusters linear equal lazy"
_RAHAMAN = "Rahaman et al. (2019), arXiv:1806.08734; band ours"
_HACOHEN = "Hacohen & Weinshall (2022), JMLR 23(155): 1; band ours"
_MORWANI = "Morwani et al. (2023), arXiv:2302.00457; band ours"
_SHAH = "Shah et al. (2020), arXiv:2006.07710; band ours"
_HUH = "Huh et al. (2023), arXiv:2103.10427; band ours"
_KALIMERIS = "arXiv:1905.11604; band ours"


def statements(ds: xr.Dataset, found: xr.Dataset) -> list[Claim]:
    """Those whose cells the result has; `found` are its scalars."""
    out = []
    for bias, setting, optimiser, low, high, source in (
        ("spectral", RICH, "gd", 0.5, 1.0, _RAHAMAN),
        ("spectral", RICH, "adam", 0.5, 1.0, _RAHAMAN),
        ("principal", LINEAR, "gd", 0.8, 1.2, _HACOHEN),
        ("low_dim", RICH, "gd", 0.25, 1.0, _MORWANI),
        ("randomised", RICH, "gd", 0.75, 1.25, _SHAH),
        ("information", RICH, "gd", 0.75, 1.25, _KALIMERIS),
        ("embeddings", LINEAR, "gd", 0.0, np.inf, _HUH),
    ):
        if _has(ds, bias, setting, optimiser):
            row = ROWS[bias]
            values = _cell(found["scalar"], bias, setting, optimiser)
            seen = effect_interval(values, low=row.low, high=row.high)
            text = f"{row.title}, {setting}, {optimiser}: {row.text}"
            out.append(estimate_of(text, seen, (low, high), source))
    if _has(ds, "principal", LINEAR, "gd") and _has(ds, "principal", LINEAR, "adam"):
        gd = _cell(found["scalar"], "principal", LINEAR, "gd")
        adam = _cell(found["scalar"], "principal", LINEAR, "adam")
        text = f"principal component, {LINEAR}: −slope under gd less that under adam"
        source = "ours: a step of Adam is of one size in all coordinates"
        out.append(difference_of(text, gd, adam, (0.25, np.inf), source))
    return [*out, *_kernels(ds)]


def _kernels(ds: xr.Dataset) -> list[Claim]:
    """Whether the first kernel has the order, of every setting under GD."""
    out = []
    for setting in ds["setting"].values:
        if not _has(ds, "spectral", str(setting), "gd"):
            continue
        if parsed(str(setting)).activation == "linear":
            continue
        one = ds.sel({"setting": [setting], "flow.optimiser": ["gd"]})
        seen = effect_interval(foretold(one, "spectral").values, low=-1, high=1)
        text = f"{setting}, gd: Spearman's ρ of the first kernel's rates of the waves "
        text += "and of 1/time"
        out.append(estimate_of(text, seen, (0.5, 1.0), "lazy limit; band ours"))
    return out


def _has(ds: xr.Dataset, bias: str, setting: str, optimiser: str) -> bool:
    return (
        bias in ds["bias"].values
        and setting in ds["setting"].values
        and optimiser in ds["flow.optimiser"].values
    )


def _cell(values: xr.DataArray, bias: str, setting: str, optimiser: str) -> np.ndarray:
    return values.sel(
        {"bias": bias, "setting": setting, "flow.optimiser": optimiser}
    ).values
