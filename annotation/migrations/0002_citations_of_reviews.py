from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0001_squashed_0027_records_that_cannot_be_taken")]

    operations = [
        migrations.AddField(
            "Review",
            "citations",
            models.JSONField(
                blank=True, default=dict, help_text="How the review cites each study, by PubMed id."
            ),
        ),
    ]
