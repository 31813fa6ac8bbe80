"""The origin of a unit as a member may see it, and its rows in the releases."""

from collections.abc import Iterator
from dataclasses import asdict
from fnmatch import fnmatchcase
from typing import Any

from django.db.models import Q
from django.db.models.functions import Length

from annotation.models import Cluster, Proposition, Target, WrittenSummary
from annotation.questions.material import WrittenSummaries
from api.problems import Conflict, Forbidden, NotFound
from generation.models import Summary
from projects import kinds
from projects.models import Answer, Member, Round, Unit
from projects.permissions import SUMMARY_TEXTS, hidden_from, may
from projects.purposes import which

from ..folders import chain
from ..folders.chain import Chain, Subject
from ..folders.folder import Altered
from ..folders.manifest import Entry, Unreadable
from ..folders.rows import Place, nodes_of, rows
from ..models import Release
from ..sources import lineage, origins
from ..sources.blinding import released_answers, released_units
from ..storage.registry import folder_of, trusted

Json = dict[str, Any]
#: Size in bytes of the files of a release that a request searches, which takes about a second.
SEARCHED = 64 << 20
#: Number of rows of one file that are listed.
LISTED = 10
#: Number of parts that are listed.
PARTS = 200
#: Files in which a unit is searched, by its type; `*` for all types.
_FILES = {
    "cluster": ("m3/level3.jsonl", "m3/counterfactuals.jsonl"),
    "proposition": ("m3/level3.jsonl",),
    "target document": ("m3/level1.jsonl",),
    "target sentence": ("m3/level2.jsonl",),
    "review": ("ms2/reviews.jsonl", "mslr/*-targets.csv"),
    "question": ("questions/texts.csv",),
    "*": ("provenance/values.csv", "answers/*.csv", "systems/summaries.jsonl", "columns/values.csv"),
}


def page(unit: Unit, member: Member) -> Json:
    """Return the origin of a unit. The number of queries depends neither on its steps nor on its texts."""
    _refuse_hidden(unit, member)
    subject = lineage.subjects(member.project, [unit.pk])[unit.pk]
    found = _chain(subject, member)
    ids = {a.name: a.id for a in subject.ancestors}
    return {
        "unit": unit.pk,
        "type": unit.type,
        "key": unit.key,
        "text": _text(unit),
        "ancestors": [
            {"unit": a.id, "type": a.name.split("/", 1)[0], "key": a.name.split("/", 1)[1], "role": a.role}
            for a in subject.ancestors
        ],
        "parts": _parts(unit),
        "steps": [
            asdict(step) | {"role": found.role_of(step), "unit": ids.get(step.unit, unit.pk)}
            for step in chain.shown(found)
        ],
        "missing": found.missing,
    }


def _chain(subject: Subject, member: Member) -> Chain:
    related = lineage.subjects(member.project, [a.id for a in subject.ancestors]) | {subject.id: subject}
    itself = [each.id for each in subject.itself]
    scope = scope_of(member)
    steps = origins.steps(member.project, related, scope, full=itself)
    found = Chain(subject, [step for mine in steps.values() for step in mine])
    if any(step.line == 0 for step in found.steps):
        found.missing.append("The line is unknown: the file was imported before lines were stored.")
    answered = Answer.objects.filter(assignment__unit__in=itself).count()
    hidden = answered - scope.answers.filter(assignment__unit__in=itself).count()
    if hidden:
        reason = "only leads and curators see them" if not scope.raters else "of open, blind or practice rounds"
        found.missing.append(f"{hidden} answer{'s' * (hidden > 1)} not shown: {reason}.")
    return found


def scope_of(member: Member) -> origins.Scope:
    """Return what a member may see: answers of closed rounds that are not blind, and runs without an embargo."""
    sees = may(member, "see who answered what")
    answers = released_answers(member.project)
    closed = Q(assignment__round__status=Round.Status.CLOSED) | Q(assignment__round__purpose__in=which("holds_edits"))
    answers = answers.filter(closed) if sees else answers.none()
    if not may(member, "read texts of other writers") or hidden_from(member).get(SUMMARY_TEXTS):
        answers = answers.exclude(assignment__round__kind__in=[k.key for k in kinds.all_kinds() if k.compares_writers])
    summaries = Summary.objects.visible_to(member)
    return origins.Scope(answers, summaries if may(member, "read systems and results") else summaries.none(), sees)


def _refuse_hidden(unit: Unit, member: Member) -> None:
    if not released_units(member.project).filter(pk=unit.pk).exists():
        raise Forbidden("The origin is hidden until the round is closed and unblinded.")
    hidden = WrittenSummaries().hidden(member) if unit.type == "written summary" else None
    if hidden is not None and WrittenSummary.objects.filter(hidden, unit=unit).exists():
        raise Forbidden("This text is hidden from you: a person wrote it, or you rate it.")


def _text(unit: Unit) -> str:
    kind = next((kind for kind in kinds.all_kinds() if unit.type in kind.unit_types), None)
    if kind:
        return kind.texts([unit.pk]).get(unit.pk, "")
    rows = WrittenSummary.objects.filter(unit=unit), Target.objects.filter(unit=unit)
    return next((text for found in rows for text in found.values_list("text", flat=True)), "")


def _parts(unit: Unit) -> list[Json]:
    """Return the texts of a cluster; the targets and clusters of a review."""
    rows: list[tuple[int, str, str, str]] = []
    if unit.type == "cluster":
        texts = Proposition.objects.current().filter(cluster__unit=unit).order_by("position")
        for pk, key, position, text in texts.values_list("unit", "unit__key", "position", "text"):
            rows.append((pk, key, f"input {position}" if position else "target", text))
    elif unit.type == "review":
        targets = Target.objects.current().stated().filter(review__unit=unit).order_by("position", "pk")
        for pk, key, level, text in targets.values_list("unit", "unit__key", "level", "text"):
            rows.append((pk, key, f"{level} target", text))
        clusters = Cluster.objects.current().filter(review__unit=unit).order_by("position", "pk")
        rows += [(pk, key, "cluster", "") for pk, key in clusters.values_list("unit", "unit__key")]
    return [{"unit": pk, "key": key, "role": role, "text": text} for pk, key, role, text in rows[:PARTS]]


def released_rows(unit: Unit, member: Member) -> list[Json]:
    """Return the rows of each release that are about a unit, newest release first.

    Files are searched only if they are small. Raise nothing for an altered release: it says so.
    """
    _refuse_hidden(unit, member)
    subject = lineage.subjects(member.project, [unit.pk])[unit.pk]
    itself = {chain.unit_iri(each.name) for each in subject.itself}
    answers = scope_of(member).answers if may(member, "see who answered what") else released_answers(member.project)
    of_unit = answers.filter(assignment__unit__in=[each.id for each in subject.itself])
    itself |= {chain.iri("answer", pk) for pk in of_unit.values_list("pk", flat=True)}
    found = []
    for release in Release.objects.filter(project=member.project).order_by("-pk"):
        one: Json = {"id": release.pk, "version": release.version, "at": release.created_at, "rows": [], "note": ""}
        try:
            one["rows"], one["note"] = _rows_in(release, subject, itself)
        except (Altered, Unreadable, OSError):
            one["note"] = "Its files were altered."
        found.append(one)
    return found


def _rows_in(release: Release, subject: Subject, itself: set[str]) -> tuple[list[Json], str]:
    wanted = (*_FILES.get(subject.type, ()), *_FILES["*"])
    entries = [e for e in trusted(release).entries if any(fnmatchcase(e.path, pattern) for pattern in wanted)]
    small: list[Entry] = []
    for entry in sorted(entries, key=lambda e: (not e.path.startswith(("m3/", "ms2/")), e.path)):
        if sum(each.size for each in small) + entry.size <= SEARCHED:
            small.append(entry)
    found = [row for entry in small for row in _rows_of(release, entry, subject, itself)]
    skipped = ", ".join(entry.path for entry in entries if entry not in small)
    return found, f"Too large to search here: {skipped}." if skipped else ""


def _rows_of(release: Release, entry: Entry, subject: Subject, itself: set[str]) -> Iterator[Json]:
    base = subject.key.rpartition("~")[0] or subject.key
    cluster, _, position = base.rpartition("/")
    listed = 0
    for place in rows(folder_of(release), entry):
        if listed == LISTED:
            continue  # the hash of the whole file is checked
        nodes, detail = nodes_of(entry.path, place.row), ""
        is_its = not itself.isdisjoint(nodes)
        if not is_its and subject.type == "proposition" and entry.path.startswith("m3/"):
            is_its, detail = place.key == cluster, f"input {position}" if position != "0" else "target"
        elif not is_its and entry.path.startswith("m3/"):
            is_its = place.key == base
        if is_its:
            listed += 1
            yield {"file": entry.path, "number": place.number, "key": place.key, "place": detail}


def unit_of_row(release: Release, path: str, key: str) -> Json:
    """Return the unit of a row of a release. Raise `NotFound`, and `Conflict` for rows about several units."""
    try:
        entry = next((entry for entry in trusted(release).entries if entry.path == path), None)
        place = _place(release, entry, key) if entry else None
    except (Altered, Unreadable) as altered:
        raise Conflict(f"{altered}. Verify the release.") from None
    if place is None:
        raise NotFound(f"The release has no row with this key in {path}.")
    for identifier in nodes_of(path, place.row):
        if unit := _unit_of(release, chain.name_of(identifier)):
            return {"unit": unit}
    raise NotFound("This row is not about a single unit of the project.")


def _place(release: Release, entry: Entry, key: str) -> Place | None:
    found = None
    for place in rows(folder_of(release), entry):
        if found is None and place.key == key:
            found = place
    return found


def _unit_of(release: Release, name: str) -> int | None:
    type, _, rest = name.partition("/")
    project = release.project_id
    if type == "answer":
        answers = Answer.objects.filter(pk=rest, assignment__round__project=project)
        return answers.values_list("assignment__unit", flat=True).first()
    if type == "summary":
        summaries = Summary.objects.filter(pk=rest, item__unit__project=project)
        return summaries.values_list("item__unit", flat=True).first()
    of_type, _, key = rest.partition("/")
    units = Unit.objects.filter(Q(key=key) | Q(key__startswith=f"{key}~"), project=project, type=of_type)
    # The row of a corrected text has the key without its version.
    return units.order_by(Length("key").desc(), "-key").values_list("pk", flat=True).first()
