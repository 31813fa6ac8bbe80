"""``heds3.md``: the Human Evaluation Datasheet (HEDS 3.0) of each rating round, from rows and settings of the lead.

Only rounds that are released completely are included.
"""

from collections.abc import Iterator
from typing import Any

from evaluation.models import RatingDesign
from projects.models import Assignment, Project

from ..citation.facts import Facts
from ..citation.questions import HEDS, answer
from ..sources.blinding import released_designs
from .agreement import report_of

FRAMES = {
    "alone": "each output in its own right",
    "source": "relative to the input",
    "target": "relative to a reference text",
    "query": "relative to a query",
}
MISSING = "not measured"


def heds(project: Project, facts: Facts) -> Iterator[bytes]:
    """Yield the file, one round at a time; nothing if there is no such round."""
    designs = released_designs(project).select_related("round__guideline", "version__protocol")
    for number, design in enumerate(designs.iterator()):
        if not number:
            yield b"# Human Evaluation Datasheet\n\nNumbers are those of HEDS 3.0 (Belz and Thomson).\n"
        yield "\n".join(_lines(design, facts)).encode() + b"\n"


def _lines(design: RatingDesign, facts: Facts) -> Iterator[str]:
    known = {f"heds.{key}": text for key, text in _from_rows(design, facts).items()}
    yield f"\n## Round {design.round.name}"
    section = ""
    for question in HEDS:
        if question.section != section:
            if section.startswith("4"):
                yield from _criteria(design)
            section = question.section
            yield f"\n### {section}\n"
        text = answer(question, known.get(question.id, ""), facts.answers)
        yield f"* {question.id.removeprefix('heds.')} {question.text}: {text}"


def _from_rows(design: RatingDesign, facts: Facts) -> dict[str, str]:
    plan, round = design.plan, design.round
    answered = Assignment.objects.filter(round=round, number__gte=1, current_answer__isnull=False)
    raters = answered.order_by().values("current_answer__author").distinct().count()
    papers = [row.identifier for row in facts.related if row.relation == "IsDescribedBy"]
    shown = f"Protocol {design.version.protocol.name}, version {design.version.number}, and guideline version "
    return {
        "1.1": ", ".join(papers),
        "2.4": facts.language,
        "2.5": facts.language,
        "3.1.1": f"{len(plan['sources'])} for each of {len(plan['entrants'])} systems",
        "3.1.2": f"{plan['left_out']} sources were excluded, because not all systems had a text for them"
        if plan["left_out"]
        else "All sources for which every system had a text",
        "3.2.1": str(raters),
        "3.3.2": "Pages of Concord in a browser",
        "3.3.4": f"{shown}{round.guideline.number}; both are in this release",
    }


def _criteria(design: RatingDesign) -> Iterator[str]:
    """Yield items 4.1.3 to 4.3.12 of each criterion: they follow from the protocol and the answers."""
    measures = {one["name"]: one for one in report_of(design.round).get("measures", [])}
    relative = "absolute" if design.plan["kind"] == "rate" else "relative"
    repeated = Assignment.objects.filter(round=design.round, repeat__gt=0).exists()
    for criterion in design.version.content["criteria"]:
        name, scale = criterion.get("name") or criterion["key"], criterion["scale"]
        options = [f"{option['value']}: {option.get('label', '')}" for option in scale.get("options") or []]
        yield f"\n#### {name}\n"
        yield f"* 4.1.3 Frame of reference: {FRAMES.get(criterion['frame'], criterion['frame'])}"
        yield f"* 4.2.2 Absolute or relative: {relative}"
        yield f"* 4.3.1 Name: {name}; standard name: {criterion.get('standard') or 'none'}"
        yield f"* 4.3.2 Definition: {criterion.get('more') or 'none beyond the question'}"
        yield f"* 4.3.3 Size of the scale: {len(options) or 'open'}"
        yield f"* 4.3.4 Values: {'; '.join(options) or scale['type']}"
        yield f"* 4.3.5 Form of the scale: {scale['type']}"
        yield f"* 4.3.6 Question: {criterion.get('question', '')}"
        yield f"* 4.3.11 Agreement between evaluators: {_alpha(measures.get(name) or measures.get(criterion['key']))}"
        yield f"* 4.3.12 Agreement of evaluators with themselves: {'see `agreement/`' if repeated else MISSING}"


def _alpha(measure: dict[str, Any] | None) -> str:
    alpha = measure and measure["coefficients"].get("alpha")
    return f"Krippendorff's alpha {alpha['value']:.2f}, n = {measure['units']} texts" if measure and alpha else MISSING
