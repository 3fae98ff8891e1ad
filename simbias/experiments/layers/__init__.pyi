from . import first_filters as first_filters
from . import layer_resets as layer_resets
from . import layer_similarity as layer_similarity
from . import mode_connectivity as mode_connectivity
from . import mode_connectivity_fork as mode_connectivity_fork
from . import mode_connectivity_teacher as mode_connectivity_teacher
from . import symmetry_breaking as symmetry_breaking
