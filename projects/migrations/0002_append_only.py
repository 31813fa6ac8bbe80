from django.db import migrations

from audit.triggers import Guard


class Migration(migrations.Migration):
    dependencies = [("projects", "0001_initial"), ("audit", "0002_append_only")]

    operations = [
        Guard("projects_answer", "projects_decision", sealed=True),
        Guard("projects_guideline"),
    ]
