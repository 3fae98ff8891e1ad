from .arithmetic.modular_sums import modular_sums as modular_sums
from .biases.circle_waves import circle_waves as circle_waves
from .biases.component_sum import component_sum as component_sum
from .biases.crossed_clusters import crossed_clusters as crossed_clusters
from .biases.line_and_bend import line_and_bend as line_and_bend
from .biases.linear_and_slabs import linear_and_slabs as linear_and_slabs
from .biases.moment_pairs import moment_pairs as moment_pairs
from .biases.noisy_linear import noisy_linear as noisy_linear
from .biases.separating_coordinate import separating_coordinate as separating_coordinate
from .biases.string_quarter import string_quarter as string_quarter
from .boolean.cantor import cantor as cantor
from .boolean.parity import parity as parity
from .boolean.strings import strings as strings
from .linear.gaussian_design import gaussian_design as gaussian_design
from .linear.linear_modes import linear_modes as linear_modes
from .linear.principal_classes import principal_classes as principal_classes
from .moments.moment_classes import moment_classes as moment_classes
from .moments.rectangular import rectangular as rectangular
from .npz import Npz as Npz
from .orthogonality.orthogonal import orthogonal as orthogonal
from .orthogonality.orthogonal_toy import orthogonal_toy as orthogonal_toy
from .separable.blobs import blobs as blobs
from .separable.hinted import hinted as hinted
from .separable.orthogonally_separable import (
    orthogonally_separable as orthogonally_separable,
)
from .separable.symmetric_separable import symmetric_separable as symmetric_separable
from .separable.xor_clusters import xor_clusters as xor_clusters
from .shortcuts.slabs import slabs as slabs
from .teachers.committee import committee as committee
from .teachers.gaussian_teacher import gaussian_teacher as gaussian_teacher
from .teachers.sine_on_disc import sine_on_disc as sine_on_disc
from .teachers.stewart_1d import stewart_1d as stewart_1d
from .teachers.three_points import three_points as three_points
from .vision.dominoes import dominoes as dominoes
from .vision.images import images as images
