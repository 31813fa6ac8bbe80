"""Some history for the illustrative project: a small reliability study by three robots, closed and measured."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from projects.background import jobs
from projects.models import Project, Role, Round

from .annotator import Annotator, Noise
from .client import Client
from .labels import Truth, guess
from .study import Study
from .transport import InProcess

ROUND = "Reliability study (robots)"
UNITS = 12
#: (address, name, how often it errs): robots say that they are.
ROBOTS = (
    ("robot1@example.org", "Robot One", 0.05),
    ("robot2@example.org", "Robot Two", 0.12),
    ("robot3@example.org", "Robot Three", 0.25),
)


def play_history(project: Project, *, truth: Truth = guess, units: int = UNITS) -> bool:
    """Invite three robots into a project and let them label a sample, measure only; False where that was done before.

    Goes through the API within this process, so no server need run. Gold is not touched.
    """
    if Round.objects.filter(project=project, name=ROUND).exists():
        return False
    lead = project.members.active().filter(role=Role.LEAD).select_related("user").order_by("pk").first()
    if lead is None:
        return False
    with quiet():
        _play(Study(Client(InProcess(lead.user)), project.slug, pump=do_waiting_jobs), project, truth, units)
    return True


def _play(study: Study, project: Project, truth: Truth, units: int) -> None:
    people = []
    for email, name, _ in ROBOTS:
        there = project.members.active().filter(user__email=email).select_related("user").first()
        if there:  # a history that was broken off
            people.append((there.pk, Client(InProcess(there.user))))
        else:
            joined = study.join(Client(InProcess()), email, name, token=False)
            people.append((joined.member, joined.client))
    round = study.open_round(
        ROUND, [member for member, _ in people], purpose="measure only", overlap=len(ROBOTS), sample=units, seed=7,
        dealing="dealt",
    )  # fmt: skip
    for seed, ((_, client), (_, _, share)) in enumerate(zip(people, ROBOTS, strict=True), start=1):
        Annotator(client, round, truth=truth, noise=Noise.of(share), seed=seed).work()
    study.close(round)


@contextmanager
def quiet() -> Iterator[None]:
    """Nobody at a terminal is helped by a line for each sign-in of a robot."""
    before = logging.root.manager.disable
    logging.disable(max(before, logging.WARNING))
    try:
        yield
    finally:
        logging.disable(before)


def do_waiting_jobs() -> None:
    """Do in this process what a worker would."""
    while (pk := jobs.claim_next()) is not None:
        jobs.run_job(pk)
