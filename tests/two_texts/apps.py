from django.apps import AppConfig


class TwoTextsConfig(AppConfig):
    name = "tests.two_texts"
    label = "two_texts"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from audit.witness import watch
        from projects import kinds

        from .models import TextRating

        kinds.discover("tests.two_texts.kinds")
        watch(TextRating)
