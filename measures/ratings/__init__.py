"""Statistics of ratings of summaries. `figures` computes all of a round."""

from measures.ratings.best_worst import best_worst_figures
from measures.ratings.between import cochran, mcnemar, wilcoxon
from measures.ratings.confusion import confusion, direction_figures
from measures.ratings.correlation import correlations
from measures.ratings.figures import ADDED, FORMER_RULE, RULE, RULE_6, figures, with_and_without
from measures.ratings.judgements import BestWorst, Criterion, Judgement, Preference
from measures.ratings.preferences import preference_figures
from measures.ratings.raters import FAST
from measures.ratings.rows import Rows
from measures.ratings.standardised import standardised_figures

from .between import letters
from .raters import Exclusions, check_failed, excluded

__all__ = [
    "ADDED",
    "FAST",
    "FORMER_RULE",
    "RULE",
    "RULE_6",
    "BestWorst",
    "Criterion",
    "Exclusions",
    "Judgement",
    "Preference",
    "Rows",
    "best_worst_figures",
    "check_failed",
    "cochran",
    "confusion",
    "correlations",
    "direction_figures",
    "excluded",
    "figures",
    "letters",
    "mcnemar",
    "preference_figures",
    "standardised_figures",
    "wilcoxon",
    "with_and_without",
]
