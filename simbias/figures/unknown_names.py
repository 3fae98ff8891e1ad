"""Names in a declared figure that no result can have, found before anything is run."""

from collections.abc import Collection, Iterator

from simbias.errors import BadInput
from simbias.figures.kind import Kind
from simbias.figures.kinds import Drawing
from simbias.figures.panels import Panels
from simbias.figures.titles import places_of
from simbias.suggestion import suggestion


def check_panels(panels: Panels, known: Collection[str]) -> None:
    """Refuse a figure that names what its result will not have.

    Functions may make variables and axes of their own.  What could come from one, such
    as every name if the whole figure has an `of`, is not checked here.

    Args:
        panels: the figure.
        known: names of variables, axes and coordinates of the result.

    Raises:
        ValueError: naming the option and the name.
    """
    if panels.of is not None:
        return
    for option, name in _names(panels, known):
        if name not in known:
            raise BadInput(
                f"`{option}` of the figure names `{name}`, which is neither a measure, "
                "an axis nor an argument of `make` of this experiment."
                f"{suggestion(name, known)}"
            )


def _names(panels: Panels, known: Collection[str]) -> Iterator[tuple[str, str]]:
    """Option and name of what is looked up in the result itself."""
    for option in ("rows", "columns"):
        if name := getattr(panels, option):
            yield option, name
    for name in places_of(panels.title):
        yield "title", name
    for kind in panels.kinds:
        if kind.facet:
            yield "facet", kind.facet
        # It is left out, or its part has what a function made.
        if kind.of is not None or (kind.needs and kind.needs not in known):
            continue
        for option, name in _names_of(kind, panels):
            yield f"{type(kind).__name__}.{option}", name
    yield from (("names", k) for k in _names_without_use(panels))


def _names_of(kind: Kind, panels: Panels) -> Iterator[tuple[str, str]]:
    for name in places_of(kind.title):
        yield "title", name
    if isinstance(kind.yticks, str):
        yield "yticks", kind.yticks
    if isinstance(kind, Drawing):
        return
    x = panels.x if kind.x is None else kind.x
    if isinstance(x, str):
        yield "x", x
    if isinstance(kind.values, str):
        yield "values", kind.values
        for option in ("colour", "line", "y"):
            if name := getattr(kind, option, None):
                yield option, name


def _names_without_use(panels: Panels) -> Iterator[str]:
    """Keys of `names` that no panel reads; with a function for x there may be more."""
    if callable(panels.x) or any(callable(kind.x) for kind in panels.kinds):
        return
    used = {panels.rows, panels.columns, panels.x, *places_of(panels.title)}
    for kind in panels.kinds:
        options = ("x", "colour", "line", "facet")
        used |= {getattr(kind, option, None) for option in options}
        used |= {*places_of(kind.title)}
    yield from (key for key in panels.names if key not in used)
