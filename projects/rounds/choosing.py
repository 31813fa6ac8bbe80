"""Select the units of a round: filters, and reproducible samples by seed."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from api.parameters import Parameter, Takes, check_submitted
from api.problems import FieldErrors, Refused
from measures import sampling

from .. import kinds, purposes
from ..concerns.queries import change_of
from ..gold.queries import current_values, units_decided, units_with
from ..kinds import Filter
from ..models import WAITING, Answer, Assignment, Change, Decision, Origin, Project, Round, Unit
from ..suggestions.queries import units_with_suggestion

Units = QuerySet[Unit]
#: The origins that a current value can have.
ORIGINS = tuple(str(origin) for origin in Origin if origin not in WAITING)


#: Filter of the units that a version of the guideline concerns, by its number.
GUIDELINE_VERSION = "guideline_version"
#: Rule of the shuffled order. By rule 1, that of rounds without a stored rule, units without a context stay together.
ORDER_RULE = 2


def general(
    kind: str, project: Project | None = None, fields: Sequence[str] | None = None, *, decided: bool = False
) -> Sequence[Filter]:
    """Return the filters that all kinds share. They look at the answers and decisions of this kind.

    ``project`` is required to apply the filter by guideline. ``fields`` are the fields that the round asks for;
    ``decided``: it shows their current values.
    """
    decisions = Decision.objects.filter(kind=kind)

    def gold(units: Units, which: str) -> Units:
        return units_with(units, decisions.current(), have=which == "with")

    def contested(units: Units, _: Any) -> Units:
        return units_with(units, decisions.contested())

    def origin(units: Units, which: str) -> Units:
        return units_with(units, decisions.filter(origin=which).current())

    def flagged(units: Units, _: Any) -> Units:
        answers = Answer.objects.filter(assignment__unit=OuterRef("pk"), assignment__round__kind=kind)
        return units.filter(Exists(answers.filter(flag=True, current_of__isnull=False)))

    def unasked(units: Units, _: Any) -> Units:
        return units.filter(~Exists(Assignment.objects.asked_as(kind).filter(unit=OuterRef("pk"))))

    def stale(units: Units, _: Any) -> Units:
        return units.filter(Exists(Change.objects.unsettled().filter(unit=OuterRef("pk"), kind=kind)))

    def guideline_version(units: Units, number: int) -> Units:
        change = change_of(project, kind, number) if project else None
        if change is None:
            return units.none()
        concerned = change.correctable(fields) if decided else change.affected(fields)
        return units.filter(pk__in=concerned.order_by().values("pk"))

    return (
        Filter(
            Parameter(
                "gold", Takes.CHOICE, "Current label", choices=("with", "without"), words=("labelled", "unlabelled")
            ),
            gold,
        ),
        Filter(Parameter("origin", Takes.CHOICE, "Origin", choices=ORIGINS), origin),
        Filter(Parameter("unasked", Takes.SWITCH, "not yet in a round of this task", default=False), unasked),
        Filter(Parameter("contested", Takes.SWITCH, "contested", default=False), contested),
        Filter(Parameter("flagged", Takes.SWITCH, "flagged", default=False), flagged),
        Filter(Parameter("stale", Takes.SWITCH, "stale: needs review", default=False), stale),
        Filter(
            Parameter(
                GUIDELINE_VERSION,
                Takes.INTEGER,
                "Concerned by guideline version",
                minimum=1,
                help="Units that the version concerns and that nobody revisited since.",
            ),
            guideline_version,
        ),
    )


BATCH = 2000
#: The stratum of units without a current value, or without a stratum from the registered function.
NONE = "none"

#: Maps unit ids of one type to the names of their strata. Units that are missing are in `NONE`.
Stratification = Callable[[Sequence[int]], Mapping[int, str]]
_stratifications: dict[str, dict[str, Stratification]] = defaultdict(dict)


def register_stratification(unit_type: str, name: str, telling: Stratification) -> None:
    """Register a stratification of units of a type that does not use current values."""
    _stratifications[unit_type][name] = telling


def strata_of(kind: kinds.Kind) -> list[str]:
    """Return the names that can stratify units of a kind: its categorical fields, then registered names."""
    categorical = {scale.name for scale in kind.scales}
    return [f for f in kind.fields if f in categorical] + sorted(
        {n for type in kind.unit_types for n in _stratifications[type]}
    )


def units(
    project: Project,
    kind: str,
    filters: Mapping[str, Any],
    purpose: str = "",
    options: Mapping[str, Any] | None = None,
    suggestions: int | None = None,
) -> QuerySet[Unit]:
    """Return the units that a round of this kind can contain.

    They are restricted by the purpose, the options, and the filters of the kind and of all kinds (`filters_of`). With
    ``suggestions`` they are the units of that set, with or without a current value.
    """
    how = kinds.get(kind)
    takes_any = purposes.of(purpose).chooses == "any"
    if suggestions:
        matching = units_with_suggestion(how.valued_units(project), suggestions)
    elif takes_any:
        matching = how.units(project)
    else:
        matching = _filter_by_purpose(purpose, how, how.valued_units(project), options)
    if options is not None:
        matching = how.narrowed(matching, options)
    shared = general(kind, project, _requested(how, options), decided=not takes_any)
    for one in (*how.filters, *shared):
        if value := filters.get(one.parameter.name):
            matching = one.narrow(matching, value)
    return matching


def _filter_by_purpose(
    purpose: str, kind: kinds.Kind, matching: QuerySet[Unit], options: Mapping[str, Any] | None
) -> QuerySet[Unit]:
    requested = _requested(kind, options)
    match purposes.of(purpose).chooses:
        case "decided":
            decided = Decision.objects.filter(kind=kind.key)
            if requested and requested != list(kind.fields):
                decided = decided.filter(field__in=requested)
            eligible = units_with(matching, decided.current())
        case "fully decided":
            eligible = units_decided(matching, kind.key, requested)
        case _:
            return matching
    undecided = kind.undecided_imports(matching).order_by().values("pk")
    return matching.filter(Q(pk__in=eligible.order_by().values("pk")) | Q(pk__in=undecided))


def _requested(kind: kinds.Kind, options: Mapping[str, Any] | None) -> list[str] | None:
    """Return the fields that a round with these options asks for; None if they are not known."""
    if not kind.fields or options is None:
        return None
    return list(kind.fields_of(Round(kind=kind.key, options=dict(options))))


def filters_of(kind: kinds.Kind) -> list[kinds.Filter]:
    """Return the filters of a kind: its own, then those of all kinds."""
    return [*kind.filters, *general(kind.key)]


def checked(kind: kinds.Kind, filters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the validated filters. Raise `Refused` with all filters that are unknown or invalid."""
    clean, faults = check_submitted([one.parameter for one in filters_of(kind)], filters)
    refuse_faults("filters", faults)
    return clean


def refuse_faults(what: str, faults: Sequence[tuple[str, str]]) -> None:
    """Raise `Refused` with every error of declared parameters, by field."""
    if faults:
        errors: FieldErrors = [{"field": f"{what}.{name}", "message": message} for name, message in faults]
        raise Refused(errors[0]["message"], errors=errors)


def sample(ids: Sequence[int], n: int, seed: int, *, kind: str, strata: Sequence[str]) -> set[int]:
    """Sample ``n`` unit ids by the seed. With strata, each combination is sampled in proportion to its size."""
    if not strata:
        return set(sampling.sample(ids, n, seed))
    by_stratum: dict[str, list[int]] = defaultdict(list)
    for pk, name in zip(ids, _names(ids, kinds.get(kind), strata), strict=True):
        by_stratum[name].append(pk)
    return set(sampling.stratified(by_stratum, n, seed))


def sizes(ids: Sequence[int], *, kind: str, strata: Sequence[str], taken: set[int]) -> list[dict[str, Any]]:
    """Return each stratum with its number of units and of sampled units, largest first."""
    count: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for pk, name in zip(ids, _names(ids, kinds.get(kind), strata), strict=True):
        count[name][0] += 1
        count[name][1] += pk in taken
    rows = sorted(count.items(), key=lambda item: (-item[1][0], item[0]))
    return [{"name": name, "units": n, "taken": t} for name, (n, t) in rows]


def refuse_unknown(strata: Sequence[str], kind: str) -> None:
    """Raise `Refused` if one of the names cannot stratify the units of the kind."""
    known = strata_of(kinds.get(kind))
    if unknown := [name for name in strata if name not in known]:
        raise Refused.field("strata", f"Unknown stratum {unknown[0]!r}. Expected one of: {', '.join(known)}.")


def _names(ids: Sequence[int], kind: kinds.Kind, strata: Sequence[str]) -> list[str]:
    """Return the joined names of strata for each unit. Uses a fixed number of queries per batch."""
    refuse_unknown(strata, kind.key)
    out = []
    for at in range(0, len(ids), BATCH):
        batch = ids[at : at + BATCH]
        columns = [_column(batch, kind, name) for name in strata]
        out += [" · ".join(column.get(pk, NONE) for column in columns) for pk in batch]
    return out


def _column(ids: Sequence[int], kind: kinds.Kind, name: str) -> Mapping[int, str]:
    tellings = [found[name] for type in kind.unit_types if name in (found := _stratifications[type])]
    if tellings:
        return {pk: stratum for telling in tellings for pk, stratum in telling(ids).items()}
    values = current_values(_units(ids), kind.key)
    return {pk: kind.sentence(name, value) for pk, value in values.items() if value.get(name) is not None}


def _units(ids: Iterable[int]) -> list[Unit]:
    return list(Unit.objects.filter(pk__in=list(ids)))


def shuffled(units: Sequence[tuple[int, int]], seed: int, rule: int) -> list[tuple[int, int]]:
    """Return (unit, context) ids with the contexts in the seed's order. ``rule`` is the `ORDER_RULE` of the round."""
    keys = {pk: str(context) if context or rule == 1 else f"unit {pk}" for pk, context in units}
    rank = {key: i for i, key in enumerate(sampling.shuffled(dict.fromkeys(keys.values()), seed))}
    return sorted(units, key=lambda unit: rank[keys[unit[0]]])
