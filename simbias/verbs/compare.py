"""Two results side by side: what differs, with intervals."""

import json
import os
from typing import Any

import numpy as np
import xarray as xr

from simbias.analysis.mean_interval import mean_interval
from simbias.ensemble.configuration import with_current_names
from simbias.ensemble.grid import FLOW_PREFIX
from simbias.errors import BadInput
from simbias.results import as_result

ESTIMATE = ("mean", "low", "high")


def compare(
    a: xr.Dataset | str | os.PathLike,
    b: xr.Dataset | str | os.PathLike,
    *,
    level: float = 0.95,
) -> xr.Dataset:
    """Differences a − b of all that both recorded, in the mean over seeds.

    Members of one cell and one seed are taken as pairs.  A pair has one sample and one
    start if root, `make` and its arguments agree, apart from those in
    `Experiment.shared`: so with another flow or loss.  Otherwise its two networks are
    independent, and the interval is wider.  A seed that one of them lacks, or a value
    that is NaN, is left out.  Values of axes, times among them, are those of both.

    Args:
        a: a result, or the folder or URL of a run.
        b: another one.
        level: confidence.

    Returns:
        For every number that both have, `estimate` (mean, low, high) in the place of
        `seed`; `pairs`, how many there were, is among them as "NAME.pairs".  Two
        attributes are JSON.  `differs`: what of the configurations differs, by name.
        `independent`: names of what makes the networks of a pair independent, such as
        ["cell.sigma"]; [] if they have one sample and one start, null if the
        configurations do not say.

    Raises:
        ValueError: if an axis is of one of them only, if they have no value of one in
            common, or nothing at all.
    """
    a, b = as_result(a), as_result(b)
    both = [name for name in a.data_vars if name in b.data_vars and name != "status"]
    both = [name for name in both if "seed" in a[name].dims and "seed" in b[name].dims]
    if not both:
        raise BadInput(
            "`a` and `b` have no measure over `seed` in common, so there is nothing to "
            "compare."
        )
    one, two = a[both], b[both]
    for dim in sorted({*map(str, one.dims)} ^ {*map(str, two.dims)}):
        name, other = ("a", "b") if dim in one.dims else ("b", "a")
        raise BadInput(
            f"`{dim}` is an axis of `{name}` but not of `{other}`. Select a value. "
            f"Example: {name}.sel({dim}={name}.{dim}[0])."
        )
    fixed = [k for k in {*one.coords, *two.coords} if k not in one.dims]
    one, two = (part.drop_vars(fixed, errors="ignore") for part in (one, two))
    try:
        one, two = xr.align(one, two, join="inner")
    except ValueError as error:  # an axis without values, of two sizes
        raise BadInput(f"`a` and `b` cannot be aligned: {error}") from None
    for dim, size in one.sizes.items():
        if size == 0:
            raise BadInput(f"`a` and `b` have no value of `{dim}` in common.")
    out = {}
    for name in both:
        apart = _number(one[name]) - _number(two[name])
        out[name] = xr.apply_ufunc(
            lambda row: _interval(row, level),
            apart,
            input_core_dims=[["seed"]],
            output_core_dims=[["estimate"]],
            vectorize=True,
        )
        out[f"{name}.pairs"] = apart.notnull().sum("seed")
    found = xr.Dataset(out).assign_coords(estimate=list(ESTIMATE))
    differs, independent = _differing(a, b), _independent(a, b)
    attrs = {"differs": json.dumps(differs), "independent": json.dumps(independent)}
    return found.assign_attrs(level=level, **attrs)


def _number(values: xr.DataArray) -> xr.DataArray:
    return values.astype(np.float64)


def _interval(row: np.ndarray, level: float) -> np.ndarray:
    seen = mean_interval(row, level=level)
    return np.array([seen.value, seen.low, seen.high])


def _differing(a: xr.Dataset, b: xr.Dataset) -> dict[str, list]:
    """Entries of the configurations that are not equal, by name: "flow.rtol"."""
    known = [_flat(_configuration(ds)) for ds in (a, b)]
    names = sorted({*known[0], *known[1]})
    pairs = {name: [one.get(name) for one in known] for name in names}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def _independent(a: xr.Dataset, b: xr.Dataset) -> list[str] | None:
    """What of a member's key differs: its pair then has another sample and start."""
    one, two = _configuration(a), _configuration(b)
    if not (one and two):
        return None
    found = [name for name in ("make", "root") if one[name] != two[name]]
    shared = [{*stored.get("shared", ())} for stored in (one, two)]
    if shared[0] != shared[1]:
        found.append("shared")
    # Axes of both are compared value by value.
    alike = {*a.dims} & {*b.dims} | shared[0]
    names = sorted({*one["cell"], *two["cell"]} - alike)
    names = [name for name in names if not name.startswith(FLOW_PREFIX)]
    values = lambda name: [
        ds[name].values.tolist() if name in ds.coords else stored["cell"].get(name)
        for ds, stored in ((a, one), (b, two))
    ]
    apart = [name for name in names if values(name)[0] != values(name)[1]]
    return found + [f"cell.{name}" for name in apart]


def _configuration(ds: xr.Dataset) -> dict[str, Any]:
    return with_current_names(json.loads(ds.attrs.get("configuration", "{}")))


def _flat(tree: dict, path: str = "") -> dict[str, object]:
    out: dict[str, object] = {}
    for name, value in tree.items():
        if isinstance(value, dict):
            out |= _flat(value, f"{path}{name}.")
        else:
            out[f"{path}{name}"] = value
    return out
