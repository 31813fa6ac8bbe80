import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0006_inclusions"), ("projects", "0008_import_files_and_warnings")]

    operations = [
        migrations.CreateModel(
            name="Effect",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("position", models.PositiveIntegerField(help_text="Order in the reading, from 0.")),
                (
                    "direction",
                    models.CharField(
                        choices=[
                            ("decreased", "Significantly decreased"),
                            ("no difference", "No significant difference"),
                            ("increased", "Significantly increased"),
                        ],
                        help_text="The most probable direction.",
                        max_length=13,
                    ),
                ),
                ("decreased", models.FloatField(help_text="Probability that the outcome decreases significantly.")),
                ("no_difference", models.FloatField(help_text="Probability that there is no significant difference.")),
                ("increased", models.FloatField(help_text="Probability that the outcome increases significantly.")),
                ("start", models.PositiveIntegerField(blank=True, null=True)),
                ("end", models.PositiveIntegerField(blank=True, null=True)),
                ("evidence", models.TextField(blank=True)),
                (
                    "score",
                    models.FloatField(
                        help_text="Score of the evidence sentence, from 0 to 1. Low: the text may say nothing."
                    ),
                ),
            ],
            options={"ordering": ["reading_id", "position"]},
        ),
        migrations.CreateModel(
            name="EffectPair",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("position", models.PositiveIntegerField(help_text="Order in the review, from 0.")),
                ("intervention", models.TextField()),
                ("outcome", models.TextField()),
            ],
            options={"ordering": ["review_id", "position"]},
        ),
        migrations.CreateModel(
            name="MachineReading",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "task",
                    models.CharField(
                        choices=[
                            ("sentences", "Classes of sentences"),
                            ("pio", "Populations, interventions and outcomes"),
                            ("effects", "Effects of interventions on outcomes"),
                            ("suitability", "Fitness of reviews"),
                        ],
                        max_length=11,
                    ),
                ),
                ("values", models.JSONField(blank=True, default=dict, help_text="See `ReadingTask`.")),
                (
                    "model",
                    models.CharField(blank=True, help_text="Name of the model, if it was run here.", max_length=200),
                ),
                (
                    "weights",
                    models.CharField(
                        blank=True, help_text="SHA-256 of the model's files, if it was run here.", max_length=64
                    ),
                ),
            ],
            options={"ordering": ["id"]},
        ),
        migrations.AddField(
            model_name="review",
            name="metadata",
            field=models.JSONField(
                blank=True, default=dict, help_text="Fields of the source that have no column, by format."
            ),
        ),
        migrations.AddField(
            model_name="study",
            name="metadata",
            field=models.JSONField(
                blank=True, default=dict, help_text="Fields of the source that have no column, by format."
            ),
        ),
        migrations.AddField(
            model_name="target",
            name="is_withheld",
            field=models.BooleanField(
                default=False, help_text="The text is kept secret, as in MSLR's test set. It is not stored."
            ),
        ),
        migrations.AddConstraint(
            model_name="target",
            constraint=models.CheckConstraint(
                condition=models.Q(("is_withheld", False), ("text", ""), _connector="OR"),
                name="a_withheld_target_has_no_text",
            ),
        ),
        migrations.AddField(
            model_name="effectpair",
            name="imported",
            field=models.ForeignKey(
                blank=True,
                help_text="Import that created the row; null if a search or a person did.",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="projects.import",
            ),
        ),
        migrations.AddField(
            model_name="effectpair",
            name="review",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="effect_pairs",
                to="annotation.review",
            ),
        ),
        migrations.AddField(
            model_name="effect",
            name="pair",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="effects", to="annotation.effectpair"
            ),
        ),
        migrations.AddField(
            model_name="machinereading",
            name="imported",
            field=models.ForeignKey(
                blank=True,
                help_text="Import that created the row; null if a search or a person did.",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="projects.import",
            ),
        ),
        migrations.AddField(
            model_name="machinereading",
            name="inclusion",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="readings",
                to="annotation.inclusion",
            ),
        ),
        migrations.AddField(
            model_name="machinereading",
            name="review",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="readings",
                to="annotation.review",
            ),
        ),
        migrations.AddField(
            model_name="machinereading",
            name="study",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="readings",
                to="annotation.study",
            ),
        ),
        migrations.AddField(
            model_name="effect",
            name="reading",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="effects",
                to="annotation.machinereading",
            ),
        ),
        migrations.AddConstraint(
            model_name="effectpair",
            constraint=models.UniqueConstraint(fields=("review", "position"), name="one_effect_pair_per_position"),
        ),
        migrations.AddConstraint(
            model_name="machinereading",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("inclusion__isnull", True), ("review__isnull", False), ("study__isnull", True)),
                    models.Q(("inclusion__isnull", True), ("review__isnull", True), ("study__isnull", False)),
                    models.Q(("inclusion__isnull", False), ("review__isnull", True), ("study__isnull", True)),
                    _connector="OR",
                ),
                name="a_reading_is_of_one_text",
            ),
        ),
        migrations.AddConstraint(
            model_name="machinereading",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("task", "effects"), _negated=True), ("study__isnull", True), _connector="OR"
                ),
                name="effects_are_not_of_a_study",
            ),
        ),
        migrations.AddConstraint(
            model_name="machinereading",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("imported__isnull", False), ("weights", "")),
                    models.Q(("imported__isnull", True), models.Q(("weights", ""), _negated=True)),
                    _connector="OR",
                ),
                name="a_reading_has_one_origin",
            ),
        ),
        migrations.AddConstraint(
            model_name="machinereading",
            constraint=models.UniqueConstraint(
                condition=models.Q(("review__isnull", False)),
                fields=("review", "task", "weights"),
                name="one_reading_per_review_and_model",
            ),
        ),
        migrations.AddConstraint(
            model_name="machinereading",
            constraint=models.UniqueConstraint(
                condition=models.Q(("study__isnull", False)),
                fields=("study", "task", "weights"),
                name="one_reading_per_study_and_model",
            ),
        ),
        migrations.AddConstraint(
            model_name="machinereading",
            constraint=models.UniqueConstraint(
                condition=models.Q(("inclusion__isnull", False)),
                fields=("inclusion", "task", "weights"),
                name="one_reading_per_inclusion_and_model",
            ),
        ),
        migrations.AddConstraint(
            model_name="effect",
            constraint=models.UniqueConstraint(fields=("reading", "position"), name="one_effect_per_position"),
        ),
        migrations.AddConstraint(
            model_name="effect",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("end__isnull", True), ("start__isnull", True)),
                    ("start__lt", models.F("end")),
                    _connector="OR",
                ),
                name="evidence_of_an_effect_is_a_range",
            ),
        ),
    ]
