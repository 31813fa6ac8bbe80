from django.db import migrations

from audit.triggers import Guard


class Migration(migrations.Migration):

    dependencies = [("annotation", "0006_tuples"), ("audit", "0002_append_only")]

    operations = [
        Guard("annotation_picotuple", "annotation_tupleslot", "annotation_tuplefragment"),
        # SQLite has rebuilt the table for its new column, and lost the triggers.
        Guard("annotation_discourselabel"),
    ]
