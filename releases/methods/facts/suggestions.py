"""Facts about suggestions of models that a correction round showed."""

from dataclasses import dataclass
from typing import Any

from projects.models import Round
from projects.suggestions.report import suggestion_report


@dataclass(frozen=True)
class SuggestedField:
    """What people made of the suggestions for one field. ``same``: (equal to the suggestion, answers)."""

    field: str
    accepted: int
    edited: int
    rejected: int
    same_shown: tuple[int, int]
    same_blind: tuple[int, int]


@dataclass(frozen=True)
class SuggestionFacts:
    """Suggestions of one version of a model. ``seconds``: (median working time, answers), with and without them."""

    name: str
    model: str
    version: str
    blind_share: int
    shown: int
    blind: int
    fields: tuple[SuggestedField, ...]
    seconds_shown: tuple[float | None, int]
    seconds_blind: tuple[float | None, int]
    conclusion: str


def suggestion_facts(round: Round) -> SuggestionFacts | None:
    """Return the facts of a closed round; None if it showed no suggestions."""
    if not round.suggestions:
        return None
    report = suggestion_report(round)
    time = report["time"]
    return SuggestionFacts(
        name=report["set"]["name"],
        model=report["set"]["model"],
        version=report["set"]["version"],
        blind_share=report["blind_share"],
        shown=report["shown"],
        blind=report["blind"],
        fields=tuple(_field(row) for row in report["fields"]),
        seconds_shown=(time["shown"]["median"], time["shown"]["n"]),
        seconds_blind=(time["blind"]["median"], time["blind"]["n"]),
        conclusion=str(report["conclusion"]),
    )


def _field(row: dict[str, Any]) -> SuggestedField:
    shown, blind = row["same"]["shown"], row["same"]["blind"]
    return SuggestedField(
        field=row["field"],
        accepted=row["accepted"],
        edited=row["edited"],
        rejected=row["rejected"],
        same_shown=(shown["hits"], shown["n"]),
        same_blind=(blind["hits"], blind["n"]),
    )
