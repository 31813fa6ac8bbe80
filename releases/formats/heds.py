"""``heds3.md``: the Human Evaluation Datasheet (HEDS 3.0) of each rating round, from facts and settings of the lead.

Only rounds that are released completely are included.
"""

from collections.abc import Iterator

from ..citation.questions import HEDS, answer
from ..methods.facts.agreement import Repeated
from ..methods.facts.people import PeopleFacts
from ..methods.facts.ratings import CriterionFacts, RatingFacts
from ..methods.facts.study import StudyFacts
from ..methods.sections.annotation import measure_words
from ..methods.sections.ratings import KEYS, checks, exclusions, left_out, training
from ..methods.text import capitalised, count, figure

FRAMES = {
    "alone": "each output in its own right",
    "source": "relative to the input",
    "target": "relative to a reference text",
    "query": "relative to a query",
}
MISSING = "not measured"


def heds(study: StudyFacts) -> Iterator[bytes]:
    """Yield the file, one round at a time; nothing if there is no such round."""
    for number, rating in enumerate(study.ratings):
        if not number:
            yield b"# Human Evaluation Datasheet\n\nNumbers are those of HEDS 3.0 (Belz and Thomson).\n"
        yield "\n".join(_lines(rating, study)).encode() + b"\n"


def _lines(rating: RatingFacts, study: StudyFacts) -> Iterator[str]:
    known = {f"heds.{key}": text for key, text in _from_rows(rating, study).items()}
    yield f"\n## Round {rating.round}"
    section = ""
    for question in HEDS:
        if question.section != section:
            if section.startswith("4"):
                yield from _criteria(rating)
            section = question.section
            yield f"\n### {section}\n"
        text = answer(question, known.get(question.id, ""), study.stated.answers)
        yield f"* {question.id.removeprefix('heds.')} {question.text}: {text}"


def _from_rows(rating: RatingFacts, study: StudyFacts) -> dict[str, str]:
    papers = [row.identifier for row in study.stated.related if row.relation == "IsDescribedBy"]
    protocol = f"Protocol {rating.protocol}, version {rating.protocol_version}"
    return {
        "1.1": ", ".join(papers),
        "2.4": study.stated.language,
        "2.5": study.stated.language,
        "3.1.1": f"{rating.sources} for each of {count(len(rating.systems), 'system')}",
        "3.1.2": left_out(rating.left_out) if rating.left_out else "All sources for which every system had a text",
        "3.2.1": str(rating.raters),
        "3.2.2": _paid(rating, study.people),
        "3.2.3": _recruited(rating, study.people),
        "3.2.4": " ".join(training(rating)),
        "3.3.2": "Pages of Concord in a browser",
        "3.3.3": f"{checks(rating)} {exclusions(rating)}",
        "3.3.4": f"{protocol}, and guideline version {rating.guideline.number}; both are in this release",
    }


def _recruited(rating: RatingFacts, people: PeopleFacts) -> str:
    links = [each for each in people.recruitments if each.round == rating.round]
    return "; ".join(f"{each.platform}, {count(each.places, 'place')}, {each.completed} completed" for each in links)


def _paid(rating: RatingFacts, people: PeopleFacts) -> str:
    paid = [each for each in people.recruitments if each.round == rating.round and each.pay is not None]
    return "; ".join(f"{each.currency} {each.pay:.2f} per completed place ({each.platform})" for each in paid)


def _criteria(rating: RatingFacts) -> Iterator[str]:
    """Yield items 4.1.3 to 4.3.12 of each criterion: they follow from the protocol and the answers."""
    relative = "absolute" if rating.kind == "rate" else "relative"
    for criterion in rating.criteria:
        options = [f"{value}: {label}" for value, label in criterion.points]
        yield f"\n#### {criterion.name}\n"
        yield f"* 4.1.3 Frame of reference: {FRAMES.get(criterion.frame, criterion.frame)}"
        yield f"* 4.2.2 Absolute or relative: {relative}"
        yield f"* 4.3.1 Name: {criterion.name}; standard name: {criterion.standard or 'none'}"
        yield f"* 4.3.2 Definition: {criterion.definition or 'none beyond the question'}"
        yield f"* 4.3.3 Size of the scale: {len(options) or 'open'}"
        yield f"* 4.3.4 Values: {'; '.join(options) or criterion.type}"
        yield f"* 4.3.5 Form of the scale: {criterion.type}"
        yield f"* 4.3.6 Question: {criterion.question}"
        yield f"* 4.3.11 Agreement between evaluators: {_agreement(rating, criterion)}"
        yield f"* 4.3.12 Agreement of evaluators with themselves: {_repeated(rating, criterion)}"


def _agreement(rating: RatingFacts, criterion: CriterionFacts) -> str:
    measure = rating.agreement.measure(criterion.name) or rating.agreement.measure(criterion.key)
    return capitalised(measure_words(measure, KEYS, "text")) if measure else MISSING


def _repeated(rating: RatingFacts, criterion: CriterionFacts) -> str:
    names = (criterion.name, criterion.key)
    found: Repeated | None = next((each for each in rating.agreement.repeats if each.name in names), None)
    if found is None:
        return MISSING
    value = f"undefined ({found.undefined})" if found.value is None else figure(found.value)
    return f"{found.coefficient} {value}, n = {found.units}"
