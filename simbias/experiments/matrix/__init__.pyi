from . import bias_architectures as bias_architectures
from . import bias_matrix as bias_matrix
