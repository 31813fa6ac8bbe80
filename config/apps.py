from django.apps import AppConfig


class HouseConfig(AppConfig):
    """The house itself: an app only so that its commands (`frontend`) are found."""

    name = "config"
