from . import distributional as distributional
from . import distributional_clones as distributional_clones
from . import distributional_images as distributional_images
from . import distributional_linear as distributional_linear
from . import random_fit as random_fit
from . import simple_first as simple_first
from . import six_architectures as six_architectures
