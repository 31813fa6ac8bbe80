"""Build the links between reviews and studies, and change their roles."""

from collections.abc import Iterable, MutableMapping, Sequence

from accounts.models import User
from audit.row_digests import record_completed
from projects.models import Import

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


def set_role(ids: Sequence[int], role: Role, *, by: User | None, project: int) -> None:
    """Change the role of existing rows, in the caller's transaction."""
    if ids:
        Inclusion.objects.filter(pk__in=ids).update(role=role)
        record_completed(Inclusion, ids, by=by, project=project)
