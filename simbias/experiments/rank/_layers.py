"""Names of sources and clocks, and differences of norms that the flow conserves."""

import xarray as xr

JI = "Ji & Telgarsky (2019), arXiv:1810.02032"
LE = "Le & Jegelka (2022), arXiv:2201.11968"
CLOCK = "time, of θ' = ∇ ln ln(1 + 1/L)"


def drift(norms: xr.DataArray) -> xr.DataArray:
    """Largest change of a difference ‖W_{l+1}‖²_F − ‖W_l‖²_F, over times and layers."""
    apart = norms.diff("layer")
    return abs(apart - apart.isel(time=0)).max(["layer", "time"], skipna=False)
