from django.db import migrations

from audit.triggers import Guard


class Migration(migrations.Migration):

    dependencies = [("annotation", "0008_counterfactuals"), ("audit", "0002_append_only")]

    operations = [Guard("annotation_counterfactual")]
