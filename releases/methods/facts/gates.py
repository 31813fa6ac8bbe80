"""Facts about pilot gates: the bar that a pilot had to meet, and what was read of it."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.db.models import Count

from measures.agreement import bars
from projects.gates import queries as gates_queries
from projects.models import GateReading, Project


@dataclass(frozen=True)
class GateReadingFacts:
    """What a gate read of its closed pilot, or why a lead opened the round without it.

    ``figures`` is None if the pilot was not read, or is still blind. ``obstacles`` say why the bar is not met.
    """

    outcome: str
    read_on: date
    figures: bars.Figures | None
    obstacles: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class GateFacts:
    """The gate of a round. ``read``: readings of a bar on this figure in the project, those of other rounds too."""

    pilot: str
    measure: str
    coefficient: str
    requires: str
    number: float
    least_units: int
    level: float
    readings: tuple[GateReadingFacts, ...]
    read: int


def gate_facts(project: Project, blind: Collection[int]) -> dict[int, GateFacts]:
    """Return the gates of rounds, by round id. Three queries."""
    gates = gates_queries.released(project, blind)
    if not gates:
        return {}
    evaluated = GateReading.objects.filter(project=project).exclude(outcome=GateReading.Outcome.OPENED).order_by()
    by_figure = evaluated.values_list("rule__measure", "rule__coefficient").annotate(n=Count("pk"))
    counts = {(measure, coefficient): n for measure, coefficient, n in by_figure}
    return {round: _gate(gate, counts.get((gate["measure"], gate["coefficient"]), 0)) for round, gate in gates.items()}


def _gate(gate: dict[str, Any], read: int) -> GateFacts:
    bar = bars.Bar(
        gate["measure"], gate["coefficient"], gate["requires"], gate["number"], least_units=gate["least_units"]
    )
    return GateFacts(
        pilot=gate["pilot"],
        measure=bar.measure,
        coefficient=bar.coefficient,
        requires=bar.requires,
        number=bar.number,
        least_units=bar.least_units,
        level=gate["level"],
        readings=tuple(_reading(bar, one) for one in gate["readings"]),
        read=read,
    )


def _reading(bar: bars.Bar, reading: dict[str, Any]) -> GateReadingFacts:
    known = reading["figures"]
    figures = bars.Figures(**known | {"ci": known["ci"] and tuple(known["ci"])}) if known else None
    is_lead = reading["outcome"] == GateReading.Outcome.OPENED
    return GateReadingFacts(
        outcome=reading["outcome"],
        read_on=reading["at"].date(),
        figures=figures,
        obstacles=tuple(bars.obstacles(bar, figures)) if figures else (),
        reason=reading["why"] if is_lead else "",
    )
