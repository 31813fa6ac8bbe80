"""Keep consistency findings up to date when the values that they depend on change."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import sha256

from django.utils import timezone

from measures.consistency import Finding as FindingValue
from measures.consistency import check
from projects.models import Project

from ..models import Cluster, Finding, FindingUnit, Proposition
from . import reading

#: Rows per statement.
ROWS = 500
#: If more units change than this, their findings wait for the next full check.
MOST = 200


def recheck(units: Collection[int]) -> None:
    """Apply the rules again to current findings about the clusters and propositions of these units (ids).

    A finding that the rules no longer produce is withdrawn. It is replaced if the same rule now produces another
    finding there. All units of the affected clusters are considered, because a finding about one can depend on the
    others. Runs in the caller's transaction.
    """
    if len(units) > MOST:
        return
    changed = _clusters(units)
    units_ = [*changed.values(), *_propositions(changed)]
    finding_ids = FindingUnit.objects.filter(unit__in=units_).order_by().values("finding")
    current = list(Finding.objects.filter(pk__in=finding_ids, is_current=True).select_related("project"))
    if not current:
        return
    project = current[0].project
    named = FindingUnit.objects.filter(finding__in=current).values_list("unit", flat=True)
    corpus = reading.Corpus(project, only=list(_clusters(named)))
    clusters = [cluster for batch in corpus.batches() for cluster in batch]
    keys = corpus.units
    by_identity = {identity_of(finding, keys): finding for finding in check(clusters)}
    withdrawn = {f.rule: f for f in current if f.identity not in by_identity}
    Finding.objects.filter(pk__in=[f.pk for f in current if f.identity not in by_identity]).update(is_current=False)
    replacing = {key: finding for key, finding in by_identity.items() if finding.rule in withdrawn}
    stored = Finding.objects.filter(project=project, identity__in=replacing)
    stored.update(is_current=True)
    new = set(replacing) - set(stored.values_list("identity", flat=True))
    insert(project, [(withdrawn[replacing[key].rule].position, key, replacing[key]) for key in sorted(new)], keys)


def _clusters(units: Iterable[int]) -> dict[int, int]:
    """Return cluster id -> unit id of the clusters that contain these units (ids)."""
    ids = list(units)
    of_propositions = Cluster.objects.filter(propositions__unit__in=ids).order_by().values_list("pk", "unit")
    return dict(Cluster.objects.filter(unit__in=ids).order_by().values_list("pk", "unit")) | dict(of_propositions)


def _propositions(clusters: Iterable[int]) -> list[int]:
    return list(Proposition.objects.filter(cluster__in=list(clusters)).order_by().values_list("unit", flat=True))


def identity_of(finding: FindingValue, units: Mapping[str, int]) -> str:
    """Return the SHA-256 of the rule, the units and the values that a finding depends on."""
    parts = [finding.rule, *map(str, sorted(named_units(finding, units))), *finding.rests_on]
    return sha256("\0".join(parts).encode()).hexdigest()


def named_units(finding: FindingValue, units: Mapping[str, int]) -> list[int]:
    """Return the unit ids that a finding names, without duplicates and in order."""
    return list(dict.fromkeys(units[key] for key in finding.units))


def insert(
    project: Project,
    rows: Sequence[tuple[int, str, FindingValue]],
    units: Mapping[str, int],
    *,
    is_current: bool = True,
) -> list[int]:
    """Store new findings with the units they name, and return their ids.

    ``rows`` holds (position, identity, finding).
    """
    now = timezone.now()
    inserted = Finding.objects.bulk_create(
        (
            Finding(
                project=project,
                identity=key,
                found_at=now,
                rule=finding.rule,
                reason=finding.reason,
                weight=finding.weight,
                is_information=finding.is_information,
                position=position,
                is_current=is_current,
            )
            for position, key, finding in rows
        ),
        batch_size=ROWS,
    )
    FindingUnit.objects.bulk_create(
        (
            FindingUnit(finding=row, unit_id=unit, position=n)
            for row, (_, _, finding) in zip(inserted, rows, strict=True)
            for n, unit in enumerate(named_units(finding, units))
        ),
        batch_size=ROWS,
    )
    return [row.pk for row in inserted]
