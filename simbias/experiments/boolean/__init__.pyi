from . import cantor as cantor
from . import parity as parity
from . import parity_gradient as parity_gradient
from . import parity_sparse as parity_sparse
