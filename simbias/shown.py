"""What a phenomenon shows in a result: its figures and its claims, part by part.

A phenomenon is a module with `experiment()`, `figure(part)` and `claims(part)`, a file
of `simbias.experiments` or your own.  `AXES` names the axes that the two read, which
every part then has, `seed` beside them; a result with more of them is cut into parts.
Without `AXES` both are given the result as it is.
"""

import dataclasses
from collections.abc import Iterator
from typing import Protocol, runtime_checkable

import xarray as xr
from matplotlib.figure import Figure

from simbias.analysis.parts import parts
from simbias.core import Claim


@runtime_checkable
class Phenomenon(Protocol):
    """A module; `AXES` may be left out."""

    def figure(self, ds: xr.Dataset, /) -> Figure:
        """The figure of a part."""
        ...

    def claims(self, ds: xr.Dataset, /) -> list[Claim]:
        """The claims about a part."""
        ...


def judge(phenomenon: Phenomenon, ds: xr.Dataset) -> list[Claim]:
    """The claims about every part of a result; of several, each says which."""
    out = []
    for label, part in _parts(phenomenon, ds):
        for claim in phenomenon.claims(part):
            text = f"{claim.statement}, {label}" if label else claim.statement
            out.append(dataclasses.replace(claim, statement=text))
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
