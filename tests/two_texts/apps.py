from django.apps import AppConfig


class TwoTextsConfig(AppConfig):
    name = "tests.two_texts"
    label = "two_texts"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from annotation import imports
        from audit.witness import watch
        from projects import kinds, tables, uploads

        from .models import TextRating

        kinds.discover("tests.two_texts.kinds")
        imports.discover("tests.two_texts.imports")
        tables.discover("tests.two_texts.tables")
        uploads.discover("tests.two_texts.actions.uploads")
        watch(TextRating)
