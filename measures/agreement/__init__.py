"""Agreement between raters: see ``measure_report`` for everything at once, ``Ratings`` for the way in."""

from measures.agreement.alpha import METRICS, Metric, krippendorff_alpha, weighted_alpha
from measures.agreement.basis import Basis, prepare
from measures.agreement.benchmark import Benchmark, BenchmarkScale, benchmark
from measures.agreement.bootstrap import BootstrapInterval, bootstrap_intervals, cohen_bootstrap
from measures.agreement.categories import CategoryAgreement, category_agreement, one_against_rest
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
from measures.agreement.contested import ContestedItem, most_contested
from measures.agreement.corrections import Review, corrections
from measures.agreement.errors import AgreementDataError, RatingsError
from measures.agreement.gold import AgainstGold, against_gold, wilson_interval
from measures.agreement.pairs import Pair, PairMatrix, all_pairs, bangdiwala_b, cohen_kappa, joint_table, pair_matrix
from measures.agreement.ratings import Label, Ratings
from measures.agreement.report import MeasureReport, all_coefficients, measure_report
from measures.agreement.results import Coefficient, OverReviews
from measures.agreement.rounds import REPLICATES, RoundAnswers, Said, Scale, asked_again, coded
from measures.agreement.sample_size import half_width_curve, items_needed
from measures.agreement.weights import WEIGHTINGS, WeightName, Weights, weight_matrix
from measures.clustered import Interval

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
    "Ratings",
    "RatingsError",
    "Review",
    "RoundAnswers",
    "Said",
    "Scale",
    "WeightName",
    "Weights",
    "against_gold",
    "all_agree",
    "all_coefficients",
    "all_pairs",
    "asked_again",
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
    "weight_matrix",
    "weighted_alpha",
    "wilson_interval",
]
