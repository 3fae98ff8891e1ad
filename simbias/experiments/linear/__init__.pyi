from . import min_norm as min_norm
from . import random_design as random_design
