from . import early_alignment as early_alignment
from . import extremal_vectors as extremal_vectors
from . import stewart_snapshots as stewart_snapshots
from . import three_points as three_points
