from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("generation", "0002_embargo")]

    operations = [
        migrations.AddField(
            model_name="run",
            name="skipped",
            field=models.JSONField(
                blank=True,
                default=dict,
                help_text="Number of reviews or units of the level without an item, by reason.",
            ),
        ),
    ]
