from . import dominoes as dominoes
from . import low_dim_dominoes as low_dim_dominoes
from . import low_dim_inputs as low_dim_inputs
from . import low_dim_pair as low_dim_pair
from . import slabs as slabs
