from . import dominoes as dominoes
from . import slabs as slabs
from . import slabs_adversarial as slabs_adversarial
from . import slabs_noisy as slabs_noisy
