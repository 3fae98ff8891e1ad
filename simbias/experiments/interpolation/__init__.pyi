from . import interpolating_samples as interpolating_samples
from . import norm_drift as norm_drift
from . import order_of_limits as order_of_limits
from . import phase_diagram as phase_diagram
from . import sample_influence as sample_influence
from . import spurious_minimum as spurious_minimum
from . import threshold as threshold
from . import threshold_scaling as threshold_scaling
