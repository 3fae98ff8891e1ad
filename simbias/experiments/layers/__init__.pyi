from . import layer_resets as layer_resets
from . import layer_similarity as layer_similarity
