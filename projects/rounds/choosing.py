"""Which units a round asks about: filters by what is known of them, and samples that a seed repeats."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from django.db.models import Q, QuerySet

from api.parameters import check_given
from api.problems import FieldErrors, Refused
from measures import sampling

from .. import kinds, purposes
from ..models import Decision, Project, Round, Unit
from ..values.in_force import units_settled, units_with, values_in_force
from .filters import general

BATCH = 2000
#: The stratum of what has no value in force, or lies outside what the stratum tells apart.
NONE = "none"

#: Names a stratum for each of some units of one type, by unit id; units that are left out are in `NONE`.
Telling = Callable[[Sequence[int]], Mapping[int, str]]
_tellings: dict[str, dict[str, Telling]] = defaultdict(dict)


def tells_apart(unit_type: str, name: str, telling: Telling) -> None:
    """Make known how units of a type can be told apart for a stratified sample, other than by values in force."""
    _tellings[unit_type][name] = telling


def strata_of(kind: kinds.Kind) -> list[str]:
    """The names by which a sample of a kind's units can be stratified: categorical fields, then what is registered."""
    categorical = {scale.name for scale in kind.scales}
    return [f for f in kind.fields if f in categorical] + sorted(
        {n for type in kind.unit_types for n in _tellings[type]}
    )


def units(
    project: Project, kind: str, filters: Mapping[str, Any], purpose: str = "", options: Mapping[str, Any] | None = None
) -> QuerySet[Unit]:
    """The units that a kind can be asked of, narrowed by its own filters and by those of all kinds (`filters_of`), by
    what the purpose takes, and by what the options can be asked of."""
    how = kinds.get(kind)
    takes_any = purposes.of(purpose).chooses == "any"
    found = how.units(project) if takes_any else _taken_by(purpose, how, how.valued_units(project), options)
    if options is not None:
        found = how.narrowed(found, options)
    for one in filters_of(how):
        if value := filters.get(one.asked.name):
            found = one.narrow(found, value)
    return found


def _taken_by(
    purpose: str, kind: kinds.Kind, found: QuerySet[Unit], options: Mapping[str, Any] | None
) -> QuerySet[Unit]:
    asked = None
    if kind.fields and options is not None:
        asked = list(kind.fields_of(Round(kind=kind.key, options=dict(options))))
    match purposes.of(purpose).chooses:
        case "decided":
            decided = Decision.objects.filter(kind=kind.key)
            if asked and asked != list(kind.fields):
                decided = decided.filter(field__in=asked)
            taken = units_with(found, decided.in_force())
        case "settled":
            taken = units_settled(found, kind.key, asked)
        case _:
            return found
    undecided = kind.undecided_imports(found).order_by().values("pk")
    return found.filter(Q(pk__in=taken.order_by().values("pk")) | Q(pk__in=undecided))


def filters_of(kind: kinds.Kind) -> list[kinds.Filter]:
    """The ways to narrow a kind's units: its own, then what was said of them."""
    return [*kind.filters, *general(kind.key)]


def checked(kind: kinds.Kind, filters: Mapping[str, Any]) -> dict[str, Any]:
    """The filters that narrow. Raises `Refused` with every one that the kind does not have, or not so."""
    clean, faults = check_given([one.asked for one in filters_of(kind)], filters)
    refuse("filters", faults)
    return clean


def refuse(what: str, faults: Sequence[tuple[str, str]]) -> None:
    """Raise `Refused` with every fault of declared parameters, by its place."""
    if faults:
        errors: FieldErrors = [{"field": f"{what}.{name}", "message": message} for name, message in faults]
        raise Refused(errors[0]["message"], errors=errors)


def sample(ids: Sequence[int], n: int, seed: int, *, kind: str, strata: Sequence[str]) -> set[int]:
    """``n`` of the unit ids by the seed; with strata, each combination in proportion to its size."""
    if not strata:
        return set(sampling.sample(ids, n, seed))
    by_stratum: dict[str, list[int]] = defaultdict(list)
    for pk, name in zip(ids, _names(ids, kinds.get(kind), strata), strict=True):
        by_stratum[name].append(pk)
    return set(sampling.stratified(by_stratum, n, seed))


def sizes(ids: Sequence[int], *, kind: str, strata: Sequence[str], taken: set[int]) -> list[dict[str, Any]]:
    """Each stratum with how many units it has and how many of them were taken, largest first."""
    count: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for pk, name in zip(ids, _names(ids, kinds.get(kind), strata), strict=True):
        count[name][0] += 1
        count[name][1] += pk in taken
    rows = sorted(count.items(), key=lambda item: (-item[1][0], item[0]))
    return [{"name": name, "units": n, "taken": t} for name, (n, t) in rows]


def refuse_unknown(strata: Sequence[str], kind: str) -> None:
    """Raise `Refused` where a kind's units cannot be stratified by one of these names."""
    known = strata_of(kinds.get(kind))
    if unknown := [name for name in strata if name not in known]:
        raise Refused.field("strata", f"{unknown[0]!r} is none of: {', '.join(known)}.")


def _names(ids: Sequence[int], kind: kinds.Kind, strata: Sequence[str]) -> list[str]:
    """For each unit the names of its strata, joined. A fixed number of queries a batch."""
    refuse_unknown(strata, kind.key)
    out = []
    for at in range(0, len(ids), BATCH):
        batch = ids[at : at + BATCH]
        columns = [_column(batch, kind, name) for name in strata]
        out += [" · ".join(column.get(pk, NONE) for column in columns) for pk in batch]
    return out


def _column(ids: Sequence[int], kind: kinds.Kind, name: str) -> Mapping[int, str]:
    tellings = [found[name] for type in kind.unit_types if name in (found := _tellings[type])]
    if tellings:
        return {pk: stratum for telling in tellings for pk, stratum in telling(ids).items()}
    values = values_in_force(_units(ids), kind.key)
    return {pk: kind.sentence(name, value) for pk, value in values.items() if value.get(name) is not None}


def _units(ids: Iterable[int]) -> list[Unit]:
    return list(Unit.objects.filter(pk__in=list(ids)))
