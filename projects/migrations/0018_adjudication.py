from django.db import migrations, models
from django.db.models import Q

from audit.triggers import Guard, Unguard


class Migration(migrations.Migration):
    dependencies = [("projects", "0017_purposes")]

    operations = [
        migrations.AddField(
            model_name="project",
            name="show_adjudication",
            field=models.BooleanField(
                default=True,
                help_text="Whether people see, once a round is closed, what was decided of their answers in it, and why.",
            ),
        ),
        Unguard("projects_decision", sealed=True),
        migrations.AlterField(
            model_name="decision",
            name="origin",
            field=models.CharField(
                choices=[
                    ("imported", "Imported"),
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
        migrations.RemoveConstraint(model_name="decision", name="a_decision_adopts_one_thing"),
        migrations.AddConstraint(
            model_name="decision",
            constraint=models.CheckConstraint(
                name="a_decision_adopts_one_thing",
                condition=(
                    Q(origin__in=["contested", "reopened"], answer__isnull=True, imported__isnull=True)
                    | Q(origin="imported", answer__isnull=True, imported__isnull=False)
                    | (
                        ~Q(origin__in=["contested", "reopened", "imported"])
                        & Q(answer__isnull=False, imported__isnull=True)
                    )
                ),
            ),
        ),
        Guard("projects_decision", sealed=True),
    ]
