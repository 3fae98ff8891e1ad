from . import first_filters as first_filters
from . import layer_resets as layer_resets
from . import symmetry_breaking as symmetry_breaking
from . import symmetry_breaking_lattice as symmetry_breaking_lattice
