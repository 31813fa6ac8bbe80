# mypy: ignore-errors
"""The script that wrote the rows of the first version's database, with that version's code.

    git archive FIRST_VERSION | tar -x -C ELSEWHERE      # then, in that folder, with a separate database:
    DEBUG=1 DATA_DIR=$(mktemp -d) python make_rows.py > tests/processes/first_rows.jsonl

Commit 603c496, the last one before the migrations were squashed, loaded that file (``load`` of its
tests/processes/old.py) and migrated. `release_rows.jsonl` has the rows after that, printed as `main` does.

The first line lists the applied migrations, every other line is a row: ``[table, {column: value}]``.
"""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import django

#: Tables that migrations fill, or that hold sessions.
LEFT_OUT = {"django_migrations", "django_content_type", "auth_permission", "django_session"}


def fill(home: Path) -> None:
    """Create at least one of everything: imports, rounds with fixed allocation and shared queue, corrections, skips,
    gold, a release, jobs."""
    from django.conf import settings
    from projects.actions.answers import next_hand
    from projects.actions.gold import correct  # type: ignore[attr-defined]  # where that version has it
    from projects.actions.guidelines import write_guideline
    from projects.actions.invitations import invite
    from projects.actions.people import add_member, create_project, remove_member
    from projects.actions.rounds import close_round
    from releases.actions import freeze

    from accounts.actions import make_sign_in_link, make_token
    from accounts.models import User
    from annotation.models import Study
    from audit.actions import seal_pending
    from projects import jobs  # type: ignore[attr-defined]  # where that version has it
    from projects.models import Member
    from tests.annotation.m3_files import cluster, import_records, plain, source, write
    from tests.builders import answer, build_cluster, build_round, label_value, skip

    settings.MEDIA_ROOT = home / "files"
    lead, ann1, ann2, gone = (
        User.objects.create_user(email=f"{name}@example.org", name=name.title())
        for name in ("lead", "ann1", "ann2", "gone")
    )
    project = create_project(name="Eye", slug="eye", by=lead, licence="CC0-1.0")
    for user, role in ((ann1, "annotator"), (ann2, "curator"), (gone, "annotator")):
        add_member(project=project, user=user, role=role, by=lead)
    members = {m.user_id: m for m in project.members.all()}
    studies = [source(), source("Nepralin did not reduce — \U0001d6fc — relapse.", "222", source_direction="no effect")]
    import_records(project, write(home / "3.jsonl", [cluster("26258610_0", studies), cluster("26258610_1")]), level="3")
    import_records(project, write(home / "1.jsonl", [plain("26258610", "A review.", ("111", "One."))]), level="1")
    build_cluster(project, inputs=2)
    write_guideline(project=project, kind="label", text="# Labels\n\nRead twice.", by=lead)

    gold = build_round(project, [members[ann1.pk], members[gone.pk]], name="gold", overlap=2)
    for n, user in enumerate((ann1, gone)):
        while hand := next_hand(user=user, round=gold):
            _say(user, hand[0], n, answer, skip, label_value)
    first = next_answer(gold, ann1)
    answer(ann1, first, label_value("negative", "weak"))  # a second revision
    close_round(round=gold, by=lead)
    _do_jobs(jobs)
    remove_member(member=members[gone.pk], by=lead)
    unit = project.units.filter(type="proposition").order_by("-pk")[0]
    correct(
        unit=unit,
        kind="label",
        value=label_value("positive", "strong"),
        reason="Read again.",
        by=Member.objects.get(project=project, user=ann2),
    )
    freeze(project=project, version="1.0.0", by=lead)

    pool = build_round(project, [members[ann1.pk], members[ann2.pk]], name="pool", overlap=1)
    for user in (ann1, ann2):
        _say(user, next_hand(user=user, round=pool)[0], 0, answer, skip, label_value)
    build_round(
        project, [members[ann1.pk], members[ann2.pk]], name="dealt", dealing="dealt", purpose="reliability", overlap=2
    )
    jobs.enqueue(project=project, kind="release", params={"version": "2.0.0"}, by=lead)
    invite(project=project, email="new@example.org", role="viewer", by=lead)
    make_sign_in_link(user=ann1)
    make_token(user=ann1, name="laptop")
    assert Study.objects.exists()
    seal_pending()
    _say(ann1, next_hand(user=ann1, round=pool)[0], 1, answer, skip, label_value)  # not in a checkpoint yet


def next_answer(round: Any, user: Any) -> Any:
    from projects.models import Assignment

    return Assignment.objects.filter(round=round, person__user=user, number__gte=1).order_by("pk").first()


def _say(user: Any, slot: Any, n: int, answer: Any, skip: Any, label_value: Any) -> None:
    if (slot.pk + n) % 5 == 0:
        skip(user, slot)
    else:
        answer(user, slot, label_value("positive" if (slot.pk + n) % 3 else "no effect"), comment="é" * (n % 2))


def _do_jobs(jobs: Any) -> None:
    while (pk := jobs.claim_next()) is not None:
        jobs.run_job(pk)


def main() -> None:
    django.setup()
    from django.core.management import call_command
    from django.db import connection
    from django.db.migrations.recorder import MigrationRecorder

    call_command("migrate", verbosity=0)
    with tempfile.TemporaryDirectory() as home:
        fill(Path(home))
    ours = ("accounts", "annotation", "audit", "projects", "releases")
    last = {app: name for app, name in sorted(MigrationRecorder(connection).applied_migrations()) if app in ours}
    print(json.dumps({"migrations": last}))
    with connection.cursor() as cursor:
        for table in sorted(connection.introspection.table_names()):
            if table in LEFT_OUT:
                continue
            cursor.execute(f'SELECT * FROM "{table}" ORDER BY 1')
            names = [column[0] for column in cursor.description]
            for row in cursor.fetchall():
                json.dump([table, dict(zip(names, row, strict=True))], sys.stdout, ensure_ascii=False, default=str)
                print()


if __name__ == "__main__":
    sys.path.insert(0, ".")
    import os

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    main()
