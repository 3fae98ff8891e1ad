from . import ntk_circle as ntk_circle
from . import ntk_density as ntk_density
from . import spectral_bias as spectral_bias
