"""What a phenomenon shows in a result: its figures and its claims, part by part.

A phenomenon is a module with `experiment()`, `figure(part)` and `claims(part)`, a file
of `simbias.experiments` or your own.  `AXES` names the axes that the two read, which
every part then has, `seed` beside them; a result with more of them is cut into parts.
Without `AXES` both are given the result as it is.  `LEAST_TIME` is the time that a run
must reach for the claims to be about it.
"""

import dataclasses
from collections.abc import Iterator
from typing import Protocol, runtime_checkable

import xarray as xr
from matplotlib.figure import Figure

from simbias.analysis.parts import parts
from simbias.core import Claim
from simbias.ensemble.engine import exact_numerics


@runtime_checkable
class Phenomenon(Protocol):
    """A module; `AXES` and `LEAST_TIME` may be left out."""

    def figure(self, ds: xr.Dataset, /) -> Figure:
        """The figure of a part."""
        ...

    def claims(self, ds: xr.Dataset, /) -> list[Claim]:
        """The claims about a part."""
        ...


def judge(phenomenon: Phenomenon, ds: xr.Dataset) -> list[Claim]:
    """The claims about every part of a result; of several, each says which.

    Of a run that ends before `LEAST_TIME` none is applicable.
    """
    least, out = float(getattr(phenomenon, "LEAST_TIME", 0.0)), []
    is_long = least == 0 or float(ds["time"].max()) >= least
    for label, part in _parts(phenomenon, ds):
        # Some compute a law, as exactly as the run was.
        with exact_numerics():
            claims = phenomenon.claims(part)
        for claim in claims:
            text = f"{claim.statement}, {label}" if label else claim.statement
            claim = dataclasses.replace(claim, statement=text)
            out.append(claim.given(is_long, f"t ≥ {least:g}"))
    return out


def draw(phenomenon: Phenomenon, ds: xr.Dataset) -> dict[str, Figure]:
    """The figure of every part of a result, by what the part is called ("" if one)."""
    out = {}
    for label, part in _parts(phenomenon, ds):
        figure = phenomenon.figure(part)
        if label:
            title = figure.get_suptitle()
            text = f"{label}; {title}" if title else label
            figure.suptitle(text, fontsize="medium")
        out[label] = figure
    return out


def _parts(phenomenon: Phenomenon, ds: xr.Dataset) -> Iterator[tuple[str, xr.Dataset]]:
    axes = getattr(phenomenon, "AXES", None)
    if axes is None:
        yield "", ds
    else:
        yield from parts(ds, axes)
