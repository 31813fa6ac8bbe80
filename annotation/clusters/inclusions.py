"""Build the links between reviews and studies, and change their roles."""

from collections.abc import Iterable, MutableMapping, Sequence

from django.db.models import F, Q

from accounts.models import User
from audit.row_digests import record_completed
from projects.models import Import
from sql.bulk import BulkWriter

from ..models import Inclusion, Role

#: (study id, review id)
Pair = tuple[int, int]


def build(
    pairs: Iterable[Pair], positions: MutableMapping[int, int], *, imported: Import | None = None
) -> list[Inclusion]:
    """Return unsaved rows of included studies. ``positions`` has the next position of each review; it is updated."""
    rows = []
    for study, review in pairs:
        position = positions.get(review, 0)
        positions[review] = position + 1
        rows.append(Inclusion(study_id=study, review_id=review, position=position, imported=imported))
    return rows


def add(
    rows: BulkWriter, pairs: Sequence[Pair], positions: MutableMapping[int, int], *, imported: Import | None = None
) -> None:
    """Prepare rows of included studies. ``positions`` has the next position of each review; it is updated."""
    places = []
    for _, review in pairs:
        places.append(positions.get(review, 0))
        positions[review] = places[-1] + 1
    rows.add_columns(
        Inclusion,
        len(pairs),
        study_id=[study for study, _ in pairs],
        review_id=[review for _, review in pairs],
        position=places,
        imported_id=imported.pk if imported else None,
    )


def set_role(ids: Sequence[int], role: Role, *, by: User | None, project: int) -> None:
    """Change the role of existing rows, in the caller's transaction."""
    if ids:
        Inclusion.objects.filter(pk__in=ids).update(role=role)
        record_completed(Inclusion, ids, by=by, project=project)


def general_inputs_of(imported: Import) -> list[int]:
    """Return the ids of general references whose study became an input by an import."""
    general = Inclusion.with_arriving.filter(role=Role.GENERAL, review__project=imported.project_id)
    targets = Q(study__inputs__target__imported=imported, study__inputs__target__review=F("review"))
    clusters = Q(study__propositions__cluster__imported=imported, study__propositions__cluster__review=F("review"))
    return [
        pk for inputs in (targets, clusters) for pk in general.filter(inputs).values_list("pk", flat=True).distinct()
    ]
