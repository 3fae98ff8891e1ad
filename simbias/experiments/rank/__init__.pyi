from . import low_rank_classes as low_rank_classes
from . import low_rank_embeddings as low_rank_embeddings
from . import low_rank_linear as low_rank_linear
from . import low_rank_random_search as low_rank_random_search
from . import low_rank_regression as low_rank_regression
from . import low_rank_squared as low_rank_squared
from . import low_rank_targets as low_rank_targets
from . import low_rank_weights as low_rank_weights
