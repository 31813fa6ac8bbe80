import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [("projects", "0001_squashed_0024_decisions_that_wait")]

    operations = [
        migrations.CreateModel(
            name="TextRating",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("target", models.PositiveSmallIntegerField()),
                ("input", models.PositiveSmallIntegerField()),
                ("remark", models.TextField(blank=True)),
                ("passages", models.JSONField(default=list, help_text="Unclear passages of the target, with their quotes. They may nest.")),
                ("target_first", models.BooleanField(help_text="Whether the target stood first on the person's page.")),
                ("answer", models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name="text_rating", to="projects.answer")),
                ("unit", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="text_ratings", to="projects.unit")),
            ],
            options={
                "ordering": ["id"],
                "constraints": [models.CheckConstraint(condition=models.Q(("input__range", (1, 5)), ("target__range", (1, 5))), name="points_are_of_one_to_five")],
            },
        ),
    ]
