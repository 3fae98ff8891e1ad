"""What a page says about one run besides its numbers."""

import dataclasses
import inspect
import io
from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import xarray as xr

from simbias.core import Claim, Experiment
from simbias.results import is_finished
from simbias.verbs.phenomenon import check, draw


@dataclasses.dataclass(frozen=True)
class PageContents:
    """A result, with the question that it answers, the claims and the figures.

    `figures` are images in PNG by what each is called, "" if it is the only one;
    `origin` says which experiment and preset it is of, `film` is a GIF or an MP4 of a
    member, `time_taken` says how long it took.
    """

    ds: xr.Dataset
    question: str = ""
    setting: str = ""
    claims: tuple[Claim, ...] = ()
    figures: Mapping[str, bytes] = dataclasses.field(default_factory=dict)
    origin: str = ""
    experiment: Experiment | None = None
    film: bytes = b""
    time_taken: str = ""

    @property
    def name(self) -> str:
        """Of the experiment."""
        return str(self.ds.attrs.get("experiment", "run"))


def page_contents(
    ds: xr.Dataset,
    phenomenon: Any = None,
    *,
    claims: list[Claim] | None = None,
    figures: Mapping[str, bytes] | None = None,
    origin: str = "",
    experiment: Experiment | None = None,
    film: bytes = b"",
    time_taken: str = "",
) -> PageContents:
    """A result as its phenomenon shows it.

    Args:
        ds: a result; of one that is not finished neither claims nor figures are made.
        phenomenon: the module of the experiment, None if there is none.
        claims: if they are there already.
        figures: if they are drawn already.
        origin: which experiment and preset it is of.
        experiment: the one that was run; None for one of `simbias.experiments`.
        film: a GIF or an MP4 of one of its members, if there is one.
        time_taken: how long it took, in words, if that is known.
    """
    is_whole = bool(is_finished(ds).any()) and not bool((ds["status"] == 0).any())
    if phenomenon is None or not is_whole:
        claims, figures = claims or [], figures or {}
    if claims is None:
        claims = check(phenomenon, ds)
    if figures is None:
        figures = _drawn(phenomenon, ds)
    text = inspect.cleandoc(getattr(phenomenon, "__doc__", None) or "")
    question, _, setting = text.partition("\n\n")
    question = " ".join(question.split())
    said = question, setting.strip(), tuple(claims), figures
    return PageContents(ds, *said, origin, experiment, film, time_taken)


def _drawn(phenomenon: Any, ds: xr.Dataset) -> dict[str, bytes]:
    images = {}
    for label, figure in draw(phenomenon, ds).items():
        image = io.BytesIO()
        figure.savefig(image, format="png", dpi=150)
        plt.close(figure)
        images[label] = image.getvalue()
    return images
