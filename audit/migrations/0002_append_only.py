from django.db import migrations

from audit.triggers import Guard


class Migration(migrations.Migration):
    dependencies = [("audit", "0001_initial")]

    operations = [Guard("audit_entry", sealed=True), Guard("audit_seal")]
