from . import grokking as grokking
from . import random_sensitivity as random_sensitivity
from . import sensitivity_patches as sensitivity_patches
from . import sensitivity_training as sensitivity_training
