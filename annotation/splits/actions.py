"""Create, discard and release splits."""

import re
from collections.abc import Iterable

from projects.models import Project

from ..models import DataSplit

#: Path of a split in a release.
_FILE = re.compile(r"splits/([^/]+)\.csv")


def mark_released(*, project: Project, paths: Iterable[str], version: str) -> None:
    """Note on the splits whose files a release has that it has them, in the caller's transaction.

    The name of a released split is never used again.
    """
    names = [match[1] for path in paths if (match := _FILE.fullmatch(path))]
    DataSplit.objects.current().filter(project=project, name__in=names, first_release="").update(first_release=version)
