from . import dominoes as dominoes
from . import low_dim_dominoes as low_dim_dominoes
from . import low_dim_inputs as low_dim_inputs
from . import low_dim_pair as low_dim_pair
from . import low_dim_slabs as low_dim_slabs
from . import slabs as slabs
from . import slabs_adversarial as slabs_adversarial
from . import slabs_noisy as slabs_noisy
