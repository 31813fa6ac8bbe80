import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """Rename `Seal` to `Embargo`, and fields of `Run` to their terms."""

    dependencies = [
        ("generation", "0001_squashed_0009_rule_of_probe_figures"),
    ]

    operations = [
        migrations.RemoveConstraint(model_name="seal", name="one_seal_per_person"),
        migrations.RenameModel(old_name="Seal", new_name="Embargo"),
        migrations.AlterField(
            model_name="embargo",
            name="run",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="embargoes", to="generation.run"
            ),
        ),
        migrations.AlterField(
            model_name="embargo",
            name="member",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="embargoes", to="projects.member"
            ),
        ),
        migrations.AddConstraint(
            model_name="embargo",
            constraint=models.UniqueConstraint(
                fields=["run", "member"], condition=models.Q(lifted_at=None), name="one_embargo_per_person"
            ),
        ),
        migrations.RenameField(model_name="run", old_name="lanes", new_name="concurrency"),
        migrations.RenameField(model_name="run", old_name="laid_to", new_name="item_offset"),
    ]
