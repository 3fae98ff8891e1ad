from . import deep_linear as deep_linear
from . import matrix_completion as matrix_completion
from . import min_norm as min_norm
from . import principal_components as principal_components
from . import principal_components_controls as principal_components_controls
from . import random_design as random_design
from . import tied_layers as tied_layers
from . import unseen_entry as unseen_entry
