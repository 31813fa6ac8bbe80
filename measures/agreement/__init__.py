"""Agreement between raters. Start with `Ratings` and `measure_report`."""

from measures.agreement.alpha import METRICS, Metric, krippendorff_alpha, weighted_alpha
from measures.agreement.basis import Basis, prepare
from measures.agreement.bootstrap import BootstrapInterval, bootstrap_intervals, cohen_bootstrap
from measures.agreement.clusters import Clusters, bootstrap_over_reviews, over_reviews
from measures.agreement.coefficients import (
    all_agree,
    brennan_prediger,
    check_fleiss_not_above_ac1,
    conger,
    fleiss,
    gwet_ac,
    percent_agreement,
)
from measures.agreement.gold import AgainstGold, against_gold, wilson_interval
from measures.agreement.pairs import Pair, PairMatrix, all_pairs, bangdiwala_b, cohen_kappa, joint_table, pair_matrix
from measures.agreement.ratings import Label, Ratings
from measures.agreement.report import MeasureReport, all_coefficients, measure_report
from measures.agreement.rounds import REPLICATES, RatingRow, RoundAnswers, Scale, coded, self_consistency
from measures.agreement.weights import WEIGHTINGS, WeightName, Weights, weight_matrix
from measures.clustered import Interval

from .basis import Coefficient, OverReviews
from .clusters import Benchmark, BenchmarkScale, benchmark
from .gold import half_width_curve, items_needed
from .pairs import CategoryAgreement, ContestedItem, category_agreement, most_contested, one_against_rest
from .ratings import AgreementDataError, RatingsError
from .rounds import Review, corrections

__all__ = [
    "METRICS",
    "REPLICATES",
    "WEIGHTINGS",
    "AgainstGold",
    "AgreementDataError",
    "Basis",
    "Benchmark",
    "BenchmarkScale",
    "BootstrapInterval",
    "CategoryAgreement",
    "Clusters",
    "Coefficient",
    "ContestedItem",
    "Interval",
    "Label",
    "MeasureReport",
    "Metric",
    "OverReviews",
    "Pair",
    "PairMatrix",
    "RatingRow",
    "Ratings",
    "RatingsError",
    "Review",
    "RoundAnswers",
    "Scale",
    "WeightName",
    "Weights",
    "against_gold",
    "all_agree",
    "all_coefficients",
    "all_pairs",
    "bangdiwala_b",
    "benchmark",
    "bootstrap_intervals",
    "bootstrap_over_reviews",
    "brennan_prediger",
    "category_agreement",
    "check_fleiss_not_above_ac1",
    "coded",
    "cohen_bootstrap",
    "cohen_kappa",
    "conger",
    "corrections",
    "fleiss",
    "gwet_ac",
    "half_width_curve",
    "items_needed",
    "joint_table",
    "krippendorff_alpha",
    "measure_report",
    "most_contested",
    "one_against_rest",
    "over_reviews",
    "pair_matrix",
    "percent_agreement",
    "prepare",
    "self_consistency",
    "weight_matrix",
    "weighted_alpha",
    "wilson_interval",
]
