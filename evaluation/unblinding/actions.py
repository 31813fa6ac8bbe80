"""Unblind rating rounds: reveal which system wrote each text to everybody who may read results."""

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from api.problems import Conflict
from audit.log import record
from generation.models import Embargo, Run
from projects.models import Round

from ..models import RatingDesign, Unblinding
from ..results.actions import after_unblinding


def unblind(*, design: RatingDesign, by: User | None) -> Unblinding:
    """Unblind a closed round, and lift the embargo on runs that no other round rates blindly.

    Raise `Conflict` if the round is open, because people still rate in it, or if it is unblinded already.
    """
    with transaction.atomic():
        # The update locks the row, so that the round stays closed until the transaction ends.
        closed = Round.objects.filter(pk=design.round_id, status=Round.Status.CLOSED)
        if not closed.update(status=Round.Status.CLOSED):
            raise Conflict("The round is still open. Close it before you unblind it.")
        made, new = Unblinding.objects.get_or_create(design=design, defaults={"by": by, "at": timezone.now()})
        if not new:
            raise Conflict("This round is already unblinded.")
        lifted = _lift(design)
        record(
            actor=by,
            verb="unblind round",
            obj=design.round,
            project_id=design.round.project_id,
            after={"digest": design.digest, "runs": lifted},
        )
        after_unblinding(design=design, by=by)
    return made


def _lift(design: RatingDesign) -> list[int]:
    runs = [
        run
        for run in Run.objects.filter(compared_systems__design=design).distinct().order_by("pk")
        if not blind_rating_reason(run)
    ]
    Embargo.objects.active().filter(run__in=runs).update(lifted_at=timezone.now())
    return [run.pk for run in runs]


def blind_rating_reason(run: Run) -> str:
    """Return why the embargo on a run cannot be lifted: a round rates it blindly. Empty if there is none."""
    blind = RatingDesign.objects.filter(systems__run=run, unblinding=None).select_related("round").order_by("pk")
    return next(
        (
            f"The summaries of this run are being rated blindly in {design.round.name!r}. "
            + ("Close that round, then unblind it." if design.round.is_open else "Unblind that round.")
            for design in blind
        ),
        "",
    )
