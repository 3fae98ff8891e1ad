"""What a phenomenon shows in a result: its figures and its claims, part by part.

A phenomenon is a module with `experiment()` and, if it wants, `figure(part)` and
`claims(part)`: a file of `simbias.experiments`, or your own.  `AXES` names the axes
that the two read, which every part then has, `seed` beside them; a result with more of
them is cut into parts.  Without `AXES` both are given the result as it is.  Variants
that read other axes make `AXES` a function of the result.
`LEAST_TIME` is the time that a run must reach for the claims to be about it.
"""

import contextlib
import dataclasses
import json
import pathlib
from collections.abc import Container, Iterator
from typing import Any

import xarray as xr
from matplotlib.figure import Figure

from simbias.analysis.parts import parts
from simbias.core import Claim
from simbias.drawn_from import OnSample
from simbias.ensemble.array_attributes import array_attributes
from simbias.ensemble.plan import Plan
from simbias.errors import BadInput
from simbias.figures.laws import without_laws
from simbias.figures.panels import Panels
from simbias.figures.style import style, text_size
from simbias.figures.text_fit import fit_text
from simbias.figures.unknown_names import check_panels
from simbias.numerics.exact_numerics import exact_numerics

# Letters of a name in a title.
_LONGEST = 100


def check(phenomenon: Any, ds: xr.Dataset) -> list[Claim]:
    """The claims about every part of a result; of several, each says which.

    None for a phenomenon without `claims`.  Of a run that ends before its `LEAST_TIME`,
    or on a sample that is not the experiment's own, none is applicable.
    """
    out, claims = [], getattr(phenomenon, "claims", None)
    least = float(getattr(phenomenon, "LEAST_TIME", 0.0))
    is_long = least == 0 or float(ds["time"].max()) >= least
    is_own = _foreign_sample(ds) is None
    for label, part in _parts(phenomenon, ds):
        # Some compute a law, as exactly as the run was.
        with exact_numerics():
            found = claims(part) if claims else []
        if not isinstance(found, list | tuple) or not all(map(_is_claim, found)):
            raise BadInput(
                "`claims` must return a list of simbias.Claim, got "
                f"{found!r:.80}. Example: return [simbias.claims.largest_of(…)]."
            )
        for claim in found:
            text = f"{claim.statement}, {label}" if label else claim.statement
            claim = dataclasses.replace(claim, statement=text)
            claim = claim.given(is_long, f"t ≥ {least:g}")
            if not is_own:
                claim = dataclasses.replace(claim, needs="the experiment's own sample")
            out.append(claim)
    return out


def draw(phenomenon: Any, ds: xr.Dataset) -> dict[str, Figure]:
    """The figure of every part of a result, by what the part is called ("" if one).

    None for a phenomenon without `figure`.  One of a sample that is not the
    experiment's own says so, and shows no laws (those that `figures.laws` draws).  Each
    is drawn in the style of simbias, `figures.style.style`.
    """
    out, draws = {}, getattr(phenomenon, "figure", None)
    foreign = _foreign_sample(ds)
    for label, part in _parts(phenomenon, ds):
        if draws is None:
            break
        with style(), without_laws() if foreign else contextlib.nullcontext():
            figure = draws(part)
        if not isinstance(figure, Figure):
            raise BadInput(
                "`figure` must return a matplotlib Figure, got "
                f"{type(figure).__name__}. Example: return plt.gcf()."
            )
        if label or foreign:
            said = filter(None, (label, foreign, figure.get_suptitle()))
            size = text_size(figure.get_figwidth())
            figure.suptitle("; ".join(map(_short, said)), fontsize=size)
        fit_text(figure)
        out[label] = figure
    return out


def _short(text: str) -> str:
    """What of a name has room in a title."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def check_phenomenon(phenomenon: Any, names: Container[str]) -> None:
    """Refuse a phenomenon that could not be shown, before anything is computed.

    Args:
        phenomenon: a module.
        names: what may be an axis: arguments of `make`, fields of the flow.

    Raises:
        ValueError: if `AXES` names no axes, or `LEAST_TIME` no time.
    """
    axes = getattr(phenomenon, "AXES", ())
    axes = () if callable(axes) else axes
    if not isinstance(axes, tuple) or not all(isinstance(k, str) for k in axes):
        raise BadInput(
            f"`AXES` must be a tuple of names, got {axes!r}. Example: AXES = ('n',)."
        )
    if unknown := [k for k in axes if k not in names]:
        raise BadInput(
            f"`AXES` names `{unknown[0]}`. It must be an argument of `make` or a field "
            "of the flow, such as `flow.rate`."
        )
    least = getattr(phenomenon, "LEAST_TIME", 0.0)
    if not isinstance(least, int | float) or not least >= 0:
        raise BadInput(
            f"`LEAST_TIME` must be a number, 0 or more, got {least!r}. Example: 100.0."
        )


def check_figure(phenomenon: Any, plan: Plan) -> None:
    """Refuse a declared figure that names what the result of a plan will not have.

    Raises:
        ValueError: naming the option of the figure.
    """
    figure = getattr(phenomenon, "figure", None)
    if isinstance(figure, Panels) and not isinstance(plan.experiment.make, OnSample):
        check_panels(figure, [*array_attributes(plan)])


def _foreign_sample(ds: xr.Dataset) -> str | None:
    """Which sample stood for the experiment's own, None if none did."""
    make = json.loads(ds.attrs.get("configuration", "{}")).get("make")
    if not isinstance(make, dict) or make.get("type") != OnSample.__name__:
        return None
    name = pathlib.Path(make["law"]["path"]).name
    return f"on {name}, without laws, which are for the experiment's own data"


def _is_claim(value: Any) -> bool:
    return isinstance(value, Claim)


def _parts(phenomenon: Any, ds: xr.Dataset) -> Iterator[tuple[str, xr.Dataset]]:
    if not any(hasattr(phenomenon, k) for k in ("experiment", "figure", "claims")):
        raise BadInput(
            "expected a module with `experiment`, `figure` or `claims`, got a "
            f"{type(phenomenon).__name__}. Example: simbias.draw(mine, ds)."
        )
    axes: Any = getattr(phenomenon, "AXES", None)
    if axes is None:
        yield "", ds
        return
    read: Any = axes(ds) if callable(axes) else axes
    yield from parts(ds, read)
