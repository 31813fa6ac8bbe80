"""Telling which system wrote what was rated: of closed rounds, once, and for everybody who may read results."""

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from api.problems import Conflict
from audit.log import record
from generation.models import Run, Seal
from projects.models import Round

from ..models import RatingDesign, Unblinding
from .reckoning import after_unblinding


def unblind(*, design: RatingDesign, by: User | None) -> Unblinding:
    """Unblind a closed round, and lift the seals of its runs that no other round still needs.

    `Conflict` while the round is open, since people still rate in it: a lead who must look sooner closes it first.
    """
    with transaction.atomic():
        # Held: what is looked at stays so until this is done.
        closed = Round.objects.filter(pk=design.round_id, status=Round.Status.CLOSED)
        if not closed.update(status=Round.Status.CLOSED):
            raise Conflict("The round is still open. Close it first: nobody rates any more once this is known.")
        made, new = Unblinding.objects.get_or_create(design=design, defaults={"by": by, "at": timezone.now()})
        if not new:
            raise Conflict("This round was unblinded already.")
        lifted = _lift(design)
        record(
            actor=by, verb="unblind round", obj=design.round, project_id=design.round.project_id,
            after={"digest": design.digest, "runs": lifted},
        )  # fmt: skip
        after_unblinding(design=design, by=by)
    return made


def _lift(design: RatingDesign) -> list[int]:
    runs = [
        run for run in Run.objects.filter(entrants__design=design).distinct().order_by("pk") if not keeps_sealed(run)
    ]
    Seal.objects.in_force().filter(run__in=runs).update(lifted_at=timezone.now())
    return [run.pk for run in runs]


def keeps_sealed(run: Run) -> str:
    """Why a seal of a run cannot be lifted: a round in which its texts are rated blindly. Empty where none is."""
    blind = RatingDesign.objects.filter(entrants__run=run, unblinding=None).select_related("round").order_by("pk")
    return next(
        (
            f"The summaries of this run are rated blindly in {design.round.name!r}. "
            + ("Close that round, then unblind it." if design.round.is_open else "Unblind that round.")
            for design in blind
        ),
        "",
    )
