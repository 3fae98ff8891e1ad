from . import deep_linear as deep_linear
from . import tied_layers as tied_layers
