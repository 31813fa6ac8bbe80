from django.db import migrations
from django.db.models import Exists, OuterRef


def ask(apps, editor):
    """Have the figures of probes that ended before there was a place for them reckoned by a worker."""
    run, job = apps.get_model("generation", "Run"), apps.get_model("projects", "Job")
    done = apps.get_model("generation", "RunItem").objects.filter(run=OuterRef("pk"), status="done")
    ended = run.objects.filter(Exists(done), purpose="probe").exclude(status="running")
    job.objects.bulk_create(
        job(project_id=project, kind="reckon_probe", params={"run": pk})
        for pk, project in ended.values_list("pk", "version__system__project")
    )


class Migration(migrations.Migration):

    dependencies = [("generation", "0005_stored_figures"), ("projects", "0009_superseded_units")]

    operations = [migrations.RunPython(ask, migrations.RunPython.noop)]
