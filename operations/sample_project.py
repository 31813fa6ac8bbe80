"""Create the sample project: a small fictitious corpus, four people and an open round."""

from dataclasses import dataclass
from pathlib import Path

from django.db import transaction

import annotation
from accounts.models import User
from annotation.imports.actions import check_files, import_files
from api.problems import Conflict
from projects.guidelines.actions import latest_guideline
from projects.models import Member, Project, Purpose, Role, Round
from projects.people.actions import add_member, create_project
from projects.rounds.actions import open_round
from projects.rounds.planning import WORKERS, RoundPlan
from projects.stored_figures.actions import bring_up_to_date
from projects.uploads.files import Source

SAMPLE = Path(annotation.__file__).parent / "sample" / "level3.jsonl"
COUNTERFACTUALS = SAMPLE.with_name("counterfactuals.csv")
SLUG = "sample"
ROUND = "First labels"
KIND = "label"
DESCRIPTION = (
    "A fictitious corpus that demonstrates Concord. Its sentences, numbers and interventions "
    "are invented and are not evidence of anything."
)


@dataclass(frozen=True)
class Person:
    """A person of the sample project. The addresses use a reserved domain that nobody can own."""

    email: str
    name: str
    role: Role


PEOPLE = (
    Person("lead@example.org", "Lea Lead", Role.LEAD),
    Person("ann1@example.org", "Anna Annotator", Role.ANNOTATOR),
    Person("ann2@example.org", "Ben Annotator", Role.ANNOTATOR),
    Person("evaluator@example.org", "Eva Evaluator", Role.EVALUATOR),
)


@dataclass(frozen=True)
class Seeded:
    """The sample project, and the names of the objects that this call created."""

    project: Project
    people: tuple[User, ...]
    round: Round
    made: tuple[str, ...]


@transaction.atomic
def seed() -> Seeded:
    """Create the missing parts of the sample project. Existing parts are not reset, so that users keep their changes.

    Raise `Conflict` if another project has the same short name.
    """
    made: list[str] = []
    people = tuple(_user(person, made) for person in PEOPLE)
    lead = people[0]
    project = _project(lead, made)
    _members(project, people, made)
    _corpus(project, lead, made)
    bring_up_to_date(project)
    return Seeded(project, people, _round(project, lead, made), tuple(made))


def _user(person: Person, made: list[str]) -> User:
    """Return the account, creating it without a password. Sign-in is by one-time links only."""
    found = User.objects.filter(email__iexact=person.email).first()
    if found is None:
        found = User.objects.create_user(email=person.email, name=person.name)
        made.append(f"account {person.email}")
    return found


def _project(lead: User, made: list[str]) -> Project:
    found = Project.objects.filter(slug=SLUG).first()
    if found is None:
        made.append(f"project {SLUG}")
        return create_project(
            name="Sample project (illustrative)",
            slug=SLUG,
            by=lead,
            description=DESCRIPTION,
            licence="CC0-1.0",
            illustrative=True,
        )
    if not found.illustrative:
        raise Conflict(f"The project {SLUG!r} exists but is not the sample project; nothing was added.")
    return found


def _members(project: Project, people: tuple[User, ...], made: list[str]) -> None:
    # Removed members are not added again, so former members count as existing.
    existing = set(Member.objects.filter(project=project).values_list("user_id", flat=True))
    for person, user in zip(PEOPLE, people, strict=True):
        if user.pk not in existing:
            add_member(project=project, user=user, role=person.role, by=people[0])
            made.append(f"member {person.email} ({person.role.value})")


def _corpus(project: Project, lead: User, made: list[str]) -> None:
    if project.imports.exists():
        return
    for format, path in (("m3", SAMPLE), ("counterfactuals", COUNTERFACTUALS)):
        checked = check_files(project=project, format=format, sources=[Source.of(path)])
        for done in import_files(project=project, format=format, checked=checked, by=lead):
            counts = ("clusters", "propositions") if format == "m3" else ("counterfactuals",)
            made.append(" with ".join(f"{done.counts[name]} {name}" for name in counts))


def _round(project: Project, lead: User, made: list[str]) -> Round:
    found = Round.objects.filter(project=project, name=ROUND).first()
    if found is not None:
        return found
    members = project.members.active().filter(role__in=WORKERS)
    plan = RoundPlan(
        name=ROUND,
        kind=KIND,
        purpose=Purpose.GOLD,
        overlap=2,
        people=[member.pk for member in members],
        guideline=latest_guideline(project, KIND, by=lead).pk,
        allocation=Round.Allocation.SHARED,
    )
    made.append(f"round {ROUND!r}")
    return open_round(project=project, plan=plan, by=lead)
