from django.db import migrations, models
from django.db.models import F, Q


class Migration(migrations.Migration):
    """Rename fields, a model and indexes to the terms of the documentation. No stored value changes."""

    dependencies = [("projects", "0002_invitations_and_raters")]

    operations = [
        migrations.RemoveIndex("Job", "job_turn"),
        migrations.RenameField("Job", "turn", "virtual_time"),
        migrations.RenameField("Job", "asked", "is_requested"),
        migrations.AddIndex("Job", models.Index(fields=["status", "virtual_time"], name="job_virtual_time")),
        migrations.RemoveConstraint("Round", "a_hand_is_small"),
        migrations.RenameField("Round", "hand_size", "held_limit"),
        migrations.RenameField("Round", "dealing", "allocation"),
        migrations.AddConstraint(
            "Round",
            models.CheckConstraint(condition=Q(held_limit__gte=1, held_limit__lte=20), name="held_limit_is_small"),
        ),
        migrations.RenameIndex("Assignment", new_name="assignment_free", old_name="slot_free"),
        migrations.RenameIndex("Assignment", new_name="assignment_leased", old_name="slot_leased"),
        migrations.RenameIndex("Assignment", new_name="assignment_held", old_name="slot_in_hand"),
        migrations.RenameIndex("Assignment", new_name="assignment_answered", old_name="slot_answered"),
        migrations.RenameIndex("Assignment", new_name="assignment_of_answer", old_name="slot_of_answer"),
        migrations.RemoveConstraint("ParticipantLink", "a_link_has_a_place"),
        migrations.RemoveConstraint("ParticipantLink", "no_more_volunteers_than_places"),
        migrations.RemoveConstraint("ParticipantLink", "a_person_has_a_personal_link"),
        migrations.RenameField("ParticipantLink", "places", "capacity"),
        migrations.AddConstraint(
            "ParticipantLink", models.CheckConstraint(condition=Q(capacity__gte=1), name="link_capacity_is_positive")
        ),
        migrations.AddConstraint(
            "ParticipantLink",
            models.CheckConstraint(condition=Q(used__lte=F("capacity")), name="link_use_is_within_capacity"),
        ),
        migrations.AddConstraint(
            "ParticipantLink",
            models.CheckConstraint(
                condition=Q(member=None) | Q(capacity=1), name="a_person_has_a_personal_link"
            ),
        ),
        migrations.RenameModel("KeptAgreement", "StoredAgreement"),
        migrations.AlterField(
            "StoredAgreement",
            "round",
            models.OneToOneField(
                "projects.Round", on_delete=models.deletion.PROTECT, related_name="stored_agreement"
            ),
        ),
        # Texts only.
        migrations.AlterField(
            "Job",
            "virtual_time",
            models.PositiveBigIntegerField(
                default=0, help_text="Virtual time of weighted fair queueing. The lowest is next."
            ),
        ),
        migrations.AlterField(
            "Job",
            "weight",
            models.PositiveSmallIntegerField(
                default=8, help_text="Virtual time that the job takes from its project: short jobs weigh less."
            ),
        ),
        migrations.AlterField(
            "ParticipantLink",
            "used",
            models.PositiveIntegerField(default=0, help_text="Number of volunteers that accepted the link."),
        ),
        migrations.AlterField(
            "Round",
            "allocation",
            models.CharField(choices=[("dealt", "fixed allocation"), ("pool", "shared queue")], max_length=8),
        ),
        migrations.AlterField(
            "Round",
            "purpose",
            models.CharField(
                choices=[
                    ("gold", "gold standard"),
                    ("measure only", "reliability study"),
                    ("review and correct", "correction"),
                    ("practice", "practice"),
                    ("curation", "curation"),
                ],
                max_length=20,
            ),
        ),
    ]
