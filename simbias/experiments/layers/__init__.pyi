from . import layer_resets as layer_resets
