"""Times at which the real network departs from that of a clone, and the claims."""

import numpy as np
import xarray as xr

from simbias.analysis.first_passage import first_passage
from simbias.claims import difference_of
from simbias.core import Claim

REFINETTI = "arXiv:2211.11567"
# A clone counts as left when its accuracy is lower by this much.
LEFT = 0.05


def lead(part: xr.Dataset) -> xr.DataArray:
    """Accuracy of the real network less that of every clone."""
    accuracy = part["accuracy"]
    return accuracy.sel(trained_on="real", drop=True) - accuracy


def departure_time(part: xr.Dataset) -> xr.DataArray:
    """Time at which the accuracy of a clone is lower by `LEFT`; NaN if it never is."""
    return first_passage(lead(part), LEFT)


def departure_or_end(part: xr.Dataset) -> xr.DataArray:
    """Time of departure from a clone; without one the end, a lower bound."""
    is_known = part["accuracy"].notnull().all("time")
    return departure_time(part).fillna(float(part["time"][-1])).where(is_known)


def order_of_clones(part: xr.Dataset, name: str) -> list[Claim]:
    """The network departs from the clone of the means first."""
    log_left = xr.ufuncs.log(departure_or_end(part))
    of = lambda kind: log_left.sel(trained_on=kind, drop=True)
    text = "ln time of departure from"
    return [
        difference_of(
            f"{name}: {text} the clone of {kind} − from that of mean",
            of(kind),
            of("mean"),
            (0, np.inf),
            source,
        )
        for kind, source in (
            ("covariance", f"{REFINETTI}: the order"),
            ("marginals", "ours"),
        )
    ]
