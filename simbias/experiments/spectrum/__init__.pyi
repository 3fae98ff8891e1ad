from . import ntk_circle as ntk_circle
