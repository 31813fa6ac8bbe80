from django.apps import AppConfig


class TwoTextsConfig(AppConfig):
    name = "tests.two_texts"
    label = "two_texts"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from annotation import imports
        from audit.row_digests import track
        from projects import kinds, reports, uploads

        from .models import TextRating

        kinds.discover("tests.two_texts.kinds")
        imports.discover("tests.two_texts.imports")
        reports.discover("tests.two_texts")
        uploads.discover("tests.two_texts")
        track(TextRating)
