"""Writing down what is new for people, in the transaction in which it happens."""

from collections.abc import Iterable

from django.utils import timezone

from accounts.models import User

from ..models import Notification, Project, Round

What = Notification.What


def tell(users: Iterable[int], what: str, *, round: Round) -> None:
    """That something happened in a round, to each of these users. One query."""
    now = timezone.now()
    rows = [
        Notification(user_id=user, what=what, project_id=round.project_id, round=round, at=now)
        for user in sorted(set(users))
    ]
    Notification.objects.bulk_create(rows)


def tell_of_work(
    user: User | None, *, project: Project | None, subject: str, path: str, failed: bool, round: int | None = None
) -> None:
    """That work which the user asked for has ended. ``subject`` says what sort of work; ``path`` is below the project's
    page; ``round``: what it was about, where it is still there. Nobody is told of work that a command or another worker
    asked for."""
    if user is None or project is None:
        return
    Notification.objects.create(
        user=user, what=What.FAILED if failed else What.FINISHED, project=project, subject=subject,
        round=Round.objects.filter(pk=round).first() if round else None,
        path=f"/projects/{project.slug}/{path}", at=timezone.now(),
    )  # fmt: skip
