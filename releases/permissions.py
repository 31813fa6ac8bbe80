"""Access to releases: members of the project whose role may read releases."""

from accounts.models import User
from api.problems import NotFound
from projects.models import Member
from projects.permissions import member_in, permit

from .models import Release

READ = "read releases"


def release_of(user: User, pk: int) -> tuple[Release, Member]:
    """Return a release and the user's membership of its project."""
    release = Release.objects.select_related("project", "created_by").filter(pk=pk).first()
    if release is None:
        raise NotFound("Not found, or no access.")
    member = member_in(user, release.project_id)
    permit(member, READ)
    return release, member
