"""A methods paragraph for each rating round, generated from the data. Missing information is marked.

Content and order follow the Human Evaluation Datasheet (HEDS 3.0), sections 2 to 5.
"""

from collections.abc import Iterator
from typing import Any

from django.db.models import Count, F, Q, QuerySet

from evaluation.models import PageText, Preference, Rating, RatingDesign, RatingPage
from measures.design import algorithm_of
from projects.models import Answer, Assignment, Project

from .agreement import report_of

MISSING = "NOT PROVIDED"
#: Items of HEDS that the data do not contain.
_UNKNOWN = (
    "Raters' background, training and language",
    "How raters were recruited and paid",
    "Ethical approval and consent",
    "Preregistration",
    "How the number of sources was chosen (power)",
    "Where raters worked (times are in `answers/`)",
)
_BEGINNING = """# How summaries were rated

One paragraph per round for use in a paper, generated from the data of this release. Information that the data do not
contain is marked NOT PROVIDED.
"""
_FRAMES = {
    "alone": "of the summary alone",
    "source": "with the source shown",
    "target": "against the target",
    "query": "against the query",
}


def paragraphs(project: Project, designs: QuerySet[RatingDesign]) -> Iterator[bytes]:
    """Yield the file, one round at a time."""
    yield _BEGINNING.encode()
    for design in designs.select_related("round__project", "round__guideline", "version__protocol").iterator():
        yield f"\n## {design.round.name}\n\n{' '.join(_sentences(design))}\n".encode()
    yield ("\n## Not in the data\n\n" + "".join(f"* {what}: {MISSING}.\n" for what in _UNKNOWN)).encode()


def _sentences(design: RatingDesign) -> Iterator[str]:
    round, plan, content = design.round, design.plan, design.version.content
    slots = Assignment.objects.filter(round=round, number__gte=1, current_answer__isnull=False)
    raters = slots.order_by().values("current_answer__author").distinct().count()
    pages = RatingPage.objects.filter(source__design=design, texts__is_check=False).distinct().count()
    names = ", ".join(system["name"] for system in plan["entrants"])
    yield (
        f"{raters} raters judged the texts of {len(plan['entrants'])} systems ({names}) for {len(plan['sources'])} "
        f"sources on {pages} pages, {_each(design)}."
    )
    if plan["left_out"]:
        yield f"{plan['left_out']} sources were excluded, because not all systems had a text for them."
    yield (
        f"They used the protocol {design.version.protocol.name!r}, version "
        f"{design.version.number} (SHA-256 {design.version.digest}; full text in `rounds.jsonl`), "
        f"and guideline version {round.guideline.number}."
    )
    yield "Criteria: " + "; ".join(_criterion(one) for one in content["criteria"]) + "."
    yield _order(plan)
    yield _form(round.options, plan)
    yield _checks(design)
    yield _excluded(round.options)
    yield from _agreement(design)
    secret = f" and the secret {design.secret}, which was not revealed before unblinding," if design.secret else ""
    rules = algorithm_of(plan)
    yield (
        f"The design (SHA-256 {design.digest}) was generated from the seed {round.seed}{secret} "
        f"by the algorithm {rules}."
    )


def _each(design: RatingDesign) -> str:
    """Describe the number of raters per page and the number of repeated pages."""
    assignments = Assignment.objects.filter(round=design.round, number__gte=1)
    people = assignments.filter(repeat=0).order_by().values("unit").annotate(n=Count("pk")).values_list("n", flat=True)
    minimum, maximum = min(people, default=0), max(people, default=0)
    each = f"{minimum}" if minimum == maximum else f"{minimum} to {maximum}"
    again = assignments.filter(repeat__gt=0).count()
    text = f"each rated by {each} of them"
    return text + (f"; {again} pages were rated twice by the same rater" if again else "; no page was repeated")


def _criterion(criterion: dict[str, Any]) -> str:
    scale = criterion["scale"]
    standard = f", as {criterion['standard']}" if criterion["standard"] else ""
    points = f" of {len(scale['options'])}" if scale["options"] else ""
    na = ", or not applicable" if criterion["na"] else ""
    name = criterion["name"] or criterion["key"]
    return f"{name}{standard} ({scale['type']}{points}{na}; {_FRAMES[criterion['frame']]})"


def _order(plan: dict[str, Any]) -> str:
    if plan["kind"] == "compare":
        return "All pairs of systems were equally frequent, and sides were balanced between raters."
    if plan["kind"] == "best_worst":
        return "Raters chose the best and the worst of four texts; systems, pairs of systems and places were balanced."
    if plan["texts_per_page"] == "one":
        return "Each page had one text; a Latin square separated the texts of a source."
    return "All texts of a source were on one page, ordered by Williams squares."


def _form(options: dict[str, Any], plan: dict[str, Any]) -> str:
    blind = (
        "Raters did not know which system wrote a text; identical texts were rated once, for all "
        "systems that wrote them."
    )
    if not options.get("one_form", True):
        return f"Texts were shown unchanged. {blind}"
    capitals = ", with capitals only at the start of sentences" if plan["lowered"] else ""
    return f"Texts were shown in a normalised form{capitals}. {blind}"


def _checks(design: RatingDesign) -> str:
    degraded = PageText.objects.filter(page__source__design=design, is_check=True).exclude(made_from=F("code"))
    checks = degraded.count()
    if not checks:
        return "There were no attention checks."
    rated = Rating.objects.filter(text__in=degraded).order_by().values("answer").distinct().count()
    compared = Preference.objects.filter(Q(left__in=degraded) | Q(right__in=degraded))
    answers = rated + compared.order_by().values("answer").distinct().count()
    more = f"; they received {answers} answers" if answers else ""
    own = "" if "groups" not in design.plan else ", each on a separate page"
    return f"{checks} degraded texts were attention checks{own}{more}. They are excluded from all figures."


def _excluded(rules: dict[str, Any]) -> str:
    exclusions = []
    if rules.get("exclude_checks") is not None:
        exclusions.append(f"raters who failed more than {rules['exclude_checks']}% of their checks")
    if rules.get("exclude_fast"):
        exclusions.append("implausibly fast pages")
    return (
        f"Exclusions declared in advance: {' and '.join(exclusions)}." if exclusions else "No exclusions were declared."
    )


def _agreement(design: RatingDesign) -> Iterator[str]:
    measures = report_of(design.round).get("measures", [])
    coefficients = [f"{one['name']} {_alpha(one)}" for one in measures]
    if coefficients:
        yield f"Agreement (Krippendorff's alpha): {'; '.join(coefficients)}."
    else:
        yield f"Agreement: {MISSING}."
    skipped = Answer.objects.filter(assignment__round=design.round, outcome="skipped").count()
    if skipped:
        yield f"Pages were skipped {skipped} times; the reasons are in `answers/`."


def _alpha(measure: dict[str, Any]) -> str:
    alpha = measure["coefficients"].get("alpha")
    if not alpha:
        return "undefined"
    return f"{alpha['value']:.2f} ({measure['metric']}, n = {measure['units']} texts)"
