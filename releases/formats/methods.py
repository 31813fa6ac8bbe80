"""A methods paragraph for each rating round, from what the data base knows; what it does not know is marked so.

What is said, and in which order, follows the Human Evaluation Datasheet (HEDS 3.0), sections 2 to 5.
"""

from collections.abc import Iterator
from typing import Any

from django.db.models import Count, QuerySet

from evaluation.models import PageText, Rating, RatingDesign, RatingPage
from measures.design import ALGORITHM
from projects.models import Answer, Assignment, Project

from .agreement import report_of

MISSING = "NOT PROVIDED"
#: What no row says, with what HEDS asks of it.
_UNKNOWN = (
    "Raters' background, training and language", "How raters were recruited and paid",
    "Ethical approval and consent", "Preregistration", "How the number of sources was chosen (power)",
    "Where and when raters worked, beside the times in `answers/`",
)  # fmt: skip
_BEGINNING = """# How summaries were rated

Written from the data of this release, a paragraph a round, to be taken into a paper. What the data do not say is marked
NOT PROVIDED.
"""
_FRAMES = {
    "alone": "of the summary alone", "source": "with the source at hand", "target": "against the target",
    "query": "against the query",
}  # fmt: skip


def paragraphs(project: Project, designs: QuerySet[RatingDesign]) -> Iterator[bytes]:
    """The file, a round at a time."""
    yield _BEGINNING.encode()
    for design in designs.select_related("round__project", "round__guideline", "version__protocol").iterator():
        yield f"\n## {design.round.name}\n\n{' '.join(_sentences(design))}\n".encode()
    yield ("\n## Not in the data\n\n" + "".join(f"* {what}: {MISSING}.\n" for what in _UNKNOWN)).encode()


def _sentences(design: RatingDesign) -> Iterator[str]:
    round, plan, content = design.round, design.plan, design.version.content
    slots = Assignment.objects.filter(round=round, number__gte=1, current_answer__isnull=False)
    raters = slots.order_by().values("current_answer__author").distinct().count()
    pages = RatingPage.objects.filter(source__design=design).count()
    names = ", ".join(entrant["name"] for entrant in plan["entrants"])
    yield (
        f"{raters} raters judged the texts of {len(plan['entrants'])} systems ({names}) for {len(plan['sources'])} "
        f"sources on {pages} pages, {_each(design)}."
    )
    if plan["left_out"]:
        yield f"{plan['left_out']} sources were left out, of which not every system had a text."
    yield (
        f"They were asked by the protocol {design.version.protocol.name!r}, version {design.version.number} (SHA-256 "
        f"{design.version.digest}), word for word in `rounds.jsonl`, and had guideline version "
        f"{round.guideline.number}."
    )
    yield "Criteria: " + "; ".join(_criterion(one) for one in content["criteria"]) + "."
    yield _order(plan)
    yield _form(round.options, plan)
    yield _checks(design)
    yield _excluded(round.options)
    yield from _agreement(design)
    secret = f" and the secret {design.secret}, told to nobody before the round was unblinded," if design.secret else ""
    yield f"The design (SHA-256 {design.digest}) follows from the seed {round.seed}{secret} by the rules {ALGORITHM}."


def _each(design: RatingDesign) -> str:
    """How many people each page came to, and which share was given again."""
    asked = Assignment.objects.filter(round=design.round, number__gte=1)
    people = asked.filter(repeat=0).order_by().values("unit").annotate(n=Count("pk")).values_list("n", flat=True)
    least, most = min(people, default=0), max(people, default=0)
    each = f"{least}" if least == most else f"{least} to {most}"
    again = asked.filter(repeat__gt=0).count()
    said = f"each dealt to {each} of them"
    return said + (f"; {again} pages were given to the same rater again" if again else "; none was given twice")


def _criterion(criterion: dict[str, Any]) -> str:
    scale = criterion["scale"]
    known = f", as {criterion['standard']}" if criterion["standard"] else ""
    points = f" of {len(scale['options'])}" if scale["options"] else ""
    na = ", or not applicable" if criterion["na"] else ""
    called = criterion["name"] or criterion["key"]
    return f"{called}{known} ({scale['type']}{points}{na}; {_FRAMES[criterion['frame']]})"


def _order(plan: dict[str, Any]) -> str:
    if plan["kind"] == "compare":
        return "Pairs of systems came equally often, with their sides halved between raters."
    if plan["texts_per_page"] == "one":
        return "Each page had one text; lists by a Latin square kept the texts of a source apart."
    return "All texts of a source were on one page, in orders by Williams squares."


def _form(options: dict[str, Any], plan: dict[str, Any]) -> str:
    blind = "Raters did not know whose text was whose; texts that are alike were rated once, for all who wrote them."
    if not options.get("one_form", True):
        return f"Texts were shown as they were written. {blind}"
    capitals = ", without capitals but at the beginning of sentences" if plan["lowered"] else ""
    return f"Texts were shown in one form{capitals}. {blind}"


def _checks(design: RatingDesign) -> str:
    checks = PageText.objects.filter(page__source__design=design, is_check=True).count()
    if not checks:
        return "There were no attention checks."
    seen = Rating.objects.filter(text__page__source__design=design, text__is_check=True)
    answers = seen.order_by().values("answer").distinct().count()
    more = f", and came in {answers} answers" if answers else ""
    return f"{checks} texts made plainly bad were put among the others as attention checks{more}."


def _excluded(rules: dict[str, Any]) -> str:
    said = []
    if rules.get("exclude_checks") is not None:
        said.append(f"raters who failed more than {rules['exclude_checks']} % of their checks")
    if rules.get("exclude_fast"):
        said.append("implausibly fast pages")
    return f"Declared beforehand to be left out: {' and '.join(said)}." if said else "No exclusion was declared."


def _agreement(design: RatingDesign) -> Iterator[str]:
    measures = report_of(design.round).get("measures", [])
    found = [f"{one['name']} {_alpha(one)}" for one in measures]
    if found:
        yield f"Agreement (Krippendorff's alpha): {'; '.join(found)}."
    else:
        yield f"Agreement: {MISSING}."
    skipped = Answer.objects.filter(assignment__round=design.round, outcome="skipped").count()
    if skipped:
        yield f"{skipped} times a page was skipped; the reasons are in `answers/`."


def _alpha(measure: dict[str, Any]) -> str:
    alpha = measure["coefficients"].get("alpha")
    if not alpha:
        return "undefined"
    return f"{alpha['value']:.2f} ({measure['metric']}, n = {measure['units']} texts)"
