from .levels import MarginAbove as MarginAbove
from .levels import TrainAccuracyAbove as TrainAccuracyAbove
from .stationary import Stationary as Stationary
from .train_risk_below import TrainRiskBelow as TrainRiskBelow
