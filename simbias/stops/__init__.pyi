from .margin_above import MarginAbove as MarginAbove
from .stationary import Stationary as Stationary
from .train_accuracy_above import TrainAccuracyAbove as TrainAccuracyAbove
from .train_risk_below import TrainRiskBelow as TrainRiskBelow
