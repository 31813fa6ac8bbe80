"""Outputs of several versions for the same units, beside the inputs and the target."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from annotation.questions.material import hidden_summaries
from api.problems import Refused
from measures.copying import CopyInputs, copying
from measures.spans import merged
from projects.models import Member, Project

from .. import sources
from ..metrics.copying import LEAST
from ..models import ItemStatus, Run, RunItem, Summary, UnitLevel, Version
from ..runs.queries import embargoed_for
from ..systems.queries import with_newest_run

Json = dict[str, Any]
#: Maximum number of versions shown side by side.
MOST = 12


@dataclass(frozen=True)
class Column:
    """A version with its newest run. ``hidden`` is true if the run is embargoed for the member."""

    version: Any
    run: int
    hidden: bool


def level_of(project: Project, requested: str) -> str:
    """Return the requested level. The default is that of the newest run, else propositions."""
    if requested:
        return requested
    newest = Run.objects.filter(version__system__project=project).select_related("version").order_by("-id").first()
    return newest.version.level if newest else UnitLevel.PROPOSITION.value


def columns(member: Member, level: str, requested: Sequence[int]) -> list[Column]:
    """Return the requested versions in order. The default is each system's newest version with a run.

    Raise `Refused` if a version does not belong to the project and level, or if there are too many.
    """
    if len(requested) > MOST:
        raise Refused.field("versions", f"At most {MOST} versions can be shown side by side.")
    annotated = with_newest_run(
        Version.objects.filter(system__project=member.project_id, level=level).defer("config", "facts")
    )
    versions = annotated.select_related("system").order_by("system_id", "-number")
    if requested:
        by_id = {version.pk: version for version in versions.filter(pk__in=requested)}
        if missing := [pk for pk in requested if pk not in by_id]:
            raise Refused.field("versions", f"This project has no version {missing[0]} at this level.")
        selected = [by_id[pk] for pk in dict.fromkeys(requested)]
    else:
        newest: dict[int, Any] = {}
        for version in versions.filter(newest_run__isnull=False):
            newest.setdefault(version.system_id, version)
        selected = list(newest.values())[:MOST]
    embargoed = embargoed_for(member, [version.newest_run for version in selected if version.newest_run])
    return [Column(version, version.newest_run or 0, version.newest_run in embargoed) for version in selected]


def rows(member: Member, level: str, units: Sequence[int], columns: Sequence[Column], *, first: int) -> list[Json]:
    """Return a page of units with inputs, references and one cell per column.

    ``first`` is the position of the first unit in corpus order, from 1.
    """
    materials = _readable(sources.materials(member.project, level, units), member)
    keys = sources.keys_of([unit for unit in units if unit not in materials])
    items, summaries = _items(units, columns), _summaries(member, units, columns)
    rows = []
    for position, unit in enumerate(units, start=first):
        material = materials.get(unit)
        inputs = CopyInputs([text.text for text in material.source.inputs] if material else [])
        cells = [_cell(column, items.get((column.run, unit)), summaries, inputs) for column in columns]
        rows.append(_unit(unit, material, keys.get(unit, "")) | {"position": position, "outputs": cells})
    return rows


def _readable(materials: dict[int, sources.Material], member: Member) -> dict[int, sources.Material]:
    """Leave out the written summaries that the member may not read, because of a later task or blind rating."""
    written = [reference.unit for material in materials.values() for reference in material.written]
    hidden = hidden_summaries(member, written) if written else set()
    if not hidden:
        return materials
    return {
        unit: replace(material, written=tuple(one for one in material.written if one.unit not in hidden))
        for unit, material in materials.items()
    }


def _items(units: Sequence[int], columns: Sequence[Column]) -> dict[tuple[int, int], RunItem]:
    items = RunItem.objects.filter(run__in=[column.run for column in columns], unit__in=units)
    return {(item.run_id, item.unit_id): item for item in items}


def _summaries(member: Member, units: Sequence[int], columns: Sequence[Column]) -> dict[int, Any]:
    """Return the summaries by item, without those of runs that are embargoed for the member."""
    summaries = Summary.objects.visible_to(member).filter(
        item__run__in=[column.run for column in columns], item__unit__in=units
    )
    return {summary.item_id: summary for summary in summaries.with_cut().defer("token_ids", "record")}


def _unit(unit: int, material: sources.Material | None, key: str) -> Json:
    """Return the texts of a unit. They are empty if the unit no longer has inputs."""
    if material is None:
        return {"unit": unit, "key": key, "question": "", "background": "", "pico": {}, "inputs": [], "references": []}
    source = material.source
    return {
        "unit": unit,
        "key": source.key,
        "question": source.question,
        "background": source.background,
        "pico": dict(source.pico),
        "inputs": [asdict(text) for text in source.inputs],
        "references": [asdict(reference) for reference in material.references],
    }


def _cell(column: Column, item: RunItem | None, summaries: dict[int, Any], inputs: CopyInputs) -> Json:
    cell: Json = {
        "version": column.version.pk,
        "system": column.version.system.name,
        "number": column.version.number,
        "run": column.run or None,
        "state": "absent",
        "error": "",
        "summary": None,
    }
    if column.hidden:
        return cell | {"state": "hidden"}
    if item is None:
        return cell
    cell |= {"state": item.status, "error": item.error}
    if item.status == ItemStatus.DONE and (summary := summaries.get(item.pk)):
        cell["summary"] = summary_json(summary) | {"copying": _copying(summary.text, inputs)}
    return cell


def _copying(text: str, inputs: CopyInputs) -> Json:
    result = copying(text, inputs, least=LEAST)
    return {
        "ranges": [{"start": start, "end": end} for start, end in merged([run.range for run in result.runs])],
        "least": result.least,
        "coverage": result.coverage,
        "longest": result.longest.n_tokens if result.longest else None if result.undefined else 0,
        "tokens": result.n_tokens,
        "undefined": result.undefined or "",
    }


def summary_json(summary: Any) -> Json:
    """Serialize a `Summary` that was fetched with `with_cut`."""
    cut = summary.cut and {"unit": summary.cut["unit"], "of": summary.cut["of"], "left_out": summary.cut["left out"]}
    return {
        "text": summary.text,
        "finish": summary.finish,
        "tokens_in": summary.tokens_in,
        "tokens_cut": summary.tokens_cut,
        "cut": cut or None,
        "tokens_out": summary.tokens_out,
        "seconds": summary.seconds,
        "digest": summary.digest,
    }
