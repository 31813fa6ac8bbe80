from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class AuditConfig(AppConfig):
    name = "audit"

    def ready(self) -> None:
        from . import registry
        from .log import entry_contents
        from .models import Entry, RowDigest
        from .row_digests import row_digest_contents

        registry.register(Entry, order=("id",), contents=entry_contents)
        registry.register(RowDigest, order=("id",), contents=row_digest_contents, label=registry.ROW_DIGESTS)
        post_migrate.connect(install_triggers, sender=self)


def install_triggers(*, using: str, verbosity: int, stdout: Any = None, **_: Any) -> None:
    """Install missing and outdated triggers after ``migrate``, whether or not there were migrations to apply."""
    from django.db import connections

    from .triggers import install_missing

    tables = install_missing(connections[using])
    if tables and verbosity:
        print(f"Append-only triggers installed on {len(tables)} tables.", file=stdout)
