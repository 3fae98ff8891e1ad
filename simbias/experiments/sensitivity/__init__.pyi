from . import random_sensitivity as random_sensitivity
