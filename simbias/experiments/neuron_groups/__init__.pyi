from . import condensation as condensation
from . import flat_channels as flat_channels
from . import xor_clusters as xor_clusters
from . import xor_four_neurons as xor_four_neurons
