"""Creation of notifications, in the transaction of the event."""

from collections.abc import Iterable

from django.utils import timezone

from accounts.models import User

from ..models import Notification, Project, Round

What = Notification.What


def notify(users: Iterable[int], what: str, *, round: Round) -> None:
    """Notify users of an event in a round. One query."""
    now = timezone.now()
    rows = [
        Notification(user_id=user, what=what, project_id=round.project_id, round=round, at=now)
        for user in sorted(set(users))
    ]
    Notification.objects.bulk_create(rows)


def notify_of_accuracy(users: Iterable[int], *, round: Round, subject: str, path: str) -> None:
    """Notify users of a warning about accuracy in a round. One query."""
    Notification.objects.bulk_create(
        Notification(
            user_id=user,
            what=What.ACCURACY,
            project_id=round.project_id,
            round=round,
            subject=subject,
            path=path,
            at=timezone.now(),
        )
        for user in sorted(set(users))
    )


def notify_of_job(
    user: User | None, *, project: Project | None, subject: str, path: str, failed: bool, round: int | None = None
) -> None:
    """Notify a user that a requested job has ended.

    ``subject`` is the type of work, and ``path`` is below the project's page. ``round`` is the id of the round
    concerned, which may have been deleted. Without a user or a project nobody is notified.
    """
    if user is None or project is None:
        return
    Notification.objects.create(
        user=user,
        what=What.FAILED if failed else What.FINISHED,
        project=project,
        subject=subject,
        round=Round.objects.filter(pk=round).first() if round else None,
        path=f"/projects/{project.slug}/{path}",
        at=timezone.now(),
    )
