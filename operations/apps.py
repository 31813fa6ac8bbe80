from django.apps import AppConfig
from django.core.checks import Tags, register


class OperationsConfig(AppConfig):
    """App config that makes the management commands of this package available."""

    name = "operations"

    def ready(self) -> None:
        from .upgrades import check_version

        register(check_version, Tags.database)
