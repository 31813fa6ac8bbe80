"""A reading by a model that was run here belongs to an import, too: that of the model's folder."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0010_indexes_of_large_corpora"), ("projects", "0010_remove_unused_index")]

    operations = [
        migrations.RemoveConstraint(model_name="machinereading", name="a_reading_has_one_origin"),
        migrations.AlterField(
            model_name="machinereading",
            name="imported",
            field=models.ForeignKey(
                help_text="Import of the values, or of the model's folder.",
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="projects.import",
            ),
        ),
    ]
