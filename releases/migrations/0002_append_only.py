from django.db import migrations

from audit.triggers import Guard


class Migration(migrations.Migration):

    dependencies = [("releases", "0001_initial"), ("audit", "0002_append_only")]

    operations = [Guard("releases_release")]
