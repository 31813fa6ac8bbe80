"""Taking out again what was typed wrongly, while nobody else has worked on it."""

from django.db import transaction

from api.problems import Conflict, Refused
from audit.log import REMOVE, record, record_all
from projects.models import Assignment, Decision, Member, Unit
from projects.purposes import which

from ...corpus.made import retire
from ...kinds.clusters import inputs_changed
from ...models import Cluster, Proposition


def remove_input(*, proposition: Proposition, reason: str, by: Member) -> None:
    """Delete an input of which nothing was ever said. Raises `Conflict` for any other: correct its text instead."""
    _need(reason)
    unit, cluster = proposition.unit, proposition.cluster
    if proposition.is_target:
        raise Conflict("A cluster has a target. Take the cluster out, or correct the target's text.")
    said = Decision.objects.filter(unit=unit).exists() or Assignment.objects.filter(unit=unit).exists()
    if said or proposition.version > 1 or unit.superseded_by_id:
        raise Conflict("Something was said of this text, or it is in a round. Correct its text instead.")
    with transaction.atomic():
        before = {"study": proposition.study and proposition.study.pmid, "text": proposition.text, "unit": unit.key}
        record_all(
            {"actor": by.user, "verb": REMOVE, "obj": gone, "project_id": cluster.project_id, "reason": reason}
            for gone in (proposition, unit)
        )
        proposition.delete()
        unit.delete()
        inputs_changed(cluster, by, reason)
        record(
            actor=by.user, verb="remove input", obj=cluster, project_id=cluster.project_id, reason=reason,
            before=before,
        )  # fmt: skip


def remove_cluster(*, cluster: Cluster, reason: str, by: Member) -> None:
    """Retire a cluster that is in no round: it is left out everywhere from then on, and what was said of it by hand
    stays in the record. Raises `Conflict` where people were asked of it."""
    _need(reason)
    if cluster.unit.superseded_by_id:
        raise Conflict("It was taken out already.")
    units = Unit.objects.filter(proposition__cluster=cluster) | Unit.objects.filter(pk=cluster.unit_id)
    ids = list(units.values_list("pk", flat=True))
    asked = Assignment.objects.filter(unit__in=ids).exclude(round__purpose__in=which("standing"))
    if asked.exists():
        raise Conflict("It is in a round, so it stays. Correct what is wrong with it.")
    with transaction.atomic():
        retire([cluster], by=by.user, reason=reason)


def _need(reason: str) -> None:
    if not reason.strip():
        raise Refused.field("reason", "Say why it is taken out.")
