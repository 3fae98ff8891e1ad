"""What is learned of every frequency, as it is learned."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Float
from matplotlib.axes import Axes

from simbias.core import Dataset
from simbias.figures.heat_map import heat_map
from simbias.figures.style import COLOURS
from simbias.films.panel import Panel, Show
from simbias.numerics.exact_numerics import exact_numerics
from simbias.numerics.spectrum import amplitudes

# Less than this share of the largest is rounding: a target does not have it.
_LEAST = 1e-6


def spectrum(one: xr.DataArray, measure: dict[str, Any], data: Dataset) -> list[Panel]:
    """A heat map over frequency and time that fills, and the amplitudes now.

    Of the frequencies that the target has.

    Args:
        one: amplitudes of one member, over `time` and `frequency`.
        measure: the measure as the run describes it.
        data: the sample of the member, whose own amplitudes are the target.
    """
    grid = data.others[measure["sample"]] if measure["sample"] else data
    k = one["frequency"].values
    with exact_numerics():
        y = jnp.asarray(grid.y[: measure["points"], 0])
        target = np.asarray(amplitudes(y, tuple(k.tolist())))
    is_there = target > _LEAST * target.max()
    k, target = k[is_there], target[is_there]
    seen = one.transpose("time", "frequency").isel(frequency=is_there)
    share = seen / target
    return [_map(share), _bars(seen.values, k, target)]


def _map(share: xr.DataArray) -> Panel:
    values = share.clip(0, 1).values

    def draw(axes: Axes) -> Show:
        axes.set(xlabel="frequency k", ylabel="time")
        text = "share of the target's amplitude"
        mesh = heat_map(
            axes, share.clip(0, 1), "frequency", "time", limits=(0, 1), label=text
        )
        axes.set_title("what is learned")
        axes.set_xticks(share["frequency"].values)

        def show(record: int) -> None:
            passed = np.where(np.arange(len(values))[:, None] <= record, values, np.nan)
            mesh.set_array(passed)
            axes.set_title(f"learned up to t = {float(share['time'][record]):.6g}")

        return show

    return Panel({"share": values}, draw, width=5.0)


def _bars(
    seen: Float[np.ndarray, "t q"],
    k: np.ndarray,
    target: Float[np.ndarray, " q"],
) -> Panel:
    width = 0.7 * float(np.diff(k).min()) if len(k) > 1 else 0.7

    def draw(axes: Axes) -> Show:
        axes.set_axisbelow(True)
        bars = axes.bar(k, seen[0], width, color=COLOURS[0], label="network")
        half = width / 2
        axes.hlines(target, k - half, k + half, color="black", lw=1.5, label="target")
        axes.set_ylim(0, 1.25 * max(target.max(), seen.max(), 1e-12))
        axes.set_xticks(k)
        axes.set(xlabel="frequency k", ylabel="amplitude", title="amplitudes now")
        axes.legend(loc="upper right", ncols=2)

        def show(record: int) -> None:
            for bar, height in zip(bars, seen[record], strict=True):
                bar.set_height(height)

        return show

    return Panel({"amplitude": seen}, draw, width=4.4)
