from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "accounts"

    def ready(self) -> None:
        from accounts import authentication  # noqa: F401 - drf-spectacular finds the extensions once they are imported
