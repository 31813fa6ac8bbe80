from datetime import timedelta

from django.db import migrations, models
from django.db.models import Q
from django.utils import timezone


def limit_lifetimes(apps, editor):
    """Let existing tokens keep their rights for 90 days. Revoked and expired tokens do not change."""
    latest = timezone.now() + timedelta(days=90)
    tokens = apps.get_model("accounts", "ApiToken").objects.filter(revoked_at=None)
    tokens.filter(Q(expires_at=None) | Q(expires_at__gt=latest)).update(expires_at=latest)


class Migration(migrations.Migration):
    dependencies = [("accounts", "0001_squashed_0005_verified_addresses")]

    operations = [
        migrations.AddField(
            "ApiToken",
            "scope",
            models.CharField(
                choices=[("read", "Read"), ("annotate", "Annotate"), ("lead", "Lead")],
                default="lead",
                help_text=(
                    "read: view what your role allows; annotate: also answer in rounds; "
                    "lead: all that your role may do."
                ),
                max_length=8,
            ),
        ),
        migrations.RunPython(limit_lifetimes, migrations.RunPython.noop),
    ]
