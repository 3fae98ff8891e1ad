from . import orthogonal as orthogonal
from . import orthogonal_toy as orthogonal_toy
