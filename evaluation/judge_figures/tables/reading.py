"""The rounds of the rating tables with the stored figures of their judges."""

import json
from dataclasses import dataclass
from typing import Any

from projects.models import Member, Project
from projects.reports.registry import ReportTable

from ...models import JudgeFigures
from ...permissions import rates_in, rates_now
from ...results.tables.building import RatedRound, Ratings
from ..queries import without_raters

Json = dict[str, Any]


@dataclass(frozen=True)
class WorthOfJudge:
    round: RatedRound
    figures: Json

    @property
    def judge(self) -> str:
        name: str = self.figures["judge"]
        return name

    def called(self, criterion: str) -> str:
        name: str = self.figures["names"].get(criterion, criterion)
        return name


class Judges(Ratings):
    """The judges of the rounds. There are none for who rates now, nor in a release while a round is rated."""

    def __init__(
        self, project: Project, member: Member | None = None, *, published: bool = False, unseen: bool = False
    ) -> None:
        super().__init__(project, member, published=published, unseen=unseen)
        hidden = rates_now(member) if member else published and rates_in(project)
        self.judges: list[WorthOfJudge] = []
        if hidden:
            return
        rounds = {each.design.pk: each for each in self.rounds}
        rows = (
            JudgeFigures.objects.filter(run__design__in=rounds).order_by("run_id").values_list("run__design", "figures")
        )
        for design, figures in rows:
            known = json.loads(figures)
            if not self.shows_raters:
                without_raters(known)
            self.judges.append(WorthOfJudge(rounds[design], known))


class JudgesTable(ReportTable[Judges]):
    data = Judges

    def is_of(self, data: Judges) -> bool:
        return bool(data.judges)
