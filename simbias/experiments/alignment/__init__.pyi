from . import early_alignment as early_alignment
from . import extremal_count as extremal_count
from . import extremal_count_space as extremal_count_space
from . import extremal_vectors as extremal_vectors
from . import stewart_snapshots as stewart_snapshots
from . import stragglers as stragglers
from . import symmetric_data as symmetric_data
from . import three_points as three_points
