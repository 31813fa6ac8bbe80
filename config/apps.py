from django.apps import AppConfig


class HouseConfig(AppConfig):
    """The house itself: an app only so that its commands (`demo`, `work`) are found."""

    name = "config"
