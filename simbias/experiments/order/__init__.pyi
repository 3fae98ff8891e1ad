from . import distributional as distributional
from . import random_fit as random_fit
from . import simple_first as simple_first
