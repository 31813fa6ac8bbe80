"""Projects and who is in them: founding, settings, members, roles, pseudonyms."""

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
from audit.log import changes, record
from audit.models import Entry

from ..models import Member, Project, Role
from . import rounds

#: No letter or digit that is taken for another one.
LETTERS = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
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
    """Found a project; ``by``, where given, is its first lead. Without a slug one is made from the name."""
    slug = slug or slugify(name)[:60].strip("-")
    if not slug:
        raise Refused.field("slug", "Give a short name for addresses: letters, digits and hyphens.")
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
        raise Refused.field("slug", f"The short name {slug!r} is taken.") from error
    return project


def found_project(*, name: str, by: User, slug: str = "", **fields: Any) -> Project:
    """`create_project` by somebody in the browser, who is not told which short names others' projects have: where the
    one wished for is taken, letters are added to it."""
    wished = slug or slugify(name)[:60].strip("-")
    if wished and Project.objects.filter(slug=wished).exists():
        letters = "".join(secrets.choice(LETTERS) for _ in range(4)).lower()
        wished = f"{wished[:55].strip('-')}-{letters}"
    return create_project(name=name, slug=wished, by=by, **fields)


def change_project(*, project: Project, by: User, **fields: Any) -> Project:
    """Set one or several of `SETTINGS`."""
    if unknown := set(fields) - set(SETTINGS):
        raise ValueError(f"These are no settings of a project: {', '.join(sorted(unknown))}.")
    before, after = changes({name: getattr(project, name) for name in SETTINGS}, fields)
    if not after:
        return project
    with transaction.atomic():
        for name, value in after.items():
            setattr(project, name, value)
        project.save(update_fields=list(after))
        record(actor=by, verb="change project", obj=project, project_id=project.pk, before=before, after=after)
    return project


def add_member(*, project: Project, user: User, role: str, by: User | None) -> Member:
    """Make a user a member, or a former member active again under the old pseudonym. Active ones stay as they are."""
    with transaction.atomic():
        member = Member.objects.filter(project=project, user=user).first()
        if member is None:
            member = _new_member(project, user, role)
        elif not Member.objects.filter(pk=member.pk, left_at__isnull=False).update(left_at=None, role=role):
            return member
        else:
            member.refresh_from_db()
        record(
            actor=by, verb="add member", obj=member, project_id=project.pk,
            after={"pseudonym": member.pseudonym, "role": role},
        )  # fmt: skip
    return member


def _new_member(project: Project, user: User, role: str) -> Member:
    for _ in range(20):
        try:
            with transaction.atomic():
                return Member.objects.create(project=project, user=user, role=role, pseudonym=new_pseudonym())
        except IntegrityError:
            # The pseudonym is taken, or the same person was added on another connection a moment ago.
            if found := Member.objects.filter(project=project, user=user).first():
                return found
    raise Conflict("No free pseudonym was found. Try again.")


def new_pseudonym() -> str:
    """A random name such as ``R-7F3K``: it tells neither who nor the how-manieth somebody is."""
    return "R-" + "".join(secrets.choice(LETTERS) for _ in range(4))


def change_role(*, member: Member, role: str, by: User) -> Member:
    """Give a member another role. A project keeps at least one lead. Who cannot work any more leaves open rounds."""
    with transaction.atomic():
        _one_at_a_time(member.project)
        was = _role_now(member)
        if was == role:
            return member
        if Role.VOLUNTEER in (was, role):
            raise Refused.field("role", "Volunteers come by a participant link. Invite somebody who is to do more.")
        if was == Role.LEAD:
            _keep_a_lead(member)
        Member.objects.filter(pk=member.pk).update(role=role)
        record(
            actor=by, verb="change role", obj=member, project_id=member.project_id,
            before={"role": was}, after={"role": role},
        )  # fmt: skip
        if role not in rounds.WORKERS:
            rounds.remove_from_open_rounds(member=member, by=by)
    member.role = role
    return member


def remove_member(*, member: Member, by: User, now: datetime | None = None) -> None:
    """End a membership. What the person answered stays; what was not answered is free for others."""
    with transaction.atomic():
        _one_at_a_time(member.project)
        if _role_now(member) == Role.LEAD:
            _keep_a_lead(member)
        # First, so that whoever lets the person into a round meanwhile has done so before, or sees it.
        Member.objects.filter(pk=member.pk).update(left_at=now or timezone.now())
        rounds.remove_from_open_rounds(member=member, by=by)
        record(
            actor=by, verb="remove member", obj=member, project_id=member.project_id,
            before={"pseudonym": member.pseudonym, "role": member.role},
        )  # fmt: skip


def _one_at_a_time(project: Project) -> None:
    """Take the project's row lock until the transaction ends: two leads who demote each other at the same moment would
    otherwise both find one lead left."""
    Project.objects.filter(pk=project.pk).update(name=F("name"))


def _role_now(member: Member) -> str:
    role = Member.objects.active().filter(pk=member.pk).values_list("role", flat=True).first()
    if role is None:
        raise Conflict("This person has left the project already.")
    return role


def _keep_a_lead(member: Member) -> None:
    others = Member.objects.active().filter(project=member.project_id, role=Role.LEAD).exclude(pk=member.pk)
    if not others.exists():
        raise Conflict("This is the project's last lead. Make somebody else a lead first.")
