from django.apps import AppConfig


class HouseConfig(AppConfig):
    """App config that makes the management commands of the project available."""

    name = "config"
