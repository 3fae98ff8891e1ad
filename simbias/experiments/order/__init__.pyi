from . import random_fit as random_fit
