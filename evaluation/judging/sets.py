"""Sources that only judges rate: the sources of a round's systems that people were not asked about."""

from collections.abc import Sequence

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef

from accounts.models import User
from api.problems import Conflict, Refused
from audit.digests import digest_of
from audit.log import record
from generation import sources
from generation.models import ItemStatus, RunItem
from projects.models import Round
from sql.bulk import BulkWriter

from ..design import systems, writers
from ..design.plan import Planned
from ..design.planning import CHECKS, planned
from ..design.stored import content_by
from ..models import JudgePage, JudgeSet, JudgeSource, RatingDesign

#: Most sources of a set.
MOST = 20_000


def other_units(design: RatingDesign) -> list[int]:
    """Return the units that all systems of a round have summarised, and that no page of the round or of its sets has.

    Empty if the round was imported, so that Concord does not know what its systems wrote elsewhere.
    """
    round = design.round
    level = _level(round)
    if level is None or (
        RatingDesign.objects.filter(pk=design.pk, systems__run=None).exists() and not _is_planned(round)
    ):
        return []
    asked = set(design.sources.values_list("unit", flat=True))
    asked |= set(JudgeSource.objects.filter(judge_set__design=design).values_list("unit", flat=True))
    units = sources.units(round.project, level)
    for run in systems.selected_runs(round.options):
        done = RunItem.objects.filter(run=run, unit=OuterRef(sources.source_of(level).unit), status=ItemStatus.DONE)
        units = units.filter(Exists(done))
    found = [unit for unit in units if unit not in asked]
    for one in systems.selected_writers(round.options):
        texts = writers.Writer.from_id(one).texts(found)
        found = [unit for unit in found if texts.get(unit, "").strip()]
    return found


def _is_planned(round: Round) -> bool:
    """Whether the options of a round name its systems."""
    return bool(systems.selected(round.options))


def _level(round: Round) -> str | None:
    levels = systems.levels(systems.chosen(round.project, round.options)) if _is_planned(round) else set()
    return levels.pop() if len(levels) == 1 else None


def add_set(*, design: RatingDesign, by: User | None, most: int | None = None) -> JudgeSet:
    """Store the other sources of a round as a set that only judges rate, or the first ``most`` of them.

    The set has the protocol version, the systems and the form of texts of the round. Raise `Refused` if there is none.
    """
    units = other_units(design)[: most or MOST]
    if not units:
        raise Refused("All sources that every system of the round has summarised are already rated.")
    plan = _plan(design, units)
    if not plan.pages:
        raise Refused("No other source has different texts of all systems.")
    try:
        with transaction.atomic():
            judge_set = _store(design, plan, by)
            record(
                actor=by,
                verb="add sources for judges",
                obj=judge_set,
                project_id=design.round.project_id,
                after={"round": design.round_id, "sources": len(plan.sources), "pages": len(plan.pages)},
            )
    except IntegrityError as error:
        raise Conflict("Another lead is adding sources to this round. Try again.") from error
    return judge_set


def _plan(design: RatingDesign, units: Sequence[int]) -> Planned:
    round, content = design.round, content_by(design.version.digest)
    compared = systems.chosen(round.project, round.options)
    if len(compared) != design.systems.count():
        raise Refused("A system of the round no longer exists, so its other texts cannot be rated.")
    options = {**round.options, CHECKS: 0}
    lowered = bool(design.plan.get("lowered"))
    return planned(round.project, units, content, compared, options, round.seed, design.secret, lowered=lowered)


def _store(design: RatingDesign, plan: Planned, by: User | None) -> JudgeSet:
    stored_plan = plan.as_json()
    judge_set = JudgeSet.objects.create(
        design=design,
        number=design.judge_sets.count() + 1,
        plan=stored_plan,
        digest=digest_of(stored_plan),
        created_by=by,
    )
    rows = BulkWriter()
    stored = rows.add(
        JudgeSource(
            judge_set=judge_set,
            number=n,
            unit_id=one.unit,
            target_id=one.target,
            review=one.review,
            material=one.material,
            gold=one.gold,
        )
        for n, one in enumerate(plan.sources)
    )
    rows.add(
        JudgePage(
            source=stored[page.source],
            number=page.number,
            texts=[{"code": text.code, "text": text.displayed_text, "systems": sorted(text.of)} for text in page.texts],
        )
        for page in plan.pages
    )
    rows.write()
    return judge_set
