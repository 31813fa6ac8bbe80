from django.db import migrations

from audit.triggers import Guard


class Migration(migrations.Migration):

    dependencies = [("generation", "0001_systems_and_runs"), ("audit", "0002_append_only")]

    operations = [Guard("generation_version", "generation_summary")]
