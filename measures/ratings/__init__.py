"""Statistics of what people said of summaries: see `figures` for everything of a round at once."""

from measures.ratings.between import cochran, mcnemar, wilcoxon
from measures.ratings.confusion import confusion, direction_figures
from measures.ratings.correlation import correlations
from measures.ratings.exclusions import Exclusions, check_failed, excluded
from measures.ratings.figures import RULE, figures, with_and_without
from measures.ratings.judgements import Criterion, Judgement, Preference
from measures.ratings.letters import letters
from measures.ratings.preferences import preference_figures
from measures.ratings.raters import FAST
from measures.ratings.rows import Rows

__all__ = [
    "FAST",
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
