"""Creation and settings of projects; members, roles and pseudonyms."""

import secrets
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone
from django.utils.text import slugify

from accounts.models import User
from api import limits
from api.problems import Conflict, Refused
from audit.log import changed_values, record
from audit.models import Entry

from ..models import Member, Project, Role
from ..rounds import actions as rounds_actions
from ..rounds.planning import WORKERS

#: Without letters and digits that are easily confused.
LETTERS = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
#: Half of all possible pseudonyms. Beyond it, drawing unused ones becomes slow.
MOST_PSEUDONYMS = len(LETTERS) ** 4 // 2
SETTINGS = ("name", "description", "licence", "citation", "publish_comments", "show_adjudication")


def create_project(
    *,
    name: str,
    by: User | None,
    slug: str = "",
    description: str = "",
    licence: str = "",
    citation: str = "",
    publish_comments: bool = False,
    show_adjudication: bool = True,
    illustrative: bool = False,
) -> Project:
    """Create a project. ``by`` becomes its first lead. The default slug is made from the name."""
    slug = slug or slugify(name)[:60].strip("-")
    if not slug:
        raise Refused.field("slug", "Enter a short name for addresses, with letters, digits and hyphens.")
    if by is not None:
        founded = Entry.objects.filter(actor=by, verb="create project")
        limits.check("LIMIT_PROJECTS_PER_DAY", founded, at="at")
    try:
        with transaction.atomic():
            project = Project.objects.create(
                slug=slug,
                name=name,
                description=description,
                licence=licence,
                citation=citation,
                publish_comments=publish_comments,
                show_adjudication=show_adjudication,
                illustrative=illustrative,
            )
            after = {"slug": slug, "name": name}
            record(actor=by, verb="create project", obj=project, project_id=project.pk, after=after)
            if by is not None:
                add_member(project=project, user=by, role=Role.LEAD, by=by)
    except IntegrityError as error:
        raise Refused.field("slug", f"The short name {slug!r} is taken. Choose another.") from error
    return project


def create_project_with_free_slug(*, name: str, by: User, slug: str = "", **fields: Any) -> Project:
    """Create a project from the browser.

    If the slug is taken, letters are appended to it. An error would reveal the slugs of other people's projects.
    """
    wished = slug or slugify(name)[:60].strip("-")
    if wished and Project.objects.filter(slug=wished).exists():
        letters = "".join(secrets.choice(LETTERS) for _ in range(4)).lower()
        wished = f"{wished[:55].strip('-')}-{letters}"
    return create_project(name=name, slug=wished, by=by, **fields)


def change_project(*, project: Project, by: User, **fields: Any) -> Project:
    """Change one or several of `SETTINGS`."""
    if unknown := set(fields) - set(SETTINGS):
        raise ValueError(f"Unknown project settings: {', '.join(sorted(unknown))}.")
    before, after = changed_values({name: getattr(project, name) for name in SETTINGS}, fields)
    if not after:
        return project
    with transaction.atomic():
        for name, value in after.items():
            setattr(project, name, value)
        project.save(update_fields=list(after))
        record(actor=by, verb="change project", obj=project, project_id=project.pk, before=before, after=after)
    return project


def add_member(*, project: Project, user: User, role: str, by: User | None) -> Member:
    """Add a user to a project and return the member.

    A former member becomes active again under the old pseudonym. An active member is not changed.
    """
    with transaction.atomic():
        member = Member.objects.filter(project=project, user=user).first()
        if member is None:
            member = _new_member(project, user, role)
        elif not Member.objects.filter(pk=member.pk, left_at__isnull=False).update(left_at=None, role=role):
            return member
        else:
            member.refresh_from_db()
        record(
            actor=by,
            verb="add member",
            obj=member,
            project_id=project.pk,
            after={"pseudonym": member.pseudonym, "role": role},
        )
    return member


def _new_member(project: Project, user: User, role: str) -> Member:
    for _ in range(20):
        try:
            with transaction.atomic():
                return Member.objects.create(project=project, user=user, role=role, pseudonym=new_pseudonym())
        except IntegrityError:
            # The pseudonym is taken, or another connection has just added the same person.
            if existing := Member.objects.filter(project=project, user=user).first():
                return existing
    raise Conflict("No free pseudonym was found. Try again.")


def new_pseudonym() -> str:
    """Return a random pseudonym such as ``R-7F3K``. It reveals neither the person nor the order of joining."""
    return "R-" + "".join(secrets.choice(LETTERS) for _ in range(4))


def new_pseudonyms(project: Project, count: int) -> list[str]:
    """Return ``count`` unused pseudonyms of the project. Raise `Conflict` if too few are left."""
    used = set(project.members.values_list("pseudonym", flat=True))
    if len(used) + count > MOST_PSEUDONYMS:
        raise Conflict(f"The project has fewer than {count} free pseudonyms left.")
    pseudonyms: list[str] = []
    while len(pseudonyms) < count:
        if (pseudonym := new_pseudonym()) not in used:
            used.add(pseudonym)
            pseudonyms.append(pseudonym)
    return pseudonyms


def change_role(*, member: Member, role: str, by: User) -> Member:
    """Change a member's role. Raise `Conflict` if the project would have no lead.

    A member whose new role cannot work in rounds leaves the open rounds.
    """
    with transaction.atomic():
        _one_at_a_time(member.project)
        was = _role_now(member)
        if was == role:
            return member
        if Role.VOLUNTEER in (was, role):
            raise Refused.field("role", "Volunteers keep their role. Invite the person to give them another role.")
        if was == Role.LEAD:
            _keep_a_lead(member)
        Member.objects.filter(pk=member.pk).update(role=role)
        record(
            actor=by,
            verb="change role",
            obj=member,
            project_id=member.project_id,
            before={"role": was},
            after={"role": role},
        )
        if role not in WORKERS:
            rounds_actions.remove_from_open_rounds(member=member, by=by)
    member.role = role
    return member


def remove_member(*, member: Member, by: User, now: datetime | None = None) -> None:
    """End a membership. Raise `Conflict` if the project would have no lead.

    The person's answers are kept, and unanswered assignments are released.
    """
    with transaction.atomic():
        _one_at_a_time(member.project)
        if _role_now(member) == Role.LEAD:
            _keep_a_lead(member)
        # First, so that a concurrent request that adds the person to a round either commits before or sees this.
        Member.objects.filter(pk=member.pk).update(left_at=now or timezone.now())
        rounds_actions.remove_from_open_rounds(member=member, by=by)
        record(
            actor=by,
            verb="remove member",
            obj=member,
            project_id=member.project_id,
            before={"pseudonym": member.pseudonym, "role": member.role},
        )


def _one_at_a_time(project: Project) -> None:
    """Lock the project's row until the transaction ends.

    Without the lock, two leads who demote each other at the same moment would both see another lead.
    """
    Project.objects.filter(pk=project.pk).update(name=F("name"))


def _role_now(member: Member) -> str:
    role = Member.objects.active().filter(pk=member.pk).values_list("role", flat=True).first()
    if role is None:
        raise Conflict("This person has already left the project.")
    return role


def _keep_a_lead(member: Member) -> None:
    others = Member.objects.active().filter(project=member.project_id, role=Role.LEAD).exclude(pk=member.pk)
    if not others.exists():
        raise Conflict("This is the project's last lead. Make another member a lead first.")
