"""What a run will do, settled before it starts: members, shapes, sizes in memory."""

import dataclasses
import itertools
from collections.abc import Hashable, Iterator, Mapping

from simbias.core import Experiment
from simbias.ensemble.grid import Cell, Grid, make_grid
from simbias.ensemble.lane import Lane, Recorder
from simbias.ensemble.repeats import check_repeats
from simbias.ensemble.shapes import Field, Shapes, cost, widest
from simbias.ensemble.tuples import with_tuples
from simbias.errors import BadInput
from simbias.validation.experiment import check_experiment, check_names


@dataclasses.dataclass(frozen=True)
class Group:
    """Members of one shape, which share one compiled program.

    `spans` hold their numbers in the run, `lane` describes one without its values,
    `cost` is what one evaluation of the field costs, up to a factor, `recording` how
    many numbers all measures together hold while they are taken, and `equations` how
    many equations those along the way have.
    """

    spans: tuple[range, ...]
    lane: Lane
    cost: float
    recording: int
    equations: int

    @property
    def size(self) -> int:
        """Number of members."""
        return sum(map(len, self.spans))

    @property
    def members(self) -> Iterator[int]:
        """Numbers of the members."""
        return itertools.chain.from_iterable(self.spans)


@dataclasses.dataclass(frozen=True)
class Plan:
    """Members of a run are numbered cell by cell, the seed varying fastest."""

    experiment: Experiment
    grid: Grid
    recorder: Recorder
    groups: tuple[Group, ...]
    trajectories: Mapping[str, Field]
    final: Mapping[str, Field]
    networks: Mapping[str, Field]
    """Arrays of the networks that are kept."""
    stats: tuple[str, ...]
    """Counts of the flows of all cells."""

    @property
    def size(self) -> int:
        """Number of members."""
        return len(self.grid.cells) * self.seeds

    @property
    def seeds(self) -> int:
        """Members of every cell."""
        return int(self.experiment.seeds or 1)

    def cell(self, member: int) -> Cell:
        """Cell of a member."""
        return self.grid.cells[member // self.seeds]

    def seed(self, member: int) -> int:
        """Seed of a member."""
        return member % self.seeds


def make_plan(experiment: Experiment) -> Plan:
    """Check an experiment and settle its shapes, without computing anything.

    Raises:
        ValueError: naming the field that is wrong.
    """
    experiment = with_tuples(experiment)
    if isinstance(experiment, Experiment) and experiment.seeds is None:
        experiment = dataclasses.replace(experiment, seeds=1)
    check_experiment(experiment)
    seeds = int(experiment.seeds or 1)
    grid = make_grid(experiment)
    measures = dict(experiment.measures)
    times = tuple(map(float, experiment.times))
    keep = tuple(times.index(float(time)) for time in experiment.keep)
    recorder = Recorder(experiment.loss, times, measures, experiment.stop, keep)
    shapes = Shapes(experiment, grid, recorder)
    spans: dict[Hashable, list[range]] = {}
    for index, cell in enumerate(grid.cells):
        span = range(index * seeds, (index + 1) * seeds)
        spans.setdefault(shapes.of(cell), []).append(span)
    groups = [
        Group(tuple(v), shapes.lanes[k], cost(shapes.lanes[k]), *shapes.recordings[k])
        for k, v in spans.items()
    ]
    # The dearest first: what is left for the end is then short.
    groups.sort(key=lambda g: -g.cost)
    # Cells with flows of several kinds need not count the same.
    counted = (name for group in groups for name in group.lane.state.stats)
    stats = tuple(dict.fromkeys(counted))
    names = {*experiment.cell, *grid.cells[0].arguments}
    clash = {*stats} & {*experiment.measures, *experiment.final, *names}
    if clash:
        raise BadInput(
            f"`{clash.pop()}` is the name of a count of the flow. Rename the measure "
            "or argument."
        )
    trajectories, final = widest(shapes.trajectories), widest(shapes.final)
    check_names(names, trajectories | final)
    check_repeats(experiment, grid.cells[0], shapes.lanes[shapes.of(grid.cells[0])])
    return Plan(
        experiment,
        grid,
        recorder,
        tuple(groups),
        trajectories,
        final,
        widest(shapes.networks),
        stats,
    )
