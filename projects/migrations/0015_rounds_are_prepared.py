import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("projects", "0014_publish_comments")]

    operations = [
        migrations.AlterField(
            model_name="round",
            name="status",
            field=models.CharField(
                choices=[("preparing", "Preparing"), ("open", "Open"), ("closed", "Closed")],
                default="open",
                max_length=12,
            ),
        ),
        migrations.CreateModel(
            name="KeptAgreement",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "method",
                    models.CharField(help_text="The rule's name, which changes when its figures do.", max_length=60),
                ),
                (
                    "basis",
                    models.JSONField(
                        help_text="What the report rests on, counted: it is current while this is the same."
                    ),
                ),
                ("report", models.TextField()),
                ("made_at", models.DateTimeField()),
                (
                    "round",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="kept_agreement",
                        to="projects.round",
                    ),
                ),
            ],
        ),
    ]
