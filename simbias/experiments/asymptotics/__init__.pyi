from . import mean_field as mean_field
from . import one_pass as one_pass
from . import population as population
from . import staircase as staircase
from . import vanishing_start as vanishing_start
