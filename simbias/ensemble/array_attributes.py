"""What each array of a result is: its name in words, and its unit."""

from collections.abc import Iterable, Mapping
from typing import Any

from simbias.core import Status
from simbias.ensemble.grid import FLOW_PREFIX
from simbias.ensemble.parameters import parameters_of
from simbias.ensemble.plan import Plan
from simbias.introspection.docstrings import argument_docs, meaning, summary

PURE = "1"


def _flags(statuses: Iterable[Status]) -> dict[str, Any]:
    """What the numbers of a status mean, as CF has it."""
    known = list(statuses)
    return {
        "flag_values": [int(s) for s in known],
        "flag_meanings": " ".join(s.name for s in known),
    }


FLAGS = _flags(Status)
# Of runs that were begun when there were fewer.
EARLIER_FLAGS = tuple(
    _flags(s for s in Status if s < first) for first in (Status.STATIONARY, Status.TIE)
)
# What a flow counts -> that in words.
COUNTS = {
    "accepted": "steps that were taken",
    "rejected": "steps that were tried and not taken",
    "rejected_again": "steps that were shortened after a rejection and rejected again",
    "evaluations": "evaluations of the field, or gradients",
    "events": "neurons that met an activation boundary",
    "crossings": "neurons that crossed an activation boundary",
    "slides": "neurons that began to slide along an activation boundary",
    "releases": "neurons that left the boundary along which they slid",
    "noninteracting": "steps in which every neuron was followed by itself",
    "aggregated": "steps of an aggregated network of few neurons",
    "by_class": "steps in which representatives of classes moved the network",
    "jumps": "clusters of neurons that left a saddle",
    "nonunique_events": "how often the flow had more than one way to go on",
}
_AXES = {
    "group": "sign of the output weights of the neurons",
    "input": "entry of an input, and of what goes with it (the bias last)",
}


def array_attributes(plan: Plan) -> dict[str, dict[str, str]]:
    """Name of a variable, a coordinate or an axis -> its `long_name` and `units`.

    Long names are first lines of docstrings, and what these say of arguments; times
    are in units of the flow's clock, and what has no unit is in units of "1".
    """
    experiment, clock = plan.experiment, plan.experiment.flow.clock
    out = {
        "status": _entry("why a member is where it is"),
        "end_time": _entry("time at which a member ended", clock),
        "seed": _entry("number of the seed"),
        "time": _entry("time", clock),
    }
    if plan.networks:
        out["kept"] = _entry("time at which networks are kept", clock)
    for name in plan.stats:
        out[name] = _entry(COUNTS.get(name, _words(name)))
    for name in plan.networks:
        out[f"network.{name}"] = _entry(f"array {name} of the network")
    fields = {**plan.trajectories, **plan.final}
    for field in fields.values():
        out |= {dim: _entry(_AXES.get(dim, _words(dim))) for dim in field.dims}
    measures: Mapping[str, Any] = {**experiment.measures, **experiment.final}
    for name in fields:
        if name in measures:
            long_name = summary(measures[name]) or _words(name)
            out[name] = _entry(long_name, getattr(measures[name], "units", PURE))
        else:  # of the flow's own history
            out[name] = _entry(_words(name), clock if name.endswith("_time") else PURE)
    of_make, of_flow = (
        argument_docs(experiment.make),
        argument_docs(type(experiment.flow)),
    )
    for name in {**parameters_of(experiment.make), **experiment.cell}:
        field = name.removeprefix(FLOW_PREFIX)
        said = of_make if field == name else of_flow
        out[name] = _entry(meaning(field, said).removesuffix(".") or _words(field))
    return out


def _entry(long_name: str, units: str = PURE) -> dict[str, str]:
    return {"long_name": long_name, "units": units}


def _words(name: str) -> str:
    return name.replace("_", " ")
