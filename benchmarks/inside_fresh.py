"""New rounds and planner statistics for `benchmarks.fresh`. The functions run in a process with Concord set up."""

from benchmarks.inside_rounds import grow
from benchmarks.inside_rounds import people as annotators


def beside_older(units: int, texts: list[str], people: int, older: int, overlap: int) -> tuple[list[str], int]:
    """Return the annotators' sessions and a new round over all units of a project with ``older`` closed rounds."""
    from projects.models import Member, Project
    from projects.rounds.actions import open_round
    from projects.rounds.planning import RoundPlan

    grow(units=units, texts=texts, rounds=older, answered=units // 10)
    sessions = annotators(people)
    project = Project.objects.get(slug="bench")
    at_work = Member.objects.filter(project=project, pseudonym__startswith="A").values_list("pk", flat=True)
    plan = RoundPlan(name="fresh", kind="label", purpose="measure only", overlap=overlap, people=list(at_work))
    return sessions, open_round(project=project, by=None, plan=plan).pk


def analysed(never: bool) -> None:
    """Analyse the database, or remove all planner statistics."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
        if never:
            ours = "relnamespace = 'public'::regnamespace"
            cursor.execute(f"DELETE FROM pg_statistic USING pg_class c WHERE starelid = c.oid AND {ours}")
            cursor.execute(f"UPDATE pg_class SET relpages = 0, reltuples = -1 WHERE relkind IN ('r', 'i') AND {ours}")
