import django.db.models.deletion
from django.db import migrations, models

IMPORTED = {
    "null": True,
    "blank": True,
    "on_delete": django.db.models.deletion.PROTECT,
    "related_name": "+",
    "to": "projects.import",
    "help_text": "Import that created the row; null if a search or a person did.",
}
LINKS, INCLUSIONS = "annotation_study_reviews", "annotation_inclusion"
COPY = f"""
    INSERT INTO {INCLUSIONS} (id, review_id, study_id, position, role, metadata)
    SELECT id, review_id, study_id, row_number() OVER (PARTITION BY review_id ORDER BY id) - 1, 'included', '{{}}'
    FROM {LINKS}
"""
# The earlier version would count general references as included studies.
COPY_BACK = f"INSERT INTO {LINKS} (id, review_id, study_id) SELECT id, review_id, study_id FROM {INCLUSIONS} WHERE role = 'included'"


def continue_ids(schema_editor, old, new):
    """Continue the ids of the old table. Row digests refer to them, so the id of a removed row is not used again."""
    if schema_editor.connection.vendor == "postgresql":
        following = f"nextval(pg_get_serial_sequence('{old}', 'id'))"
        schema_editor.execute(f"SELECT setval(pg_get_serial_sequence('{new}', 'id'), {following})")
    else:
        schema_editor.execute(f"DELETE FROM sqlite_sequence WHERE name = '{new}'")
        schema_editor.execute(
            f"INSERT INTO sqlite_sequence (name, seq) SELECT '{new}', seq FROM sqlite_sequence WHERE name = '{old}'"
        )


def copy(apps, schema_editor):
    schema_editor.execute(COPY)
    continue_ids(schema_editor, LINKS, INCLUSIONS)


def copy_back(apps, schema_editor):
    schema_editor.execute(COPY_BACK)
    continue_ids(schema_editor, INCLUSIONS, LINKS)


class Migration(migrations.Migration):
    """Replace the links between reviews and studies by inclusions, with the same ids."""

    dependencies = [
        ("annotation", "0005_choice_labels"),
        ("projects", "0004_checkpoint"),
    ]

    operations = [
        migrations.CreateModel(
            name="Inclusion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("position", models.PositiveIntegerField(help_text="Order of the study in the review, from 0.")),
                (
                    "role",
                    models.CharField(
                        choices=[("included", "Included"), ("general", "General")], default="included", max_length=8
                    ),
                ),
                (
                    "metadata",
                    models.JSONField(blank=True, default=dict, help_text="What this review says of the study."),
                ),
                ("imported", models.ForeignKey(**IMPORTED)),
                (
                    "review",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="inclusions",
                        to="annotation.review",
                    ),
                ),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="inclusions",
                        to="annotation.study",
                    ),
                ),
            ],
            options={
                "ordering": ["review_id", "position", "id"],
                "constraints": [
                    models.UniqueConstraint(fields=("review", "study"), name="one_inclusion_per_study")
                ],
            },
        ),
        migrations.RunPython(copy, copy_back),
        migrations.RemoveField(model_name="study", name="reviews"),
        migrations.AddField(model_name="review", name="imported", field=models.ForeignKey(**IMPORTED)),
        migrations.AddField(model_name="study", name="imported", field=models.ForeignKey(**IMPORTED)),
        migrations.AlterField(
            model_name="input",
            name="text",
            field=models.TextField(
                blank=True, help_text="Empty if it is the abstract of the study, which never changes."
            ),
        ),
    ]
