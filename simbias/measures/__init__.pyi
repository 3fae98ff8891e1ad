from .clusters.cluster_masses import ClusterMasses as ClusterMasses
from .clusters.direction_groups import DirectionGroups as DirectionGroups
from .clusters.effective_width import EffectiveWidth as EffectiveWidth
from .clusters.effective_width_entropy import (
    EffectiveWidthEntropy as EffectiveWidthEntropy,
)
from .clusters.embedding_distance import EmbeddingDistance as EmbeddingDistance
from .clusters.entropy_rank import EntropyRank as EntropyRank
from .components.correct_rows import CorrectRows as CorrectRows
from .components.critical_component import CriticalComponent as CriticalComponent
from .components.learned_parts import LearnedParts as LearnedParts
from .components.part_rates import PartRates as PartRates
from .components.projected_accuracy import ProjectedAccuracy as ProjectedAccuracy
from .filters.filter_fits import FilterFits as FilterFits
from .filters.filter_kinds import FilterKinds as FilterKinds
from .filters.first_filters import FirstFilters as FirstFilters
from .filters.negative_pairs import NegativePairs as NegativePairs
from .information.explained_information import (
    ExplainedInformation as ExplainedInformation,
)
from .kernel.kernel_eigenvalues import KernelEigenvalues as KernelEigenvalues
from .kernel.kernel_rates import KernelRates as KernelRates
from .kernel.tangent_kernel import TangentKernel as TangentKernel
from .layers.epoch_similarity import EpochSimilarity as EpochSimilarity
from .layers.layer_distance import LayerDistance as LayerDistance
from .layers.matched_correlation import MatchedCorrelation as MatchedCorrelation
from .layers.reset_accuracy import ResetAccuracy as ResetAccuracy
from .linear.determinant_sign import DeterminantSign as DeterminantSign
from .linear.early_strengths import EarlyStrengths as EarlyStrengths
from .linear.effective_rank import EffectiveRank as EffectiveRank
from .linear.end_to_end_error import EndToEndError as EndToEndError
from .linear.gram_eigenvalues import GramEigenvalues as GramEigenvalues
from .linear.input_eigenvalues import InputEigenvalues as InputEigenvalues
from .linear.layer_balance import LayerBalance as LayerBalance
from .linear.layer_norms import LayerNorms as LayerNorms
from .linear.least_norm import LeastNorm as LeastNorm
from .linear.log_determinant import LogDeterminant as LogDeterminant
from .linear.map_errors import MapErrors as MapErrors
from .linear.matrix_entry import MatrixEntry as MatrixEntry
from .linear.mode_strengths import ModeStrengths as ModeStrengths
from .linear.outside_span import OutsideSpan as OutsideSpan
from .linear.principal_columns import PrincipalColumns as PrincipalColumns
from .linear.product_columns import ProductColumns as ProductColumns
from .linear.product_row import ProductRow as ProductRow
from .linear.ridge_distance import RidgeDistance as RidgeDistance
from .linear.ridge_risk import RidgeRisk as RidgeRisk
from .linear.scale_matrices import ScaleMatrices as ScaleMatrices
from .linear.span_error import SpanError as SpanError
from .linear.tied_velocity import TiedVelocity as TiedVelocity
from .linear.unseen_error import UnseenError as UnseenError
from .neurons.alignment import Alignment as Alignment
from .neurons.angular_deviation import AngularDeviation as AngularDeviation
from .neurons.balancedness import Balancedness as Balancedness
from .neurons.cosine_histogram import CosineHistogram as CosineHistogram
from .neurons.dead_neurons import DeadNeurons as DeadNeurons
from .neurons.feature_overlaps import FeatureOverlaps as FeatureOverlaps
from .neurons.first_layer_alignment import FirstLayerAlignment as FirstLayerAlignment
from .neurons.group_sums import GroupSums as GroupSums
from .neurons.incoming_weights import IncomingWeights as IncomingWeights
from .neurons.negative_live_mass import NegativeLiveMass as NegativeLiveMass
from .neurons.neuron_cosine import NeuronCosine as NeuronCosine
from .neurons.neuron_weights import NeuronWeights as NeuronWeights
from .neurons.parameter_norm import ParameterNorm as ParameterNorm
from .pairs.accuracy_of_each import AccuracyOfEach as AccuracyOfEach
from .pairs.gaussian_path import GaussianPath as GaussianPath
from .pairs.pair_scores import PairScores as PairScores
from .pairs.weight_path import WeightPath as WeightPath
from .patterns.activation_patterns import ActivationPatterns as ActivationPatterns
from .patterns.pattern_classes import PatternClasses as PatternClasses
from .patterns.sliding_fraction import SlidingFraction as SlidingFraction
from .randomised.adversarial_accuracy import AdversarialAccuracy as AdversarialAccuracy
from .randomised.decision_plane import DecisionPlane as DecisionPlane
from .randomised.feature_dependence import FeatureDependence as FeatureDependence
from .randomised.projected_scores import ProjectedScores as ProjectedScores
from .randomised.randomised_auc import RandomisedAuc as RandomisedAuc
from .randomised.randomised_logits import RandomisedLogits as RandomisedLogits
from .randomised.randomised_scores import RandomisedScores as RandomisedScores
from .randomised.universal_perturbation import (
    UniversalPerturbation as UniversalPerturbation,
)
from .rank.feature_rank import FeatureRank as FeatureRank
from .rank.folded_ranks import FoldedRanks as FoldedRanks
from .rank.input_rank import InputRank as InputRank
from .rank.layer_alignment import LayerAlignment as LayerAlignment
from .rank.layer_feature_ranks import LayerFeatureRanks as LayerFeatureRanks
from .rank.singular_shares import SingularShares as SingularShares
from .rank.stable_rank import StableRank as StableRank
from .rank.stable_ranks import StableRanks as StableRanks
from .rank.weight_rank import WeightRank as WeightRank
from .rest.escape_time import EscapeTime as EscapeTime
from .rest.largest_growth import LargestGrowth as LargestGrowth
from .rest.least_subgradient import LeastSubgradient as LeastSubgradient
from .rest.neuron_growth import NeuronGrowth as NeuronGrowth
from .rest.pattern_margin import PatternMargin as PatternMargin
from .risk.block_accuracy import BlockAccuracy as BlockAccuracy
from .risk.class_accuracy import ClassAccuracy as ClassAccuracy
from .risk.class_separation import ClassSeparation as ClassSeparation
from .risk.distance_to_ols import DistanceToOls as DistanceToOls
from .risk.excess_risk import ExcessRisk as ExcessRisk
from .risk.gaussian_loss import GaussianLoss as GaussianLoss
from .risk.last_layer_probe import LastLayerProbe as LastLayerProbe
from .risk.linearity_defect import LinearityDefect as LinearityDefect
from .risk.margin import Margin as Margin
from .risk.test_risk import TestRisk as TestRisk
from .risk.test_sign_accuracy import TestSignAccuracy as TestSignAccuracy
from .risk.train_loss import TrainLoss as TrainLoss
from .risk.train_risk import TrainRisk as TrainRisk
from .risk.train_sign_accuracy import TrainSignAccuracy as TrainSignAccuracy
from .risk.two_group_excess import TwoGroupExcess as TwoGroupExcess
from .risk.two_group_gap import TwoGroupGap as TwoGroupGap
from .risk.wrong_labels_fitted import WrongLabelsFitted as WrongLabelsFitted
from .sensitivity.degree_weights import DegreeWeights as DegreeWeights
from .sensitivity.embedding_sensitivity import (
    EmbeddingSensitivity as EmbeddingSensitivity,
)
from .sensitivity.patch_sensitivity import PatchSensitivity as PatchSensitivity
from .sensitivity.sensitivity import Sensitivity as Sensitivity
from .spectrum.amplitudes import Amplitudes as Amplitudes
from .spectrum.arc_shares import ArcShares as ArcShares
from .spectrum.circle_shares import CircleShares as CircleShares
from .spectrum.high_share import HighShare as HighShare
from .spectrum.octave_bands import OctaveBands as OctaveBands
from .spectrum.outputs_and_targets import OutputsAndTargets as OutputsAndTargets
from .spectrum.path_spectrum import PathSpectrum as PathSpectrum
from .spectrum.perturbed_amplitudes import PerturbedAmplitudes as PerturbedAmplitudes
