from . import deep_linear as deep_linear
from . import tied_layers as tied_layers
from . import unseen_entry as unseen_entry
