"""The origin of a unit: where it comes from, and what happened to it. It is written as W3C PROV and read back.

`releases.sources.origins` collects it from the database, for the page and for ``provenance/prov.jsonld``. `origins`
reads that file. This module needs no Django.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any
from urllib.parse import quote, unquote

PATH = "provenance/prov.jsonld"
#: What happened, in the order in which steps of one moment are listed.
FOUND, IMPORTED, TYPED, READ, ANSWERED, DECIDED, CORRECTED, CHANGED, GENERATED = (
    "found", "imported", "typed", "read", "answered", "decided", "corrected", "changed", "generated",
)  # fmt: skip
WHAT = (FOUND, IMPORTED, TYPED, CORRECTED, CHANGED, READ, ANSWERED, DECIDED, GENERATED)
#: The unit itself, among its `Ancestor` roles.
ITSELF, EARLIER = "unit", "earlier text"


@dataclass(frozen=True)
class Value:
    """One field in words. ``decision`` is the number of the decision on it, 0 in an answer."""

    field: str
    value: str
    decision: int = 0


@dataclass(frozen=True)
class Step:
    """One event in the history of a unit. People are pseudonyms. Fields that do not apply are empty."""

    #: Type and number, such as ``decision/12``. The number of the first decision stands for all of them.
    id: str
    what: str
    #: Name of the unit (`full_key`).
    unit: str
    #: In UTC; empty if it was not recorded.
    at: str = ""
    by: str = ""
    kind: str = ""
    values: tuple[Value, ...] = ()
    #: How the values were decided.
    origin: str = ""
    reason: str = ""
    round: str = ""
    guideline: int | None = None
    #: UUID of the answer, or of the adopted answer.
    answer: str = ""
    #: Author of the adopted answer.
    rater: str = ""
    revision: int | None = None
    is_current: bool | None = None
    is_counted: bool | None = None
    outcome: str = ""
    #: What became of a model's suggestion that the author of the answer saw, and the set and model that it comes from.
    #: Empty if none was shown.
    suggestion: str = ""
    suggested_by: str = ""
    #: Number of the import, with its file and line. ``line`` is 0 if unknown, None if the unit has no line of its own.
    #: ``place`` is the text of the item.
    imported: int | None = None
    format: str = ""
    file: str = ""
    sha256: str = ""
    line: int | None = None
    place: str = ""
    #: Number of the search, its query, and the position of the record in the result.
    search: int | None = None
    query: str = ""
    position: int | None = None
    #: Text before and after a correction.
    before: str = ""
    after: str = ""
    #: What changed: the text, or the task whose value of another unit changed.
    changed: str = ""
    #: Number of the run, the system and its version; for a reading the name and hash of the model.
    run: int | None = None
    system: str = ""
    version: int | None = None
    hash: str = ""
    text: str = ""
    #: Number of the audit checkpoint that covers the row.
    checkpoint: int | None = None


@dataclass(frozen=True)
class Ancestor:
    """A unit from which another one is made. ``id`` is its number in the database, 0 if read from a folder."""

    name: str
    role: str
    id: int = 0


@dataclass
class Subject:
    """A unit with the units it is made of."""

    name: str
    type: str
    key: str
    id: int = 0
    ancestors: list[Ancestor] = field(default_factory=list)

    @property
    def itself(self) -> list[Ancestor]:
        """The unit and its earlier texts: only these have answers and summaries in its chain."""
        return [*(a for a in self.ancestors if a.role == EARLIER), Ancestor(self.name, ITSELF, self.id)]


@dataclass
class Chain:
    """The origin of a unit: its ancestors, the steps of all of them, and what is not known or not shown."""

    subject: Subject
    steps: list[Step]
    missing: list[str] = field(default_factory=list)

    def role_of(self, step: Step) -> str:
        roles = {ancestor.name: ancestor.role for ancestor in self.subject.ancestors}
        return roles.get(step.unit, ITSELF)


def full_key(type: str, key: str) -> str:
    """Return the type and key of a unit as one text, which identifies it within its project."""
    return f"{type}/{key}"


def ordered(steps: Iterable[Step]) -> list[Step]:
    """Sort steps by time. Steps without a time come first."""
    return sorted(steps, key=lambda step: (step.at, WHAT.index(step.what), step.id))


def shown(chain: Chain) -> list[Step]:
    """Return the steps that people read, in order.

    An answer of the curate page is shown by the decision that adopts it. Imported values are shown by the import.
    """
    adopted = {step.answer for step in chain.steps if step.what == DECIDED}
    brought = {(step.unit, step.imported) for step in chain.steps if step.what == IMPORTED}
    values: dict[tuple[str, int | None], tuple[Value, ...]] = {}
    steps = []
    for step in chain.steps:
        if step.what == ANSWERED and not step.is_counted and step.answer in adopted:
            continue
        if step.what == DECIDED and step.origin == "imported" and (step.unit, step.imported) in brought:
            values[step.unit, step.imported] = values.get((step.unit, step.imported), ()) + step.values
            continue
        steps.append(step)
    return ordered(
        replace(step, values=values.get((step.unit, step.imported), ())) if step.what == IMPORTED else step
        for step in steps
    )


# W3C PROV (https://www.w3.org/TR/prov-o/) as JSON-LD: one line per node, so that it is read in constant memory.

_CONTEXT = {
    "prov": "http://www.w3.org/ns/prov#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "concord": "urn:concord:terms:",
    **{
        f"prov:{name}": {"@type": "@id"}
        for name in (
            "wasDerivedFrom",
            "wasRevisionOf",
            "wasAttributedTo",
            "wasAssociatedWith",
            "wasGeneratedBy",
            "specializationOf",
            "used",
        )
    },
    **{f"prov:{name}": {"@type": "xsd:dateTime"} for name in ("generatedAtTime", "startedAtTime", "endedAtTime")},
}
_ENTITIES = (READ, ANSWERED, DECIDED, GENERATED)
Node = dict[str, Any]


def iri(*parts: object) -> str:
    """Return the identifier of a node: ``data:TYPE/NAME``."""
    return "data:" + "/".join(quote(str(part), safe="") for part in parts)


def unit_iri(name: str) -> str:
    return iri("unit", *name.split("/", 1))


def person(pseudonym: str) -> Node:
    return {"@id": iri("person", pseudonym), "@type": ["prov:Agent", "prov:Person"]}


def subject_node(subject: Subject) -> Node:
    earlier = [unit_iri(a.name) for a in subject.ancestors if a.role == EARLIER]
    node = {
        "@id": unit_iri(subject.name),
        "@type": "prov:Entity",
        "concord:type": subject.type,
        "concord:key": subject.key,
        "prov:wasDerivedFrom": [unit_iri(a.name) for a in subject.ancestors if a.role != EARLIER],
        "prov:wasRevisionOf": earlier[-1:],
        "concord:ancestor": [{"@id": unit_iri(a.name), "concord:role": a.role} for a in subject.ancestors],
    }
    return _without_empty(node)


def step_node(step: Step) -> Node:
    """Return a step as an entity or activity. It has the fields of the step, without texts (`releasable`)."""
    identifier = iri(*step.id.split("/", 1))
    node: Node = {"@id": identifier, "@type": "prov:Entity" if step.what in _ENTITIES else "prov:Activity"}
    who = iri("person", step.by) if step.by else ""
    activity = iri("round", step.round) if step.round else iri("run", step.run) if step.run is not None else ""
    if step.what in _ENTITIES:
        made_from = [unit_iri(step.unit)]
        if step.what == DECIDED:
            made_from += [iri("answer", step.answer)] if step.answer else []
            made_from += [iri("source", step.imported)] if step.imported is not None else []
        node |= {
            "prov:wasDerivedFrom": made_from,
            "prov:wasGeneratedBy": activity,
            "prov:wasAttributedTo": iri("system", step.hash) if step.hash else who,
            "prov:generatedAtTime": step.at,
        }
    else:
        sources = [iri("source", step.imported)] if step.imported is not None else []
        if step.search is not None:
            sources.append(iri("search", step.search))
        node |= {
            # One import or search makes many units: an activity of its own for each unit.
            "prov:used": sources or [unit_iri(step.unit)],
            "prov:generated": {"@id": unit_iri(step.unit)},
            "prov:wasAssociatedWith": who,
            "prov:endedAtTime": step.at,
        }
    kept = {f.name: getattr(step, f.name) for f in fields(step) if getattr(step, f.name) != f.default}
    for name in ("id", "at"):
        kept.pop(name, None)
    kept["values"] = [
        _without_empty({"concord:field": v.field, "concord:value": v.value, "concord:decision": v.decision or None})
        for v in step.values
    ]
    return _without_empty(node | {f"concord:{name}": value for name, value in kept.items()})


def releasable(step: Step, measured: Mapping[str, set[str]], *, has_reasons: bool = True) -> Step:
    """Return a step without texts, which a release may have to leave out. Values of ``measured`` fields stay, by kind.

    The values of answers are in ``answers/``. People may quote texts in reasons: without ``has_reasons`` they are left
    out.
    """
    allowed = measured.get(step.kind, set()) if step.what != ANSWERED else set()
    values = tuple(Value(v.field, v.value if v.field in allowed else "", v.decision) for v in step.values)
    # Format and SHA-256 are in the node of the source.
    short: dict[str, Any] = {"before": "", "after": "", "text": "", "format": "", "sha256": ""}
    if not has_reasons:
        short["reason"] = ""
    return replace(step, values=values if step.what == DECIDED else (), **short)


def document(slug: str, nodes: Iterable[Node]) -> Iterator[bytes]:
    """Yield the file: a line for the context, then one line per node."""
    context = _CONTEXT | {"data": f"urn:concord:{quote(slug, safe='')}:"}
    yield b'{"@context": ' + json.dumps(context).encode() + b', "@graph": ['
    before = b"\n"
    for node in nodes:
        yield before + json.dumps(node, ensure_ascii=False).encode()
        before = b",\n"
    yield b"\n]}\n"


def nodes_in(lines: Iterable[str]) -> Iterator[Node]:
    """Yield the nodes of a file that `document` wrote. Raise `ValueError` for another file."""
    for number, line in enumerate(lines):
        line = line.strip()
        if number and line and line != "]}":
            node = json.loads(line.removesuffix(","))
            if not isinstance(node, dict):
                raise ValueError("a node is an object")
            yield node


def step_in(node: Node) -> Step | None:
    """Return the step of a node, or None if it has none."""
    if "concord:what" not in node:
        return None
    known = {f.name: node[f"concord:{f.name}"] for f in fields(Step) if f"concord:{f.name}" in node}
    known["values"] = tuple(
        Value(value["concord:field"], value.get("concord:value", ""), value.get("concord:decision", 0))
        for value in known.get("values", ())
    )
    known["at"] = node.get("prov:generatedAtTime", node.get("prov:endedAtTime", ""))
    return Step(name_of(node["@id"]), **known)


def subject_in(node: Node) -> Subject | None:
    """Return the unit of a node, or None if the node is another entity."""
    if "concord:type" not in node:
        return None
    type, key = node["concord:type"], node["concord:key"]
    ancestors = [
        Ancestor(name_of(each["@id"]).removeprefix("unit/"), each["concord:role"])
        for each in node.get("concord:ancestor", ())
    ]
    return Subject(full_key(type, key), type, key, ancestors=ancestors)


def name_of(identifier: str) -> str:
    """Return the parts of an identifier (`iri`)."""
    return "/".join(unquote(part) for part in identifier.removeprefix("data:").split("/"))


def _without_empty(node: Node) -> Node:
    return {name: value for name, value in node.items() if value not in ("", [], (), None)}
