"""Sections on human ratings. ``ratings/methods.md`` has the same paragraphs."""

from collections.abc import Iterator

from ..facts.ratings import CriterionFacts, RatingFacts
from ..facts.study import StudyFacts
from ..text import Section, are, capitalised, count, figure, listed, one_line, quoted, range_of
from . import gates
from .annotation import measure_words

#: Coefficients in their order: ratings are usually compared by alpha.
KEYS = ("alpha", "ac2", "ac1")
FRAMES = {
    "alone": "of the summary alone",
    "source": "with the source shown",
    "target": "against the target",
    "query": "against the query",
}
#: Required items that only leads know, with the question that answers each.
STATED = (
    ("Preregistration", "heds.3.3.1"),
    ("How the number of sources was chosen (power)", "heds.3.1.3"),
    ("Where raters worked", "heds.3.3.5"),
)


def sections(facts: StudyFacts) -> Iterator[Section]:
    section = Section("Human ratings")
    for rating in facts.ratings:
        section.say(paragraph(rating))
    for round in facts.rounds:
        if round.is_rating and round.gate:
            section.say(gates.sentences(round.gate, f"The round {quoted(round.name)}"))
    if facts.ratings:
        section.say(section.stated(what, facts.answer(question)) for what, question in STATED)
    if blind := [quoted(round.name) for round in facts.rounds if round.is_rating and round.is_blind]:
        noun, verb, pronoun = ("round", "is", "it") if len(blind) == 1 else ("rounds", "are", "they")
        section.say(
            f"The rating {noun} {listed(blind)} {verb} not closed and unblinded yet, so {pronoun} {verb} not described."
        )
    yield section


def paragraph(rating: RatingFacts) -> Iterator[str]:
    """Yield the sentences on one round. Content and order follow HEDS 3.0, sections 2 to 5."""
    group = f" ({one_line(rating.rater_group)})" if rating.rater_group else ""
    judged = "rater judged" if rating.raters == 1 else "raters judged"
    yield (
        f"In the round {quoted(rating.round)}, {rating.raters:,} {judged}{group} the texts of "
        f"{count(len(rating.systems), 'system')} ({listed(map(one_line, rating.systems))}) for "
        f"{count(rating.sources, 'source')} on {count(rating.pages, 'page')}, each rated by "
        f"{range_of(*rating.people_per_page)} of them; {_repeated(rating)}."
    )
    if n := rating.left_out:
        yield left_out(n)
    yield (
        f"They used the protocol {quoted(rating.protocol)}, version {rating.protocol_version} (SHA-256 "
        f"{rating.protocol_sha256[:12]}), and guideline version {rating.guideline.number} (SHA-256 "
        f"{rating.guideline.sha256[:12]})."
    )
    yield f"Criteria: {'; '.join(map(_criterion, rating.criteria))}."
    yield _order(rating)
    yield _form(rating)
    yield from training(rating)
    yield checks(rating)
    yield exclusions(rating)
    yield from _agreement(rating)
    if rating.median_seconds is not None:
        yield f"The median working time per page was {rating.median_seconds:,.0f} s."
    if rating.skipped:
        yield f"Pages were skipped {count(rating.skipped, 'time')}; the reasons are in the files of answers."
    secret = f" and the secret {rating.secret}, which was not revealed before unblinding," if rating.secret else ""
    yield (
        f"The design (SHA-256 {rating.design_sha256[:12]}) was generated from the seed {rating.seed}{secret} by the "
        f"algorithm {rating.algorithm}."
    )


def left_out(n: int) -> str:
    """Return the sentence on excluded sources. HEDS 3.1.2 says the same."""
    them = "it" if n == 1 else "them"
    return f"{count(n, 'source')} {are(n)} excluded, because not all systems had a text for {them}."


def _repeated(rating: RatingFacts) -> str:
    n = rating.repeated
    return f"{count(n, 'page')} {are(n)} rated twice by the same rater" if n else "no page was repeated"


def _criterion(criterion: CriterionFacts) -> str:
    is_named = criterion.standard.casefold() in ("", criterion.name.casefold())
    standard = "" if is_named else f", as {one_line(criterion.standard)}"
    points = f" of {count(len(criterion.points), 'point')}" if criterion.points else ""
    na = ", or not applicable" if criterion.may_be_na else ""
    frame = FRAMES.get(criterion.frame, criterion.frame)
    return f"{one_line(criterion.name)}{standard} ({criterion.type}{points}{na}; {frame})"


def _order(rating: RatingFacts) -> str:
    if rating.kind == "compare":
        return "All pairs of systems were equally frequent, and sides were balanced between raters."
    if rating.kind == "best_worst":
        return "Raters chose the best and the worst of 4 texts; systems, pairs of systems and places were balanced."
    if rating.texts_per_page == "one":
        return "Each page had 1 text; a Latin square separated the texts of a source."
    return "All texts of a source were on 1 page, ordered by Williams squares."


def _form(rating: RatingFacts) -> str:
    blind = (
        "Raters did not know which system wrote a text; identical texts were rated once, for all systems that wrote "
        "them."
    )
    if not rating.is_normalised:
        return f"Texts were shown unchanged. {blind}"
    capitals = ", with capitals only at the start of sentences" if rating.is_lowered else ""
    return f"Texts were shown in a normalised form{capitals}. {blind}"


def training(rating: RatingFacts) -> Iterator[str]:
    """Yield what raters had to pass first. HEDS 3.2.4 says the same."""
    if rating.practice:
        yield f"Raters had to pass the practice round {quoted(rating.practice)} first."
    if rating.asks_questions:
        yield "Raters had to answer questions about the guideline first."


def checks(rating: RatingFacts) -> str:
    """Return the sentence on attention checks. HEDS 3.3.3 says the same."""
    n = rating.checks
    if not n:
        return "There were no attention checks."
    own = (", on a separate page" if n == 1 else ", each on a separate page") if rating.checks_apart else ""
    received = f"; {'it' if n == 1 else 'they'} received {count(rating.check_answers, 'answer')}" * bool(
        rating.check_answers
    )
    text = (
        f"{count(n, 'degraded text')} {are(n)} {'an attention check' if n == 1 else 'attention checks'}{own}{received}."
    )
    return f"{text} {'It is' if n == 1 else 'They are'} excluded from all figures."


def exclusions(rating: RatingFacts) -> str:
    """Return the sentence on exclusions. HEDS 3.3.3 says the same."""
    rules = []
    if rating.exclude_checks is not None:
        rules.append(f"raters who failed more than {rating.exclude_checks:g}% of their checks")
    if rating.excludes_fast:
        rules.append("implausibly fast pages")
    return f"Exclusions declared in advance: {listed(rules)}." if rules else "No exclusions were declared."


def _agreement(rating: RatingFacts) -> Iterator[str]:
    measures = rating.agreement.measures
    if not measures:
        yield "Agreement is undefined: no 2 raters rated the same text."
        return
    for measure in measures:
        yield f"{capitalised(measure_words(measure, KEYS, 'text'))}."
    for each in rating.agreement.repeats:
        value = f"undefined ({each.undefined})" if each.value is None else figure(each.value)
        yield f"Agreement of raters with themselves on {each.name}: {each.coefficient} {value}, n = {each.units:,}."
    methods = {each.interval_method for each in measures if any(one.ci for one in each.coefficients)}
    if methods:
        yield f"Method of the intervals: {listed(sorted(methods))}."
