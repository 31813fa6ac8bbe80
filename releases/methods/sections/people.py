"""Sections on people and their training."""

from collections.abc import Iterator

from ..facts.people import PeopleFacts, PracticeFacts, QuizFacts, RecruitmentFacts
from ..facts.study import StudyFacts
from ..text import Section, are, count, day, listed, named, quoted

#: Question of HEDS or of the datasheet that answers each required item.
RECRUITED, BACKGROUND, OTHERS = "heds.3.2.3", "heds.3.2.2", "heds.3.2.5"
PAID, ETHICS, CONSENT = "datasheet.workers", ("heds.5.1", "datasheet.ethics"), "datasheet.consent"


def sections(facts: StudyFacts) -> Iterator[Section]:
    if facts.people.number:
        yield _people(facts)
    yield _training(facts.people)


def number_of_people(people: PeopleFacts) -> str:
    """Return how many people answered, by role. The datasheet says the same."""
    roles = [count(n, role) for role, n in people.roles.items()]
    roles += [count(people.imported, "rater from an imported file", "raters from imported files")] * bool(
        people.imported
    )
    return f"{count(people.number, 'person', 'people')} answered: {listed(roles)}"


def _people(facts: StudyFacts) -> Section:
    section, people = Section("People"), facts.people
    section.say(f"{number_of_people(people)}. The data identify them by pseudonyms only.", _time(people))
    for recruitment in people.recruitments:
        section.say(_recruitment(section, recruitment))
    section.say(_links(people), _consent(section, facts))
    if not people.recruitments or len(people.roles) > 1 or facts.answer(RECRUITED):
        section.say(
            section.stated("Recruitment of people", facts.answer(RECRUITED)),
            section.stated("Background, payment and acquaintance of people", facts.answer(BACKGROUND, PAID)),
        )
    others = facts.answer(OTHERS)
    section.say(
        section.stated("Other characteristics of people", others) if others else "",
        section.stated("Ethical approval", facts.answer(*ETHICS)),
    )
    return section


def _time(people: PeopleFacts) -> str:
    if not people.first_answer or not people.last_answer:
        return ""
    if people.first_answer == people.last_answer:
        return f"All answers were given on {day(people.first_answer)}."
    return f"Answers were given from {day(people.first_answer)} to {day(people.last_answer)}."


def _recruitment(section: Section, facts: RecruitmentFacts) -> Iterator[str]:
    outcomes = [
        f"{facts.completed:,} {are(facts.completed)} completed",
        f"{facts.failed_checks:,} failed the attention checks" if facts.failed_checks else "",
        f"{facts.screened_out:,} {are(facts.screened_out)} screened out" if facts.screened_out else "",
        f"{facts.returned:,} {are(facts.returned)} returned" if facts.returned else "",
    ]
    platform = facts.platform[:1].upper() + facts.platform[1:]
    yield (
        f"{platform} recruited people for the round {quoted(facts.round)}, with {count(facts.places, 'place')}; "
        f"{listed(filter(None, outcomes))}."
    )
    rules = [f"a time limit of {count(facts.minutes, 'minute')}"]
    rules += [f"at most {count(facts.units, 'unit')} per person"] if facts.units else []
    rules += [count(facts.screening_questions, "screening question")] if facts.screening_questions else []
    if facts.checks_allowed is not None:
        rules.append(f"at most {count(facts.checks_allowed, 'failed attention check')}")
    yield f"There {'was' if len(rules) == 1 else 'were'} {listed(rules)}."
    if facts.pay is None:
        yield section.stated(f"Pay per place on {facts.platform}", "", "rounds")
    else:
        yield f"Each completed place was paid {facts.currency} {facts.pay:.2f}."


def _links(people: PeopleFacts) -> str:
    n = people.by_link
    return f"{count(n, 'person', 'people')} joined by a participant link, without an account." if n else ""


def _consent(section: Section, facts: StudyFacts) -> Iterator[str]:
    people, stated = facts.people, facts.answer(CONSENT)
    if people.consents:
        texts = f" ({count(people.consent_texts, 'version')} of the text)" if people.consent_texts > 1 else ""
        yield f"{count(people.consents, 'person', 'people')} agreed to a consent text before working{texts}."
    if people.withdrawals:
        yield f"{count(people.withdrawals, 'person', 'people')} later withdrew consent."
    if stated or people.consents < people.number - people.imported:
        others = "Consent of the other people" if people.consents and not stated else "Consent"
        yield section.stated(others, stated)


def _training(people: PeopleFacts) -> Section:
    section = Section("Training of people")
    for practice in people.practice:
        section.say(_practice(practice))
    section.say(_quiz(quiz) for quiz in people.quizzes)
    if n := people.admissions:
        section.say(f"A lead admitted {count(n, 'person', 'people')} without a pass.")
    return section


def _practice(facts: PracticeFacts) -> Iterator[str]:
    tries = f"{count(facts.tries, 'try', 'tries')} per unit"
    yield (
        f"In the practice round {quoted(facts.name)}, each answer to {count(facts.units, 'unit')} was compared with "
        f"the known value at once ({tries}). The pass mark was {facts.pass_mark}% of the units, in "
        f"{'1 attempt' if facts.attempts == 1 else f'at most {facts.attempts} attempts'}."
    )
    if not facts.people:
        yield "No person has begun it."
        return
    first = f", {facts.at_first:,} of them in the first attempt" if facts.attempts > 1 and facts.passed else ""
    passed = f"{facts.passed:,} passed" if facts.passed else "none passed"
    yield f"{count(facts.people, 'person', 'people')} took part and {passed}{first}."
    if facts.finished < facts.people:
        yield f"{count(facts.people - facts.finished, 'person', 'people')} did not finish it."
    if facts.required_by:
        rounds = named([quoted(name) for name in facts.required_by])
        yield f"A pass was required for the {'round' if len(facts.required_by) == 1 else 'rounds'} {rounds}."


def _quiz(facts: QuizFacts) -> str:
    first = f", {facts.at_first:,} of them in the first try" if facts.passed else ""
    questions = count(facts.questions, "question about the guideline", "questions about the guideline")
    return (
        f"Before the round {quoted(facts.round)}, {count(facts.people, 'person', 'people')} answered {questions} in at "
        f"most 2 tries; {facts.passed:,} answered all of them correctly{first}."
    )
