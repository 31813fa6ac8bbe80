"""What models that rate texts are worth. `judge_figures` computes everything for one judge and one round."""

from .alternative import EPSILON, AlternativeTest, alternative_test
from .compared import Judged, JudgedChoice
from .decision import decide
from .powered import Powered, Totals, normal_interval, powered_mean
from .worth import RULE, JudgedRound, judge_figures

__all__ = [
    "EPSILON",
    "RULE",
    "AlternativeTest",
    "Judged",
    "JudgedChoice",
    "JudgedRound",
    "Powered",
    "Totals",
    "alternative_test",
    "decide",
    "judge_figures",
    "normal_interval",
    "powered_mean",
]
