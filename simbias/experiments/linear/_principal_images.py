"""Principal components of images: samples, and what is read of them."""

from typing import Literal, get_args

import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float

from simbias.analysis.at import at
from simbias.claims import mean_of
from simbias.core import Claim, Dataset
from simbias.experiments.linear._principal import NAMES, OURS, PAPER
from simbias.figures import Curves, Panels, Points

Inputs = Literal["raw", "white", "amplified"]
AXES = ("inputs", "network", "start")
# Components below this share of the largest variance are not changed.
LEAST = 1e-3
# Of the others, the smallest fifth gets the variance of this component.
SHARE, LIKE = 5, 10
# Components that are kept, few of all, in the claims.
FEW = 5


def in_components(inputs: str, data: Dataset) -> Dataset:
    """The sample with its largest variance 1 and its components as features.

    Args:
        inputs: one of `Inputs`: "white", every component of the training sample divided
            by its standard deviation; "amplified", the smallest fifth of the components
            as large as the tenth, none made smaller.
        data: images, with a test sample.
    """
    frame, factors = _components(data.x, inputs)
    change = frame.T * factors[None] @ frame
    test = data.test
    assert test is not None
    test = Dataset(test.x @ change, test.y, test.weight, test.mean, frame)
    return Dataset(data.x @ change, data.y, data.weight, data.mean, frame, test)


def _components(
    x: Float[Array, "n d"], inputs: str
) -> tuple[Float[Array, "d d"], Float[Array, " d"]]:
    """Components as rows, largest first, and the factor of each."""
    values, vectors = jnp.linalg.eigh(x.T @ x / x.shape[0])
    values, frame = values[::-1], vectors.T[::-1]
    values = values / values[0]
    is_seen = values > LEAST
    if inputs == "white":
        new = jnp.where(is_seen, 1, values)
    elif inputs == "amplified":
        place, seen = jnp.arange(len(values)), jnp.sum(is_seen)
        is_small = is_seen & (place >= seen - seen // SHARE)
        new = jnp.where(is_small, jnp.maximum(values, values[LIKE - 1]), values)
    else:
        new = values
    safe = jnp.where(is_seen, values, 1)
    size = jnp.sqrt(jnp.mean(jnp.sum(x * frame[:1], axis=1) ** 2))
    return frame, jnp.where(is_seen, jnp.sqrt(new / safe), 1) / size


def accessibility(ds: xr.Dataset) -> xr.DataArray:
    """Share of networks and of time, evenly in t, with the correct class of a row."""
    span = float(ds["time"][-1] - ds["time"][0])
    return ds["right"].mean("start", skipna=False).integrate("time") / span


def needed(ds: xr.Dataset) -> xr.DataArray:
    """Components that a row needs, median over networks that classify it correctly.

    NaN for a row without such a network.
    """
    return ds["critical"].median("start")


def correlation(one: xr.DataArray, two: xr.DataArray) -> xr.DataArray:
    """Pearson's, over the rows with both values."""
    is_known = one.notnull() & two.notnull()
    return xr.corr(one.where(is_known), two.where(is_known), "row")


def gain(accuracy: xr.DataArray) -> xr.DataArray:
    """Best accuracy over time less that at the end.

    Computed from the mean over networks, and never below 0.
    """
    seen = accuracy.mean("start", skipna=False)
    return seen.max("time", skipna=False) - seen.isel(time=-1)


def _through(inputs: str) -> Curves:
    """Accuracy through the first components."""
    return Curves(
        lambda part: part["projected"].sel(first=part["first"].isin((1, 5, 10, 64))),
        of=lambda ds: at(ds, "inputs", inputs).isel(time=slice(1, None)),
        colour="first",
        pooled=("start",),
        title=f"{inputs}: test accuracy",
        xscale="log",
        ylim=(0, 1),
    )


figure = Panels(
    Points(
        accessibility,
        of=lambda ds: ds.isel(inputs=np.isin(ds["inputs"], ("raw", "white"))),
        x=needed,
        colour="inputs",
        title="accessibility of an image",
        xlabel="first components that are needed",
        xscale="log",
    ),
    *map(_through, get_args(Inputs)),
    rows="network",
    names={"network": NAMES},
    size=(4.2, 3.6),
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Order of images, accuracy through few components, and early stopping."""
    raw = at(ds, "inputs", "raw")
    pair = [accessibility(at(raw, "network", kind)) for kind in ("linear", "relu")]
    text = "raw: correlation of accessibility, ReLU and linear"
    source = f"{PAPER}: 0.85; band ours"
    rows = [mean_of(text, correlation(*pair), (0.75, 1), source)]
    for kind, name in NAMES.items():
        rows += _of_network(at(ds, "network", kind), name)
    return rows


def through_few(ds: xr.Dataset) -> xr.DataArray:
    """Test accuracy through the first `FEW` components."""
    return ds["projected"].sel(first=FEW)


def through_all(ds: xr.Dataset) -> xr.DataArray:
    """Test accuracy through all components."""
    return ds["right"].mean("row", skipna=False)


def _of_network(part: xr.Dataset, name: str) -> list[Claim]:
    raw, white, amplified = (at(part, "inputs", k) for k in get_args(Inputs))
    need, of_white = (correlation(accessibility(k), needed(k)) for k in (raw, white))
    text = f"accuracy through the first {FEW}, best less end"
    linked = f"{name}, raw: correlation of accessibility and components needed"
    control = f"{name}, raw less white: correlation of accessibility and need"
    stopped = f"{name}: what stopping early gains, amplified less raw"
    falls = [gain(through_few(part)) for part in (raw, white)]
    more = gain(through_all(amplified)) - gain(through_all(raw))
    return [
        mean_of(f"{name}, raw: {text}", falls[0], (0.05, 1), OURS),
        # Never below 0 by definition, so a lower end would say nothing.
        mean_of(f"{name}, white: {text}", falls[1], (-np.inf, 0.05), OURS),
        mean_of(linked, need, (-1, -0.8), f"{PAPER}: −0.93; band ours"),
        mean_of(control, need - of_white, (-2, 0), "ours"),
        mean_of(stopped, more, (0, 1), PAPER),
    ]
