"""Infinite dimension: one-pass SGD follows ordinary differential equations.

A student f(x) = Σ φ(wᵢ·x) learns a teacher f*(x) = Σ φ(vₙ·x), φ(h) = erf(h/√2), from one
new sample per step with learning rate η/d.  As d → ∞ all products wᵢ·vₙ and wᵢ·wₖ follow
equations in closed form in the time α = steps/d.  Here they are solved from the
overlaps of each student at time 0 and compared with the student, for dimensions up to
1000.

At finite d the overlaps fluctuate by d^(−1/2).  The control is the same student against
the population flow, η → 0: the equations have a term η² that this flow lacks, and so a
distance that does not vanish.

Reference: Saad & Solla (1995), doi:10.1103/PhysRevE.52.4225, for the equations; Goldt,
Advani, Saxe, Krzakala & Zdeborová (2019), arXiv:1906.08632, for their proof.
"""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.analysis.at import at
from simbias.claims import Claims, mean_of
from simbias.core import AbstractMeasure, AbstractNetwork, Claim, Dataset, Experiment
from simbias.experiment_presets import presets
from simbias.figures import Curves, Law, Panels
from simbias.flows import Descent
from simbias.losses import half_mse
from simbias.networks import TwoLayer
from simbias.networks.activations import erf
from simbias.numerics.exact_numerics import exact_numerics
from simbias.theory.order_parameters import committee_loss, order_parameters
from simbias.validation.values import positive_integers

AXES = ("d",)
PAPER = "Saad & Solla (1995), doi:10.1103/PhysRevE.52.4225"
STUDENTS, RATE, END = 2, 1.0, 30.0
# η of the control, nearly the population flow: its time is ηα.
SLOW = 1e-3
