from django.db import migrations, models

#: (model, old name, new name)
FIELDS = [
    ("SentenceMark", "said", "label"),
    ("AssignedInput", "of", "assigned_evidence"),
    ("AssignedInput", "said", "judgement"),
    ("ListedStudy", "of", "study_list"),
    ("PubMedAccess", "sealed_key", "encrypted_key"),
    ("Finding", "said", "decision"),
    ("Finding", "because", "decision_reason"),
    ("Finding", "said_by", "decided_by"),
    ("Finding", "said_at", "decided_at"),
]
UNDECIDED = models.Q(decision="", decision_reason="", decided_at=None)
DECIDED = ~models.Q(decision="") & ~models.Q(decision_reason="") & models.Q(decided_at__isnull=False)


class Migration(migrations.Migration):
    """Rename fields to what they hold."""

    dependencies = [("annotation", "0003_pico_elements")]

    operations = [
        migrations.RemoveConstraint(model_name="AssignedInput", name="one_assignment_per_input"),
        migrations.RemoveConstraint(model_name="ListedStudy", name="one_listed_study_per_pmid"),
        migrations.RemoveConstraint(model_name="Finding", name="what_was_said_of_a_finding_has_a_reason"),
        *(migrations.RenameField(model_name=model, old_name=old, new_name=new) for model, old, new in FIELDS),
        migrations.RenameModel(old_name="PubMedTurn", new_name="PubMedRateLimit"),
        migrations.AlterModelOptions(name="AssignedInput", options={"ordering": ["assigned_evidence_id", "id"]}),
        migrations.AlterModelOptions(name="ListedStudy", options={"ordering": ["study_list_id", "position"]}),
        migrations.AddConstraint(
            model_name="AssignedInput",
            constraint=models.UniqueConstraint(
                fields=("assigned_evidence", "input"), name="one_judgement_per_assigned_input"
            ),
        ),
        migrations.AddConstraint(
            model_name="ListedStudy",
            constraint=models.UniqueConstraint(fields=("study_list", "pmid"), name="one_listed_study_per_pmid"),
        ),
        migrations.AddConstraint(
            model_name="Finding",
            constraint=models.CheckConstraint(
                condition=UNDECIDED | DECIDED, name="a_decision_on_a_finding_has_a_reason"
            ),
        ),
    ]
