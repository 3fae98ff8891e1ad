"""The report of a run beside its figure."""

from collections.abc import Mapping, Sequence
from typing import Any

import xarray as xr

from simbias.cli._terminal import say
from simbias.core import Claim, Experiment
from simbias.report.kind_of_film import kind_of_film
from simbias.report.page_contents import page_contents
from simbias.report.report import report
from simbias.store.layout import Store
from simbias.store.place import AbstractPlace, Replaced, Unreachable
from simbias.store.time_taken import time_taken

REPORT = "report.html"
_MOST_OF_A_FILM = 6_000_000


def write_report(
    module: Any,
    experiment: Experiment,
    ds: xr.Dataset,
    out: AbstractPlace,
    claims: list[Claim],
    files: Sequence[str] | None,
    origin: str,
    store: Store,
) -> list[str]:
    """Its name, or nothing and a line that says why: no run is lost for a page.

    Args:
        module: of the experiment.
        experiment: that was run.
        ds: its result.
        out: where it is.
        claims: what is claimed about it.
        files: of its figures; those in PNG are shown, and drawn if there are none.
            None if they cannot be drawn.
        origin: which experiment and preset it is of.
        store: that it is in.
    """
    try:
        figures = {} if files is None else images(out, files) or None
        asked = {"claims": claims, "figures": figures, "origin": origin}
        asked |= {"experiment": experiment, "film": film_of(out)}
        asked["time_taken"] = time_taken_by(store)
        text = report(page_contents(ds, module, **asked))
        store.check()
        (out / REPORT).write(text.encode(errors="replace"))
    except Replaced:
        raise
    except Exception as error:
        say(f"No report was written: {type(error).__name__}: {error}")
        return []
    return [REPORT]


def images(out: AbstractPlace, files: Sequence[str]) -> dict[str, bytes]:
    """Figures in PNG by what they are called: of `figure_m=200.png`, `m=200`."""
    names = [file for file in files if file.endswith(".png")]
    label = lambda file: file.removesuffix(".png").removeprefix("figure").strip("_")
    return {label(file): (out / file).read() for file in names}


def film_of(out: AbstractPlace) -> bytes:
    """What `simbias animate` has left there, unless it is too large for a page.

    Of two, film.mp4: it is smaller, and a reader can stop it.
    """
    for name in ("film.mp4", "film.gif"):
        try:
            film = (out / name).read(_MOST_OF_A_FILM)
        except FileNotFoundError:
            continue
        except Unreachable:
            raise
        except OSError as error:
            say(f"{out / name} is not in the report: {error.strerror}.")
            continue
        if kind_of_film(film):
            return film
    return b""


def origin_of(recipe: Mapping[str, Any] | None) -> str:
    """Which experiment and preset a run is of."""
    if recipe is None:
        return ""
    return f"{recipe.get('experiment', '')}, preset {recipe.get('preset', '')}"


def time_taken_by(store: Store) -> str:
    """How long processes were at a run, "" if none has left it."""
    found = time_taken(store)
    return "" if found is None else found.described()
