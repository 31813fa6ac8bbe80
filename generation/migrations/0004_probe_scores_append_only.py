from django.db import migrations

from audit.triggers import Guard


class Migration(migrations.Migration):

    dependencies = [("generation", "0003_probe_scores"), ("audit", "0002_append_only")]

    operations = [Guard("generation_probescore")]
