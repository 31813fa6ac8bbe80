import django.db.models.deletion
from django.db import migrations, models

CHECKPOINT = {
    "blank": True,
    "editable": False,
    "null": True,
    "on_delete": django.db.models.deletion.PROTECT,
    "related_name": "+",
}


class Migration(migrations.Migration):
    """Rename `Seal` to `Checkpoint` and `Witness` to `RowDigest`. The column of a row's checkpoint stays ``seal_id``."""

    dependencies = [
        ("audit", "0001_squashed_0003_witnesses"),
        # Models of this app refer to `Seal`, under this name.
        ("projects", "0001_squashed_0024_decisions_that_wait"),
    ]

    operations = [
        migrations.RenameModel(old_name="Seal", new_name="Checkpoint"),
        migrations.RenameField(model_name="checkpoint", old_name="sealed_at", new_name="created_at"),
        migrations.AlterField(
            model_name="checkpoint",
            name="root",
            field=models.CharField(help_text="Merkle root of the header and the rows, in their order.", max_length=64),
        ),
        migrations.RemoveConstraint(model_name="witness", name="one_witness_per_row"),
        migrations.RemoveIndex(model_name="witness", name="audit_witness_last"),
        migrations.RenameModel(old_name="Witness", new_name="RowDigest"),
        migrations.AlterModelOptions(
            name="rowdigest", options={"ordering": ["id"], "verbose_name_plural": "row digests"}
        ),
        migrations.RenameField(model_name="rowdigest", old_name="watched", new_name="label"),
        migrations.AddConstraint(
            model_name="rowdigest",
            constraint=models.UniqueConstraint(fields=("label", "first"), name="one_digest_per_row"),
        ),
        migrations.AddIndex(
            model_name="rowdigest", index=models.Index(fields=["label", "last"], name="row_digest_last")
        ),
        # The columns and the conditions of the indexes do not change in the database.
        migrations.SeparateDatabaseAndState(
            state_operations=[
                operation
                for model, index in (("entry", "audit_entry_unsealed"), ("rowdigest", "audit_witness_unsealed"))
                for operation in (
                    migrations.RemoveIndex(model_name=model, name=index),
                    migrations.RenameField(model_name=model, old_name="seal", new_name="checkpoint"),
                    migrations.AlterField(
                        model_name=model,
                        name="checkpoint",
                        field=models.ForeignKey(db_column="seal_id", to="audit.checkpoint", **CHECKPOINT),
                    ),
                    migrations.AddIndex(
                        model_name=model,
                        index=models.Index(
                            condition=models.Q(("checkpoint__isnull", True)), fields=["id"], name=index
                        ),
                    ),
                )
            ]
        ),
        migrations.RenameIndex(
            model_name="entry", old_name="audit_entry_unsealed", new_name="audit_entry_no_checkpoint"
        ),
        migrations.RenameIndex(
            model_name="rowdigest", old_name="audit_witness_unsealed", new_name="row_digest_no_checkpoint"
        ),
    ]
