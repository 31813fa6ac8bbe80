from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    """Allow decisions that adopt the value of a model from an import."""

    dependencies = [
        ("audit", "0002_checkpoints_and_row_digests"),
        ("projects", "0008_import_files_and_warnings"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveConstraint(model_name="decision", name="a_decision_adopts_one_thing"),
        migrations.AlterField(
            model_name="decision",
            name="origin",
            field=models.CharField(
                choices=[
                    ("imported", "Imported"),
                    ("machine", "Machine"),
                    ("single", "Single"),
                    ("unanimous", "Unanimous"),
                    ("by majority", "Majority"),
                    ("decided by a curator", "Curated"),
                    ("contested", "Contested"),
                    ("reopened", "Reopened"),
                ],
                max_length=24,
            ),
        ),
        migrations.AddConstraint(
            model_name="decision",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("answer__isnull", True), ("imported__isnull", True), ("origin__in", ["contested", "reopened"])
                    ),
                    models.Q(
                        ("answer__isnull", True), ("imported__isnull", False), ("origin__in", ["imported", "machine"])
                    ),
                    models.Q(
                        models.Q(("origin__in", ["contested", "reopened", "imported", "machine"]), _negated=True),
                        ("answer__isnull", False),
                        ("imported__isnull", True),
                    ),
                    _connector="OR",
                ),
                name="a_decision_adopts_one_thing",
            ),
        ),
    ]
