from . import mean_field as mean_field
from . import population as population
