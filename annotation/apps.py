from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class AnnotationConfig(AppConfig):
    name = "annotation"

    def ready(self) -> None:
        from projects import kinds, reports, uploads
        from projects import workflow as workflow_registry
        from projects.material import registry as material_registry
        from projects.stored_figures import registry as figures_registry

        from . import (
            imports,
            rankers,
            tasks,  # noqa: F401 - registers the handlers of this app's jobs
        )
        from .clusters import integrity, strata

        kinds.discover("annotation.kinds")
        imports.discover("annotation.formats")
        rankers.discover("annotation.rankers")
        uploads.discover("annotation")
        workflow_registry.discover("annotation")
        figures_registry.discover("annotation")
        material_registry.discover("annotation")
        reports.discover("annotation.kinds")
        reports.discover("annotation")
        strata.register()
        integrity.register()
        post_migrate.connect(create_search_indexes, sender=self)


def create_search_indexes(*, using: str, verbosity: int, stdout: Any = None, **_: Any) -> None:
    """Create missing indexes for the search of long texts after ``migrate``, if the database has them."""
    from django.db import connections

    from sql.searching import create_indexes

    indexes = {
        "target_search": ("annotation_target", ("key", "text")),
        "study_search": ("annotation_study", ("pmid", "title")),
    }
    note = create_indexes(connections[using], indexes)
    if note and verbosity:
        print(note, file=stdout)
