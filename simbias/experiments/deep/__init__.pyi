from . import sliding_share as sliding_share
