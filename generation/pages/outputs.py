"""What several versions wrote of the same units, side by side with the inputs and the target."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from api.problems import Refused
from measures.copying import CopyInputs, copying
from measures.spans import merged
from projects.models import Member, Project

from ..metrics.copying import LEAST
from ..models import ItemStatus, Run, RunItem, Summary, UnitLevel, Version
from ..runs import sources
from .systems import newest_runs, sealed_from

Json = dict[str, Any]
#: How many versions can be read beside one another.
MOST = 12


@dataclass(frozen=True)
class Column:
    """A version whose newest run is shown; ``hidden`` where it is sealed from whoever looks."""

    version: Any
    run: int
    hidden: bool


def level_of(project: Project, asked: str) -> str:
    """The level asked for; by default that of the newest run, else clusters."""
    if asked:
        return asked
    newest = Run.objects.filter(version__system__project=project).select_related("version").order_by("-id").first()
    return newest.version.level if newest else UnitLevel.PROPOSITION.value


def columns(member: Member, level: str, asked: Sequence[int]) -> list[Column]:
    """The versions asked for, in that order; by default the newest of each system that was run at the level.

    `Refused` for one that is not of the project and the level, or for too many.
    """
    if len(asked) > MOST:
        raise Refused.field("versions", f"At most {MOST} side by side.")
    every = newest_runs(Version.objects.filter(system__project=member.project_id, level=level).defer("config", "facts"))
    found = every.select_related("system").order_by("system_id", "-number")
    if asked:
        by_id = {version.pk: version for version in found.filter(pk__in=asked)}
        if missing := [pk for pk in asked if pk not in by_id]:
            raise Refused.field("versions", f"There is no version {missing[0]} of this level here.")
        shown = [by_id[pk] for pk in dict.fromkeys(asked)]
    else:
        newest: dict[int, Any] = {}
        for version in found.filter(newest_run__isnull=False):
            newest.setdefault(version.system_id, version)
        shown = list(newest.values())[:MOST]
    sealed = sealed_from(member, [version.newest_run for version in shown if version.newest_run])
    return [Column(version, version.newest_run or 0, version.newest_run in sealed) for version in shown]


def rows(member: Member, level: str, units: Sequence[int], shown: Sequence[Column], *, first: int) -> list[Json]:
    """The page's units, each with what is read, what should be said, and a cell a column. ``first``: place of the first
    unit in the order of the corpus, from 1."""
    found = sources.materials(member.project, level, units)
    keys = sources.keys_of([unit for unit in units if unit not in found])
    items, summaries = _items(units, shown), _summaries(member, units, shown)
    made = []
    for place, unit in enumerate(units, start=first):
        material = found.get(unit)
        inputs = CopyInputs([text.text for text in material.source.inputs] if material else [])
        cells = [_cell(column, items.get((column.run, unit)), summaries, inputs) for column in shown]
        made.append(_unit(unit, material, keys.get(unit, "")) | {"place": place, "outputs": cells})
    return made


def _items(units: Sequence[int], shown: Sequence[Column]) -> dict[tuple[int, int], RunItem]:
    found = RunItem.objects.filter(run__in=[column.run for column in shown], unit__in=units)
    return {(item.run_id, item.unit_id): item for item in found}


def _summaries(member: Member, units: Sequence[int], shown: Sequence[Column]) -> dict[int, Any]:
    """By item; never those of a run that is sealed from the member."""
    found = Summary.objects.visible_to(member).filter(
        item__run__in=[column.run for column in shown], item__unit__in=units
    )
    return {summary.item_id: summary for summary in found.with_cut().defer("token_ids", "record")}


def _unit(unit: int, material: sources.Material | None, key: str) -> Json:
    """Empty texts where the unit has no inputs (any more)."""
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
        "version": column.version.pk, "system": column.version.system.name, "number": column.version.number,
        "run": column.run or None, "state": "absent", "error": "", "summary": None,
    }  # fmt: skip
    if column.hidden:
        return cell | {"state": "hidden"}
    if item is None:
        return cell
    cell |= {"state": item.status, "error": item.error}
    if item.status == ItemStatus.DONE and (summary := summaries.get(item.pk)):
        cell["summary"] = summary_json(summary) | {"copying": _copying(summary.text, inputs)}
    return cell


def _copying(text: str, inputs: CopyInputs) -> Json:
    found = copying(text, inputs, least=LEAST)
    return {
        "ranges": [{"start": start, "end": end} for start, end in merged([run.range for run in found.runs])],
        "least": found.least,
        "coverage": found.coverage,
        "longest": found.longest.n_tokens if found.longest else None if found.undefined else 0,
        "tokens": found.n_tokens,
        "undefined": found.undefined or "",
    }


def summary_json(summary: Any) -> Json:
    """A `Summary` that was fetched `with_cut`."""
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
