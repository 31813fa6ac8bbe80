"""Facts about the people of a project: numbers, recruitment, consent, pay and training, without names."""

from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from django.db.models import Count, Q

from projects.models import (
    Admission,
    Answer,
    Consent,
    Member,
    ParticipantLink,
    Project,
    QuestionTry,
    Recruit,
    Recruitment,
    Role,
    Round,
)
from projects.practice.queries import attempts_in, setting_of
from projects.purposes import ATTEMPTS, PASS_MARK, TRIES, which

State = Recruit.State


@dataclass(frozen=True)
class RecruitmentFacts:
    """A link that a recruitment platform gave to its members."""

    platform: str
    round: str
    places: int
    completed: int
    screened_out: int
    failed_checks: int
    #: Places that were returned: the time was over, or the person withdrew.
    returned: int
    screening_questions: int
    units: int | None
    minutes: int
    checks_allowed: int | None
    pay: Decimal | None
    currency: str


@dataclass(frozen=True)
class PracticeFacts:
    """A practice round. ``passed`` of ``people`` reached the pass mark, ``at_first`` of them in the first attempt."""

    name: str
    kind: str
    units: int
    pass_mark: int
    tries: int
    attempts: int
    people: int
    finished: int
    passed: int
    at_first: int
    #: Names of the rounds that require it.
    required_by: tuple[str, ...]


@dataclass(frozen=True)
class QuizFacts:
    """The questions about the guideline that people answered before a round."""

    round: str
    questions: int
    people: int
    passed: int
    at_first: int


@dataclass(frozen=True)
class PeopleFacts:
    """People who answered at least once, by their role now."""

    #: Role -> number of people with an account.
    roles: dict[str, int]
    imported: int
    by_platform: int
    by_link: int
    consents: int
    withdrawals: int
    consent_texts: int
    recruitments: tuple[RecruitmentFacts, ...]
    practice: tuple[PracticeFacts, ...]
    quizzes: tuple[QuizFacts, ...]
    #: People whom a lead admitted to a round although they had not passed.
    admissions: int
    first_answer: date | None
    last_answer: date | None

    @property
    def number(self) -> int:
        return sum(self.roles.values()) + self.imported


def people_facts(project: Project) -> PeopleFacts:
    """Return the facts. A fixed number of queries."""
    people = Member.objects.filter(project=project, answers__isnull=False).order_by().distinct()
    roles = Counter(dict(people.filter(user__isnull=False).values_list("role").annotate(n=Count("pk", distinct=True))))
    links = ParticipantLink.objects.filter(round__project=project, member__in=people.values("pk")).order_by()
    recruits = Recruit.objects.filter(link__in=links.values("pk")).count()
    consents = Consent.objects.filter(link__round__project=project).order_by()
    given = consents.filter(what=Consent.What.GIVEN)
    span = Answer.objects.filter(author__project=project, assignment__round__purpose__in=which("counts"))
    first = span.order_by("received_at").values_list("received_at", flat=True).first()
    last = span.order_by("-received_at").values_list("received_at", flat=True).first()
    return PeopleFacts(
        roles={role: roles[role] for role in Role.values if roles[role]},
        imported=people.filter(user__isnull=True).count(),
        by_platform=recruits,
        by_link=links.count() - recruits,
        consents=given.values("member").distinct().count(),
        withdrawals=consents.filter(what=Consent.What.WITHDRAWN).values("member").distinct().count(),
        consent_texts=given.values("digest").distinct().count(),
        recruitments=_recruitments(project),
        practice=_practice(project),
        quizzes=_quizzes(project),
        admissions=Admission.objects.filter(round__project=project).count(),
        first_answer=first and first.date(),
        last_answer=last and last.date(),
    )


def _recruitments(project: Project) -> tuple[RecruitmentFacts, ...]:
    rows = Recruitment.objects.filter(link__round__project=project).select_related("link__round").order_by("pk")
    states = Q(recruits__state=State.TIMED_OUT) | Q(recruits__state=State.WITHDRAWN)
    rows = rows.annotate(
        completed=Count("recruits", filter=Q(recruits__state=State.COMPLETED)),
        screened_out=Count("recruits", filter=Q(recruits__state=State.SCREENED_OUT)),
        failed_checks=Count("recruits", filter=Q(recruits__state=State.FAILED_CHECKS)),
        returned=Count("recruits", filter=states),
    )
    return tuple(
        RecruitmentFacts(
            platform="another platform" if row.platform == Recruitment.Platform.OTHER else row.get_platform_display(),
            round=row.link.round.name,
            places=row.link.capacity,
            completed=row.completed,
            screened_out=row.screened_out,
            failed_checks=row.failed_checks,
            returned=row.returned,
            screening_questions=len(row.questions),
            units=row.units,
            minutes=row.minutes,
            checks_allowed=row.checks_allowed,
            pay=row.pay,
            currency=row.currency,
        )
        for row in rows
    )


def _practice(project: Project) -> tuple[PracticeFacts, ...]:
    rounds = list(Round.objects.filter(project=project, purpose__in=which("gives_feedback")).opened().order_by("pk"))
    required: dict[int, list[str]] = defaultdict(list)
    requiring = project.rounds.filter(requires_practice__in=[round.pk for round in rounds]).order_by("pk")
    for name, practice in requiring.values_list("name", "requires_practice_id"):
        required[practice or 0].append(name)
    by_round = attempts_in(rounds, Q()) if rounds else {}
    facts = []
    for round in rounds:
        people = [own for own in by_round[round.pk].values() if own[0].done]
        facts.append(
            PracticeFacts(
                name=round.name,
                kind=round.kind,
                units=round.units_count,
                pass_mark=setting_of(round, PASS_MARK),
                tries=setting_of(round, TRIES),
                attempts=setting_of(round, ATTEMPTS),
                people=len(people),
                finished=sum(any(attempt.is_done for attempt in own) for own in people),
                passed=sum(any(attempt.passed for attempt in own) for own in people),
                at_first=sum(own[0].passed for own in people),
                required_by=tuple(required[round.pk]),
            )
        )
    return tuple(facts)


def _quizzes(project: Project) -> tuple[QuizFacts, ...]:
    tries = QuestionTry.objects.filter(round__project=project).order_by().values("round")
    rows = tries.annotate(
        people=Count("member", distinct=True),
        passers=Count("member", distinct=True, filter=Q(passed=True)),
        at_first=Count("member", distinct=True, filter=Q(passed=True, number=1)),
    )
    rounds = Round.objects.select_related("guideline").in_bulk([row["round"] for row in rows])
    return tuple(
        QuizFacts(
            round=rounds[row["round"]].name,
            questions=len(rounds[row["round"]].guideline.questions),
            people=row["people"],
            passed=row["passers"],
            at_first=row["at_first"],
        )
        for row in sorted(rows, key=lambda row: row["round"])
    )
