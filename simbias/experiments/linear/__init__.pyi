from . import min_norm as min_norm
