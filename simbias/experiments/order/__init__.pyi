from . import simple_first as simple_first
