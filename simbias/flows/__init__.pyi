from .deep_relu_flow import DeepReluFlow as DeepReluFlow
from .descent import Descent as Descent
from .gradient_flow import GradientFlow as GradientFlow
from .relu_flow import ReluFlow as ReluFlow
from .vanishing_start import VanishingStart as VanishingStart
