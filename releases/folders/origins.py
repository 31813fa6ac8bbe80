"""The origin of a row of a release, from its folder alone: ``manage.py origin``. This module needs no Django."""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from . import chain
from .chain import Chain, Node, Step, Subject, Value
from .dictionary import has_lines, table_of
from .folder import Altered, checked
from .manifest import Entry, Manifest, printable
from .rows import Place, lines_of, nodes_of, rows

#: A text of a cluster, as people may name it: the key of the cluster and the position, 0 for the target.
_PROPOSITION = re.compile(r"(?P<cluster>.+)/(?P<position>\d+)")
LEVEL3 = "m3/level3.jsonl"
NOT_IN_FOLDERS = (
    "Texts before corrections, names of people, and what happened after this release: ask the project.",
    "Answers of practice rounds, and of rounds that were open or not unblinded.",
)


class NotFound(Exception):
    """The folder has no such row, or does not say where it comes from. The message is a sentence."""


@dataclass
class Found:
    """A row and the origin of what it is about. ``unit`` is empty if the row is about several units."""

    path: str
    place: Place
    chain: Chain


def find(folder: Path, manifest: Manifest, path: str, key: str) -> Found:
    """Return the origin of the row with a key. Raise `NotFound` and `Altered`. Needs constant memory."""
    entries = {entry.path: entry for entry in manifest.entries}
    if path not in entries or table_of(path) is None or not has_lines(path):
        files = ", ".join(sorted(each for each in entries if table_of(each) and has_lines(each)))
        raise NotFound(f"{printable(path)} is no file of rows. This release has: {files}")
    if chain.PATH not in entries:
        raise NotFound(f"This release has no {chain.PATH}: it was made by an earlier version of Concord")
    place, wanted = _row(folder, entries[path], key)
    subject = _subject(folder, entries[chain.PATH], wanted)
    if subject is None:
        raise NotFound(f"{path} is not about single units: its rows are figures or descriptions")
    found = Chain(subject, list(_steps(folder, entries[chain.PATH], subject)), list(NOT_IN_FOLDERS))
    _add_answers(folder, entries, found)
    if any(step.line == 0 for step in found.steps):
        found.missing.append("Lines of files that were imported before Concord stored them.")
    return Found(path, place, found)


def _row(folder: Path, entry: Entry, key: str) -> tuple[Place, list[str]]:
    """Return the row with a key, and the identifiers of what it is about."""
    match = _PROPOSITION.fullmatch(key) if entry.path == LEVEL3 else None
    keys, first, found = {key, match["cluster"]} if match else {key}, "", None
    for place in rows(folder, entry):
        first = first or place.key
        if found is None and place.key in keys:
            found = place
    if found is None:
        example = f"; its first key is {printable(first)}" if first else "; it is empty"
        raise NotFound(f"{entry.path} has no row with the key {printable(key)}{example}")
    if match and found.key != key:
        return found, [chain.unit_iri(chain.full_key("proposition", key))]
    return found, nodes_of(entry.path, found.row)


def _nodes(folder: Path, entry: Entry) -> Iterator[Node]:
    try:
        yield from chain.nodes_in(lines_of(checked(folder, entry)))
    except (ValueError, TypeError, KeyError, RecursionError):
        raise Altered(f"{entry.path}: it is not in the format of a release") from None


def _subject(folder: Path, entry: Entry, wanted: list[str]) -> Subject | None:
    """Return the unit of the first of these identifiers. A key without a version means the newest one."""
    for identifier in wanted:
        is_unit, unit = identifier.startswith("data:unit/"), ""
        found: Subject | None = None
        for node in _nodes(folder, entry):
            if is_unit and (subject := chain.subject_in(node)):
                if chain.unit_iri(subject.name.rpartition("~")[0] or subject.name) == identifier:
                    found = subject
                if node["@id"] == identifier and found is None:
                    found = subject
            elif not is_unit and node["@id"] == identifier and (step := chain.step_in(node)):
                unit = step.unit
        if unit:
            found = _subject(folder, entry, [chain.unit_iri(unit)])
        if found:
            return found
    return None


def _steps(folder: Path, entry: Entry, subject: Subject) -> Iterator[Step]:
    """Yield the steps of a unit and its ancestors. Sources are before them in the file."""
    names = {subject.name, *(ancestor.name for ancestor in subject.ancestors)}
    itself, sources = {each.name for each in subject.itself}, dict[str, Node]()
    for node in _nodes(folder, entry):
        if node["@id"].startswith("data:source/"):
            sources[node["@id"]] = node
        step = chain.step_in(node)
        if step is None or step.unit not in names:
            continue
        if step.what in (chain.ANSWERED, chain.GENERATED) and step.unit not in itself:
            continue
        source = sources.get(chain.iri("source", step.imported), {})
        digests = source.get("concord:files") or [source]
        sha256 = next((each.get("concord:sha256", "") for each in digests if each.get("concord:file") == step.file), "")
        yield replace(step, format=source.get("concord:format", ""), sha256=sha256)


def _add_answers(folder: Path, entries: dict[str, Entry], found: Chain) -> None:
    """Add the values of answers, which are in files of their own, and those of decisions that adopted them."""
    uuids = {step.answer: step.kind for step in found.steps if step.answer}
    values: dict[str, list[Value]] = {}
    for kind in sorted(set(uuids.values())):
        entry = entries.get(f"answers/{kind}.csv")
        table = table_of(entry.path) if entry else None
        if entry is None or table is None:
            continue
        for row in csv.DictReader(lines_of(checked(folder, entry)), restkey=""):
            if row["answer"] in uuids:
                cells = [Value(name, cell) for name, cell in row.items() if name not in table.columns and cell]
                values.setdefault(row["answer"], []).extend(cells)
    for n, step in enumerate(found.steps):
        cells = values.get(step.answer, [])
        if step.what == chain.ANSWERED:
            found.steps[n] = replace(step, values=tuple(cells))
        elif step.what == chain.DECIDED and cells:
            of_field = {cell.field: cell.value for cell in cells}
            words = (replace(v, value=v.value or of_field.get(v.field, "")) for v in step.values)
            found.steps[n] = replace(step, values=tuple(words))


def lines(found: Found, manifest: Manifest) -> Iterator[str]:
    """Yield the lines that the command prints."""
    subject = found.chain.subject
    yield f"{subject.type} {printable(subject.key)}"
    yield f"{found.path}, row {found.place.number}, of {printable(manifest.project)} {printable(manifest.version)}"
    if subject.ancestors:
        yield "Made from: " + "; ".join(f"{a.role} {printable(a.name.split('/', 1)[1])}" for a in subject.ancestors)
    for step in chain.shown(found.chain):
        role = found.chain.role_of(step)
        yield ""
        yield f"{step.at[:16].replace('T', ' ') or 'time unknown'}  {_title(step)}{_of(role)}"
        yield from (f"    {printable(line)}" for line in _details(step))
    yield ""
    yield from (f"Not in this folder: {line}" for line in found.chain.missing)


def _of(role: str) -> str:
    return "" if role == chain.ITSELF else f" ({role})"


def _title(step: Step) -> str:
    by = f" by {step.by}" if step.by else ""
    match step.what:
        case chain.FOUND:
            return f"Found in PubMed{by}"
        case chain.DECIDED:
            return f"{step.kind}: {step.origin}{by}"
        case chain.ANSWERED:
            kept = "" if step.is_counted else ", not counted"
            return f"{step.kind}: {step.outcome}{by}, revision {step.revision}{kept}"
        case chain.CHANGED:
            return f"Changed: {step.changed}{by}"
        case chain.READ:
            return f"Read by a model: {step.kind}"
        case chain.GENERATED:
            return f"Generated by {step.system}, version {step.version}"
    return f"{step.what.capitalize()}{by}"


def _details(step: Step) -> Iterator[str]:
    if step.query:
        yield f"Query: {step.query}"
    if step.file:
        line = {None: "", 0: ", line unknown"}.get(step.line, f", line {step.line}")
        place = f", {step.place}" if step.place else ""
        about = [f"import {step.imported}", step.format, step.sha256 and f"SHA-256 {step.sha256}"]
        yield f"{step.file}{line}{place} ({', '.join(filter(None, about))})"
    for value in step.values:
        yield f"{value.field}: {value.value or 'see the released row'}"
    if step.round:
        guideline = f", guideline {step.guideline}" if step.guideline is not None else ""
        yield f"Round {step.round}{guideline}"
    if step.answer:
        yield f"Answer {step.answer}{f' by {step.rater}' if step.rater else ''}"
    if step.suggestion:
        yield f"Suggestion of {step.suggested_by}: {step.suggestion}"
    if step.reason:
        yield f"Reason: {step.reason}"
    if step.hash:
        yield f"{step.system or 'Model'}, {step.hash}"
    if step.checkpoint is not None:
        yield f"Audit checkpoint {step.checkpoint}"
