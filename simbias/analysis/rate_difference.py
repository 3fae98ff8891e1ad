"""What a smaller learning rate would change: the error of descent, where no flow is."""

import numpy as np
import xarray as xr

from simbias.errors import BadInput


def rate_difference(values: xr.DataArray, *, dim: str = "flow.rate") -> xr.DataArray:
    """Estimated error of descent as a stand-in for gradient flow, per member and time.

    Descent errs by C·rate + o(rate) where the network is smooth.  From the two smallest
    rates r < s its error at r is then

        (v(s) − v(r)) · r/(s − r),

    the difference itself for s = 2r (Richardson).  Steps that end beyond a kink add to
    it and follow no law: of ReLU networks it tells the size of the error, which is not
    to be subtracted.  Where the exact flow is too slow or does not apply, this shows
    whether a result is due to the flow or to the step:

        ds = simulate(experiment)  # cell={"flow.rate": (0.02, 0.01)}
        abs(rate_difference(ds["risk"])).max()

    Args:
        values: over `dim` and anything else, at the same times for every rate, as the
            clock of descent has them.
        dim: the axis of rates, two of them at least.

    Raises:
        ValueError: for an axis that is not there, or has one rate only.
    """
    if not isinstance(values, xr.DataArray) or dim not in values.coords:
        raise BadInput(
            f"`values` must be an xarray DataArray with the coordinate {dim!r}, got "
            f"{type(values).__name__}. Example: ds['risk']."
        )
    if dim not in values.dims or values.sizes[dim] < 2:
        raise BadInput(
            f"`dim` must be an axis of two rates at least, got {dim!r} of "
            f"{dict(values.sizes)}. Example: cell={{'flow.rate': (0.02, 0.01)}}."
        )
    values = values.sortby(dim)
    rates = values[dim].values.astype(np.float64)
    if not np.all(np.isfinite(rates)) or rates[0] <= 0 or rates[0] == rates[1]:
        raise BadInput(f"`{dim}` must hold different positive rates, got {rates}.")
    first, second = (values.isel({dim: i}, drop=True) for i in (0, 1))
    return (second - first) * (rates[0] / (rates[1] - rates[0]))
