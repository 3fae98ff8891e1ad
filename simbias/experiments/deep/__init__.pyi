from . import deep_alignment as deep_alignment
from . import deep_escape as deep_escape
from . import deep_low_rank as deep_low_rank
from . import deep_threshold as deep_threshold
from . import sliding_share as sliding_share
