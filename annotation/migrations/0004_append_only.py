from django.db import migrations

from audit.triggers import Guard


class Migration(migrations.Migration):

    dependencies = [("annotation", "0003_cluster_search"), ("audit", "0002_append_only")]

    operations = [
        Guard("annotation_label", "annotation_cue", "annotation_cuefragment", "annotation_discourselabel"),
    ]
