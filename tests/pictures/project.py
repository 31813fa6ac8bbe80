"""A project with every state that a page can show, for pictures.

With M3's published level 3 beside the checkout it has 381 clusters, else the clusters of the sample project. Labels,
ratings and people are simulated.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from django.utils import timezone

from accounts.models import User
from annotation.consistency.actions import queue_check
from annotation.imports.actions import check_files, import_files
from annotation.kinds.supersede import supersede_text
from annotation.models import Proposition
from operations.sample_project import PEOPLE, SAMPLE
from operations.sample_project import seed as seed_sample
from operations.simulation.annotator import Annotator, Noise
from operations.simulation.client import Client
from operations.simulation.history import do_waiting_jobs, play_history, quiet
from operations.simulation.labels import from_file, guess
from operations.simulation.ratings import play_ratings
from operations.simulation.transport import InProcess
from projects.guidelines.actions import latest_guideline, write_guideline
from projects.models import Job, JobStatus, Member, Project, Purpose, Role, Round
from projects.people.actions import add_member, create_project
from projects.rounds.actions import close_round, open_round
from projects.rounds.planning import RoundPlan
from projects.uploads.files import Source
from releases.publishing.actions import freeze
from tests.annotation import ms2_files

from . import ratings, tasks, trainings

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"
LEVEL3 = DATA / "m3" / "level3.jsonl"
MS2 = DATA / "ms2" / "sample.json"
SLUG = "eye"
LONG = (
    "Längsschnittuntersuchung der intravitrealen Anti-VEGF-Behandlung 👁️ قياس الاتفاق بين المقيمين في الدراسات السريرية "
    * 3
)
#: Name, people, share of the work done, noise, purpose, days since it was opened.
ROUNDS = (
    ("Polarity and modality, pilot 1", ("ann1", "ann2"), 1.0, 0.15, Purpose.RELIABILITY_STUDY, 40),
    ("Polarity and modality, pilot 2", ("ann1", "ann2", "ann3"), 1.0, 0.08, Purpose.RELIABILITY_STUDY, 33),
    ("Polarity and modality, final", ("ann1", "ann2"), 1.0, 0.06, Purpose.GOLD, 26),
    ("Polarity and modality, second half", ("ann2", "ann3"), 0.4, 0.06, Purpose.GOLD, 12),
    ("Directions of targets", ("ann1", "ann2"), 1.0, 0.05, Purpose.RELIABILITY_STUDY, 9),
    ("Corrections after the pilot", ("ann1",), 0.6, 0.0, Purpose.CORRECTION, 5),
    ("Practice for new people", ("ann3",), 0.5, 0.2, Purpose.PRACTICE, 3),
    (LONG[:80], ("ann1", "ann3"), 0.0, 0.0, Purpose.GOLD, 1),
)
#: Closed when they are complete. "Directions of targets" stays open, ready to be closed.
CLOSED = ("Polarity and modality, pilot 1", "Polarity and modality, pilot 2", "Polarity and modality, final")
#: Each makes a label and a relation stale.
STALE = 5
#: Share of answers with a flag in open rounds.
FLAGGED = 0.1


class Clock:
    """A clock that runs some days behind, so that rounds and answers have the dates of a project of weeks."""

    days = 0.0

    def now(self) -> datetime:
        return REAL_NOW() - timedelta(days=self.days)


REAL_NOW = timezone.now
CLOCK = Clock()


@contextmanager
def clock() -> Iterator[None]:
    with patch("django.utils.timezone.now", CLOCK.now):
        yield
    CLOCK.days = 0


def make() -> Project:
    """Make the sample project with its history and ratings, and the large project. Return the large one."""
    with quiet(), clock():
        CLOCK.days = 50
        sample = seed_sample().project
        play_history(sample)
        play_ratings(sample)
        lead = User.objects.get(email=PEOPLE[0].email)
        project = create_project(name="Eye M3", slug=SLUG, by=lead, description=LONG, licence="CC0-1.0")
        people = {"lead": Member.objects.get(project=project, user=lead)}
        for who, name, role in (
            ("ann1", "Anna Annotator", Role.ANNOTATOR),
            ("ann2", "Ben Annotator", Role.ANNOTATOR),
            ("ann3", LONG[:60], Role.ANNOTATOR),
            ("evaluator", "Eva Evaluator", Role.EVALUATOR),
            ("curator", "سارة كريم", Role.CURATOR),
        ):
            user = User.objects.filter(email=f"{who}@example.org").first()
            user = user or User.objects.create_user(email=f"{who}@example.org", name=name)
            people[who] = add_member(project=project, user=user, role=role, by=people["lead"].user)
        import_files(
            project=project,
            format="m3",
            checked=check_files(
                project=project, format="m3", sources=[Source.of(LEVEL3 if LEVEL3.exists() else SAMPLE)]
            ),
            by=lead,
        )
        for seed, (name, workers, share, noise, purpose, days) in enumerate(ROUNDS, start=1):
            CLOCK.days = days
            _work(project, name, [people[who] for who in workers], share, noise, purpose, seed, lead)
            if name == CLOSED[-1]:
                ratings.make(project, [people[who] for who in ("evaluator", "ann1", "ann2")], lead)
        do_waiting_jobs()
        _make_stale(project, people["lead"])
        queue_check(project=project, by=lead)
        text = latest_guideline(project, "label", by=lead).text
        write_guideline(project=project, kind="label", text=f"{text}\nWrite *no effect* for a null result.\n", by=lead)
        do_waiting_jobs()
        Job.objects.create(
            project=project,
            kind="consistency",
            status=JobStatus.FAILED,
            error="The worker ran out of memory at 180 of 381.",
            finished_at=timezone.now(),
        )
        do_waiting_jobs()
        freeze(project=project, version="1.0.0", by=lead)
        create_project(name="Empty project", slug="empty", by=lead, description="", licence="CC0-1.0")
        _make_ms2(lead)
        tasks.make()
        ratings.leave_runs(sample, lead)
        trainings.make(sample, lead)
    return project


def _make_ms2(by: User) -> None:
    """Make a project with the published review of MS^2, or with an invented one."""
    project = create_project(name="MS^2 sample", slug="ms2", by=by)
    with TemporaryDirectory() as folder:
        record = json.loads(MS2.read_text()) if MS2.exists() else ms2_files.review()
        ms2_files.import_records(project, ms2_files.write(Path(folder) / "reviews.jsonl", [record]))
    do_waiting_jobs()


def _work(
    project: Project, name: str, members: list[Member], share: float, noise: float, purpose: str, seed: int, lead: User
) -> None:
    plan = RoundPlan(
        name=name,
        kind="label",
        purpose=purpose,
        overlap=len(members),
        people=[m.pk for m in members],
        sample=40,
        seed=seed,
        allocation=Round.Allocation.FIXED,
    )
    round = open_round(project=project, plan=plan, by=lead)
    truth = from_file(LEVEL3) if LEVEL3.exists() else guess
    errors = replace(Noise.of(noise), flag=0.0 if name in CLOSED else FLAGGED)
    opened = CLOCK.days
    for number, member in enumerate(members, start=1):
        worker = Annotator(Client(InProcess(member.user)), round.pk, truth=truth, noise=errors, seed=10 * seed + number)
        # On four days; the later people work more slowly.
        for day in range(4):
            CLOCK.days = max(opened - day * number, 0)
            worker.work(limit=int(10 * share))
    if name in CLOSED:
        close_round(round=round, by=lead)
        do_waiting_jobs()


def _make_stale(project: Project, by: Member) -> None:
    labelled = Proposition.objects.filter(unit__project=project, unit__decisions__kind="label", position=1)
    for proposition in labelled.order_by("pk").distinct()[:STALE]:
        supersede_text(proposition=proposition, text=f"{proposition.text} (corrected)", reason="A typing error.", by=by)
