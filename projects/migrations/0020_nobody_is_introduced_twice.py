"""Whoever has answered in a kind is not introduced to it any more."""

from collections import defaultdict

from django.db import migrations
from django.db.models import Exists, OuterRef


def know(apps, schema_editor):
    Participant = apps.get_model("projects", "Participant")
    Assignment = apps.get_model("projects", "Assignment")
    User = apps.get_model("accounts", "User")
    answered = Assignment.objects.filter(
        round=OuterRef("round"), person=OuterRef("member"), current_answer__isnull=False
    )
    kinds = defaultdict(set)
    for user, kind in Participant.objects.filter(Exists(answered)).values_list("member__user", "round__kind"):
        kinds[user].add(kind)
    for user in User.objects.filter(pk__in=kinds):
        user.preferences = {**user.preferences, "introduced": sorted(kinds[user.pk])}
        user.save(update_fields=["preferences"])


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0005_verified_addresses"),
        ("projects", "0019_notifications"),
    ]

    operations = [migrations.RunPython(know, migrations.RunPython.noop)]
