"""Statistics of ratings of summaries. `figures` computes all of a round."""

from measures.ratings.between import cochran, mcnemar, wilcoxon
from measures.ratings.confusion import confusion, direction_figures
from measures.ratings.correlation import correlations
from measures.ratings.figures import FORMER_RULE, RULE, figures, with_and_without
from measures.ratings.judgements import Criterion, Judgement, Preference
from measures.ratings.preferences import preference_figures
from measures.ratings.raters import FAST
from measures.ratings.rows import Rows

from .between import letters
from .raters import Exclusions, check_failed, excluded

__all__ = [
    "FAST",
    "FORMER_RULE",
    "RULE",
    "Criterion",
    "Exclusions",
    "Judgement",
    "Preference",
    "Rows",
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
    "wilcoxon",
    "with_and_without",
]
