from . import bias_matrix as bias_matrix
