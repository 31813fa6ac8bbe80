import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import Q
from django.utils import timezone


def notify_owners(apps, editor):
    """Tell the owners of API tokens when their tokens expire (see ``accounts.0002_token_scope``)."""
    now = timezone.now()
    expiries: dict[int, object] = {}
    tokens = apps.get_model("accounts", "ApiToken").objects.filter(revoked_at=None, expires_at__gt=now)
    for user, expires_at in tokens.values_list("user", "expires_at"):
        expiries[user] = max(expiries.get(user, expires_at), expires_at)
    notification = apps.get_model("projects", "Notification")
    notification.objects.bulk_create(
        notification(
            user_id=user,
            what="tokens",
            subject=f"Your API tokens expire by {latest:%d %b %Y}. Create new ones.",
            path="/profile",
            at=now,
        )
        for user, latest in expiries.items()
    )


def delete_notifications(apps, editor):
    apps.get_model("projects", "Notification").objects.filter(project=None).delete()


class Migration(migrations.Migration):
    """Store links of invitations, imported raters without accounts, and notifications that concern no project."""

    dependencies = [
        ("accounts", "0002_token_scope"),
        ("projects", "0001_squashed_0024_decisions_that_wait"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            "Invitation",
            "encrypted_token",
            models.TextField(blank=True, help_text="Empty once the invitation is accepted or revoked."),
        ),
        migrations.AddField(
            "Member",
            "rater",
            models.CharField(
                blank=True,
                default="",
                help_text="Name of an imported rater, who has no account.",
                max_length=200,
            ),
        ),
        migrations.AlterField(
            "Member",
            "user",
            models.ForeignKey(
                settings.AUTH_USER_MODEL,
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="memberships",
            ),
        ),
        migrations.AddConstraint(
            "Member",
            models.UniqueConstraint(
                condition=Q(user__isnull=True), fields=("project", "rater"), name="one_member_per_imported_rater"
            ),
        ),
        migrations.AddConstraint(
            "Member",
            models.CheckConstraint(
                condition=Q(rater__gt="", user__isnull=True) | Q(rater="", user__isnull=False),
                name="a_member_has_an_account_or_is_an_imported_rater",
            ),
        ),
        migrations.AddField(
            "Round",
            "rater_group",
            models.CharField(
                blank=True,
                default="",
                help_text="Raters' group (experts, crowd) in an imported file.",
                max_length=60,
            ),
        ),
        migrations.AlterField(
            "Notification",
            "project",
            models.ForeignKey(
                "projects.Project",
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
            ),
        ),
        migrations.RunPython(notify_owners, delete_notifications),
    ]
