from django.apps import AppConfig


class OperationsConfig(AppConfig):
    """What an administrator does with an installation: an app only so that its commands are found."""

    name = "operations"
