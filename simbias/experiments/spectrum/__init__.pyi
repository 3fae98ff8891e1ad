from . import frequency_robustness as frequency_robustness
from . import ntk_circle as ntk_circle
from . import ntk_density as ntk_density
from . import path_spectrum as path_spectrum
from . import spectral_bias as spectral_bias
from . import spectral_label_noise as spectral_label_noise
from . import spectral_optimisers as spectral_optimisers
from . import spectral_petals as spectral_petals
