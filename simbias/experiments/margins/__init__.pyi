from . import max_margin as max_margin
from . import orthogonally_separable as orthogonally_separable
