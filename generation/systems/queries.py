"""Queries of the system and version pages, in a fixed number of queries."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.db.models import Count, OuterRef, QuerySet, Subquery

from api.parameters import Parameter
from generation import backends
from generation.backends.protocol import SECTIONS, Backend, Config, Facts
from generation.models import Run, RunPurpose, Scoring, System, UnitLevel, Version
from generation.runs.queries import embargoed_for, progress_of_many, run_row
from generation.sources import LEVELS, count_units
from generation.systems.presets import PRESETS
from projects.models import Member, Project
from projects.permissions import Names

#: Display titles of the sections of a configuration.
TITLES = {"model": "Model", "assembly": "Input", "prompt": "Prompt", "decoding": "Decoding"}
_GENERAL = {"backend": "Backend", "level": "Level", "seed": "Seed"}


@dataclass(frozen=True)
class Line:
    """One parameter of a configuration with its display text."""

    section: str
    name: str
    label: str
    words: str
    default: bool


@dataclass(frozen=True)
class Change:
    """One difference between two versions.

    ``field`` is a dotted path. The text of a version without the field is empty.
    """

    field: str
    label: str
    before: str
    after: str


def describe(config: Config) -> list[Line]:
    """Return the parameters of a configuration by section. Inactive ones (see `Parameter.when`) are left out."""
    declared = _declared(config)
    return [
        Line(
            section,
            name,
            parameter.label if parameter else _plain(name),
            words(value),
            parameter is not None and value == parameter.default,
        )
        for section in SECTIONS
        for name, value in (config.get(section) or {}).items()
        if _is_active(parameter := declared.get((section, name)), config[section])
    ]


def differences(before: tuple[Config, Facts], after: tuple[Config, Facts]) -> list[Change]:
    """Return the differences between two versions, as (configuration, facts), in the order of the later one."""
    declared = _declared(after[0]) | _declared(before[0])
    changes = []
    for old, new, facts in ((before[0], after[0], False), (before[1], after[1], True)):
        olds, news = dict(_flat(old)), dict(_flat(new))
        for path in dict.fromkeys((*news, *olds)):
            if olds.get(path) != news.get(path) or (path in olds) != (path in news):
                parameter = declared.get((path[0], path[-1])) if len(path) == 2 else None
                label = parameter.label if parameter and not facts else _label(path)
                changes.append(Change(".".join(path), label, _text_at(olds, path), _text_at(news, path)))
    return changes


def no_probe(config: Config) -> str:
    """Return the reason why the configuration's backend cannot be probed, or an empty string."""
    try:
        return backends.get(config["backend"]).no_probe
    except KeyError:
        return "This backend no longer exists."


def words(value: Any) -> str:
    """Return the display text of a value."""
    match value:
        case None | "":
            return "not set"
        case bool():
            return "on" if value else "off"
        case float():
            return f"{value:g}"
        case list() | tuple():
            return ", ".join(words(item) for item in value) or "not set"
        case str() if not value.strip():
            return value.replace("\n", "↵").replace(" ", "␣")
    return str(value)


def _declared(config: Config) -> dict[tuple[str, str], Parameter]:
    """Return the parameters that the configuration's backend declares now, or an empty dict if it no longer exists."""
    try:
        sections: Mapping[str, tuple[Parameter, ...]] = backends.get(config["backend"]).sections
    except KeyError:
        return {}
    return {(section, parameter.name): parameter for section, every in sections.items() for parameter in every}


def _is_active(parameter: Parameter | None, values: Mapping[str, Any]) -> bool:
    return not (parameter and parameter.when) or values.get(parameter.when[0]) in parameter.when[1]


def _flat(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(value, Mapping):
        for name, nested in value.items():
            yield from _flat(nested, (*path, str(name)))
    else:
        yield path, value


def _text_at(values: Mapping[tuple[str, ...], Any], path: tuple[str, ...]) -> str:
    return words(values[path]) if path in values else ""


def _label(path: tuple[str, ...]) -> str:
    if len(path) == 1 and path[0] in _GENERAL:
        return _GENERAL[path[0]]
    return ": ".join(_plain(name) for name in path)


def _plain(name: str) -> str:
    return name.replace("_", " ")


Json = dict[str, Any]


def choices(project: Project) -> Json:
    """Return the choices for a new version: levels with units, backends with their parameters, and presets."""
    levels = [{"key": level, "name": LEVELS[level], "units": count_units(project, level)} for level in UnitLevel]
    return {
        "levels": [level for level in levels if level["units"]] or levels,
        "backends": [_backend(backend) for backend in backends.every()],
        "presets": PRESETS,
    }


def _backend(backend: Backend) -> Json:
    return {
        "key": backend.key,
        "name": backend.name,
        "description": backend.description,
        "no_probe": backend.no_probe,
        "sections": [
            {"key": section, "title": TITLES[section], "parameters": declared}
            for section in SECTIONS
            if (declared := backend.sections.get(section))
        ],
    }


def systems(project: Project) -> QuerySet[System]:
    return System.objects.filter(project=project).order_by("id")


def system_rows(page: Sequence[System], member: Member) -> list[Json]:
    """Return systems with all their versions, newest first, and the newest run of each with its number of metrics."""
    versions = with_newest_run(Version.objects.filter(system__in=page).defer("config", "facts").newest_first())
    runs = _run_rows((v.newest_run for v in versions), member)
    scored = Scoring.objects.complete().filter(run__in=[pk for pk in runs if pk]).order_by()
    metrics = dict(scored.values_list("run").annotate(n=Count("metric", distinct=True)))
    by_system: dict[int, list[Json]] = defaultdict(list)
    for version in versions:
        run = runs.get(version.newest_run)
        count = metrics.get(version.newest_run, 0) if run and not run["hidden"] else None
        by_system[version.system_id].append(_version(version) | {"run": run, "metrics": count})
    return [
        {
            "id": system.pk,
            "name": system.name,
            "description": system.description,
            "created_at": system.created_at,
            "versions": by_system[system.pk],
        }
        for system in page
    ]


def version_page(version: Version, member: Member) -> Json:
    """Return a version with its configuration, facts, differences from the previous version, and runs."""
    previous = Version.objects.filter(system=version.system_id, number__lt=version.number).newest_first().first()
    changes = differences((previous.config, previous.facts), (version.config, version.facts)) if previous else []
    runs = version.runs.order_by("-id").values_list("pk", flat=True)[:50]
    return _version(version) | {
        "system": version.system_id,
        "system_name": version.system.name,
        "project": version.system.project.slug,
        "config": version.config,
        "facts": version.facts,
        "by": Names(member).of(version.created_by),
        "no_probe": no_probe(version.config),
        "lines": [asdict(line) for line in describe(version.config)],
        "before": previous and {"id": previous.pk, "number": previous.number},
        "changes": [asdict(change) for change in changes],
        "runs": list(_run_rows(runs, member).values()),
    }


def _version(version: Version) -> Json:
    return {
        "id": version.pk,
        "number": version.number,
        "backend": version.backend,
        "level": version.level,
        "hash": version.hash,
        "note": version.note,
        "created_at": version.created_at,
    }


def with_newest_run(versions: QuerySet[Version]) -> QuerySet[Any]:
    """Annotate versions with the id of their newest run for summaries (``newest_run``)."""
    newest = Run.objects.filter(version=OuterRef("pk"), purpose=RunPurpose.SUMMARIES).order_by("-id")
    return versions.annotate(newest_run=Subquery(newest.values("pk")[:1]))


def _run_rows(ids: Iterable[int | None], member: Member) -> dict[int | None, Json]:
    """Return rows of runs by id, newest first, with their progress and whether they are embargoed for the member."""
    runs = list(Run.objects.filter(pk__in=[pk for pk in ids if pk]).order_by("-id"))
    embargoed, progress = embargoed_for(member, [run.pk for run in runs]), progress_of_many(runs)
    return {run.pk: run_row(run, progress[run.pk], hidden=run.pk in embargoed) for run in runs}
