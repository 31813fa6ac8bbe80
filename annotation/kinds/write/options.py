"""Options of a round in which people write summaries."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from annotation.models import SummaryForm
from api.parameters import Parameter, Takes

#: What is summarised: each passage, or all passages of a question together.
PASSAGE, ALL = "passage", "all"


class SummaryType(NamedTuple):
    """One of the four types of summaries: what it summarises, and its form."""

    scope: str
    form: SummaryForm

    @property
    def name(self) -> str:
        return f"{self.scope} {self.form}"

    @property
    def limit(self) -> str:
        """Return the option with the limit of this type."""
        return f"limit_{self.scope}_{self.form}"

    @property
    def words(self) -> str:
        return f"{self.form}, of {'each passage' if self.scope == PASSAGE else 'all passages'}"


#: In the order in which they are asked.
TYPES = tuple(SummaryType(scope, form) for scope in (PASSAGE, ALL) for form in SummaryForm)
BY_NAME: Mapping[str, SummaryType] = {one.name: one for one in TYPES}

SUMMARY_TYPES, ASKED_PASSAGES, LIMIT_UNIT, LIMITS_REFUSE = (
    "summary_types", "asked_passages", "limit_unit", "limits_refuse",
)  # fmt: skip
JOINER, STARTS_FROM_EXTRACTIVE = "joiner", "starts_from_extractive"
RATED, EVERY = "rated", "all"
#: Least rating of the passages that are summarised (MEDIQA-AnS).
LEAST_RATING = 3
JOINERS: Mapping[str, str] = {"blank": " ", "dots": " ... "}

OPTIONS = (
    Parameter(
        SUMMARY_TYPES,
        Takes.SEVERAL,
        "Summaries",
        default=[one.name for one in TYPES],
        choices=tuple(one.name for one in TYPES),
        words=tuple(one.words for one in TYPES),
        required=True,
    ),
    Parameter(
        ASKED_PASSAGES,
        Takes.CHOICE,
        "Passages",
        default=RATED,
        choices=(RATED, EVERY),
        words=("rated 3 or 4", "all"),
        required=True,
        help="Chosen when the round opens, by their current ratings.",
    ),
    Parameter(
        JOINER,
        Takes.CHOICE,
        "Between chunks",
        default="blank",
        choices=tuple(JOINERS),
        words=("a blank", "three dots"),
        required=True,
    ),
    Parameter(STARTS_FROM_EXTRACTIVE, Takes.SWITCH, "Abstractive may start from one's own extractive", default=True),
    Parameter(LIMIT_UNIT, Takes.CHOICE, "Limits in", default="words", choices=("words", "sentences"), required=True),
    *(
        Parameter(
            one.limit,
            Takes.INTEGER,
            f"Limit: {one.words}",
            minimum=1,
            maximum=10_000,
            help="Largest number of words or sentences. Empty for none.",
        )
        for one in TYPES
    ),
    Parameter(LIMITS_REFUSE, Takes.SWITCH, "Refuse longer texts", default=False, help="Otherwise the page warns."),
)


def types_of(options: Mapping[str, Any]) -> list[SummaryType]:
    """Return the types that a round asks for, in order."""
    return [BY_NAME[name] for name in options.get(SUMMARY_TYPES) or BY_NAME]


def joiner_of(options: Mapping[str, Any]) -> str:
    return JOINERS[options.get(JOINER) or "blank"]
