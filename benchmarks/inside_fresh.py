"""A round opened a moment ago, and what PostgreSQL's planner knows of it; each function runs with Concord set up."""

from benchmarks.inside_rounds import grow
from benchmarks.inside_rounds import people as annotators


def beside_older(units: int, texts: list[str], people: int, older: int, overlap: int) -> tuple[list[str], int]:
    """Sessions of so many annotators, and a fresh round over all units beside ``older`` closed ones."""
    from projects.actions.rounds import RoundPlan, open_round
    from projects.models import Member, Project

    grow(units=units, texts=texts, rounds=older, answered=units // 10)
    sessions = annotators(people)
    project = Project.objects.get(slug="bench")
    at_work = Member.objects.filter(project=project, pseudonym__startswith="A").values_list("pk", flat=True)
    plan = RoundPlan(name="fresh", kind="label", purpose="measure only", overlap=overlap, people=list(at_work))
    return sessions, open_round(project=project, by=None, plan=plan).pk


def analysed(never: bool) -> None:
    """Have the planner look at everything, or forget that it ever did."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
        if never:
            ours = "relnamespace = 'public'::regnamespace"
            cursor.execute(f"DELETE FROM pg_statistic USING pg_class c WHERE starelid = c.oid AND {ours}")
            cursor.execute(f"UPDATE pg_class SET relpages = 0, reltuples = -1 WHERE relkind IN ('r', 'i') AND {ours}")
