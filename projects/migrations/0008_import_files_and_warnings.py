from django.db import migrations

BATCH = 2_000


def copy(apps, schema_editor):
    """Give each import its file, and a row to each warning of its report.

    The report stays as it is, because digests cover it.
    """
    Import, File, Warning = (apps.get_model("projects", name) for name in ("Import", "ImportFile", "ImportWarning"))
    File.objects.bulk_create(
        (
            File(imported=row, position=0, name=row.file_name, sha256=row.sha256, size=row.size)
            for row in Import.objects.filter(files=None).defer("report").iterator(chunk_size=BATCH)
        ),
        batch_size=BATCH,
    )
    for pk in list(Import.objects.filter(warnings=None).values_list("pk", flat=True)):
        notices = Import.objects.get(pk=pk).report.get("notices", ())
        Warning.objects.bulk_create((Warning(imported_id=pk, **cut(notice)) for notice in notices), batch_size=BATCH)


def cut(notice):
    return notice | {"place": notice["place"][:60], "field": notice["field"][:200]}


class Migration(migrations.Migration):
    dependencies = [("projects", "0007_dismissed_jobs")]

    operations = [migrations.RunPython(copy, migrations.RunPython.noop)]
