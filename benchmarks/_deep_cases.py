"""Random and degenerate deep networks, by program: depth, biases, slope and loss.

    plain    nothing degenerate
    equal    half of the samples are the other half again, with other targets
    mirror   half of them are (−x, −y) of the others
    zero     one input is 0
    dead     a hidden layer with negative weights (biases may wake it up)
    single   a hidden layer in which one unit alone has positive weights
    twins    two units with equal weights, incoming and outgoing

One in four has an initial scale between 0.01 and 2, and goes on for longer.
"""

import dataclasses
import itertools

import numpy as np
from _deep_euler import DeepProblem

SAMPLES, INPUTS, WIDTH = 8, 3, 5
KINDS = ("plain", "equal", "mirror", "zero", "dead", "single", "twins")
LOSSES = ("half_mse", "logistic")
# A usual scale, and times at which most has happened from it and from smaller ones.
SCALE, TIME, LONG = 0.84, 4.0, 20.0
# Seeds of the first prototype of the rules that it got wrong, by depth: a pinned unit
# is the only live input of others.
LIVE_INPUT = {3: (5, 11), 4: (6,)}


@dataclasses.dataclass(frozen=True, order=True)
class Program:
    """What needs a program of its own."""

    depth: int
    has_bias: bool = False
    slope: float = 0.0
    loss: str = "half_mse"

    def __str__(self) -> str:
        bias = "biases" if self.has_bias else "no biases"
        return f"depth {self.depth}, {bias}, slope {self.slope}, {self.loss}"

    @property
    def widths(self) -> tuple[int, ...]:
        """Of all layers, the input first."""
        return INPUTS, *(WIDTH,) * (self.depth - 1), 1

    @property
    def live_input(self) -> tuple[int, ...]:
        """Seeds of `live_input_case`."""
        is_plain = self == Program(self.depth)
        return LIVE_INPUT.get(self.depth, ()) if is_plain else ()


@dataclasses.dataclass(frozen=True)
class DeepCase:
    """A problem, its end time and what is degenerate in it."""

    name: str
    kind: str
    problem: DeepProblem
    time: float
    scale: float


# Those with a case of `LIVE_INPUT` first.
PROGRAMS = tuple(
    sorted(
        itertools.starmap(
            Program, itertools.product((2, 3, 4, 5), (False, True), (0.0, 0.1), LOSSES)
        ),
        key=lambda program: (not program.live_input, program),
    )
)


def cases_of(program: Program, count: int) -> list[DeepCase]:
    """Cases of one program: known ones first, then random ones."""
    known = [live_input_case(program, seed) for seed in program.live_input[:count]]
    return known + [random_case(program, i) for i in range(count - len(known))]


def live_input_case(program: Program, seed: int) -> DeepCase:
    """The random numbers of `problem(seed)` of the prototype of the rules."""
    rng = np.random.default_rng(seed)
    x, y = _sample(rng)
    shapes = zip(program.widths[1:], program.widths, strict=False)
    parts = [rng.standard_normal((b, a)) * SCALE / np.sqrt(a) for b, a in shapes]
    theta = np.concatenate([part.ravel() for part in parts])
    problem = DeepProblem(
        x, y, program.widths, program.has_bias, program.slope, program.loss, theta
    )
    return DeepCase(f"{program}, prototype {seed}", "live input", problem, TIME, SCALE)


def random_case(program: Program, number: int) -> DeepCase:
    """A case drawn from its number; its kind goes by the number."""
    words = (program.depth, program.has_bias, int(10 * program.slope))
    rng = np.random.default_rng((*words, LOSSES.index(program.loss), number))
    x, y = _sample(rng)
    kind, half = KINDS[number % len(KINDS)], SAMPLES // 2
    if kind == "equal":
        x[half:] = x[:half]
    if kind == "mirror":
        x[half:], y[half:] = -x[:half], -y[:half]
    if kind == "zero":
        x[0] = 0
    if program.loss == "logistic":
        y = np.where(y > 0, 1.0, -1.0)
    usual = number % 4 > 0
    scale = SCALE if usual else np.exp(rng.uniform(np.log(0.01), np.log(2)))
    hidden = program.depth - 1
    degenerate = int(rng.integers(hidden))
    parts = []
    for layer in range(program.depth):
        a, b = program.widths[layer], program.widths[layer + 1]
        w = rng.standard_normal((b, a)) * scale / np.sqrt(a)
        bias = 0.1 * rng.standard_normal(b)
        if layer == degenerate and kind in ("dead", "single"):
            w = -np.abs(w)
            w[0] *= -1 if kind == "single" else 1
        if layer == degenerate and kind == "twins":
            w[1], bias[1] = w[0], bias[0]
        if layer == degenerate + 1 and kind == "twins":
            w[:, 1] = w[:, 0]
        parts += [w.ravel()] + ([bias] if program.has_bias else [])
    problem = DeepProblem(
        x=x,
        y=y,
        widths=program.widths,
        has_bias=program.has_bias,
        slope=program.slope,
        loss=program.loss,
        theta=np.concatenate(parts),
    )
    time = TIME if scale > SCALE / 3 else LONG
    return DeepCase(f"{program}, {number}", kind, problem, time, scale)


def _sample(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    x = rng.standard_normal((SAMPLES, INPUTS))
    y = (x @ rng.standard_normal(INPUTS))[:, None]
    return x, y + 0.3 * rng.standard_normal((SAMPLES, 1))
