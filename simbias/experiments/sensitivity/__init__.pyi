from . import random_sensitivity as random_sensitivity
from . import sensitivity_training as sensitivity_training
