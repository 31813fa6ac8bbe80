import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """Rename the field ``seal`` of answers and decisions to ``checkpoint``. Its column stays ``seal_id``."""

    dependencies = [
        ("audit", "0002_checkpoints_and_row_digests"),
        ("projects", "0003_plain_names"),
    ]

    operations = [
        # The columns and the conditions of the indexes do not change in the database.
        migrations.SeparateDatabaseAndState(
            state_operations=[
                operation
                for model, field, index in (
                    ("answer", "received_at", "answer_unsealed"),
                    ("decision", "id", "decision_unsealed"),
                )
                for operation in (
                    migrations.RemoveIndex(model_name=model, name=index),
                    migrations.RenameField(model_name=model, old_name="seal", new_name="checkpoint"),
                    migrations.AlterField(
                        model_name=model,
                        name="checkpoint",
                        field=models.ForeignKey(
                            blank=True,
                            db_column="seal_id",
                            editable=False,
                            null=True,
                            on_delete=django.db.models.deletion.PROTECT,
                            related_name="+",
                            to="audit.checkpoint",
                        ),
                    ),
                    migrations.AddIndex(
                        model_name=model,
                        index=models.Index(
                            condition=models.Q(("checkpoint__isnull", True)), fields=[field], name=index
                        ),
                    ),
                )
            ]
        ),
        migrations.RenameIndex(model_name="answer", old_name="answer_unsealed", new_name="answer_no_checkpoint"),
        migrations.RenameIndex(model_name="decision", old_name="decision_unsealed", new_name="decision_no_checkpoint"),
    ]
