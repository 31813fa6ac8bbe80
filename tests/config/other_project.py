"""A second project with one object of each type, for tests of isolation between projects."""

import itertools
import uuid as uuids
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from django.utils import timezone

from accounts.actions import make_token
from accounts.models import ApiToken, User
from annotation.models import Cluster, DataSplit, EffectPair, Finding, SavedMapping, Search, Study
from audit.models import Entry
from evaluation.models import Judge, JudgeRun, ProtocolVersion, RatingDesign
from evaluation.protocols.actions import create_protocol
from generation.models import Embargo, FineTuning, ProjectEndpoint, Run
from projects.jobs import jobs
from projects.models import (
    Answer,
    Import,
    Invitation,
    Job,
    Member,
    ParticipantLink,
    Project,
    Recruit,
    Recruitment,
    Round,
)
from projects.participation.actions import add_volunteer, make_links
from projects.people.invitations import invite
from projects.queue.actions import next_assignments
from projects.recruitment.actions import add_recruit
from projects.recruitment.ids import PARAMETERS, Ids
from releases.models import Release
from releases.publishing.actions import freeze
from tests.builders import answer, build_cluster, build_finding, build_round, build_split, label_value
from tests.evaluation.rating_rounds import open_rating
from tests.generation.builders import build_run, build_version

_count = itertools.count()
#: A protocol without criteria.
CONTENT = {"schema": 1, "kind": "rate"}
#: Id of a person on a recruitment platform, which only leads see.
EXTERNAL_ID = "pid-5f3c9b2a1d-only-for-leads"


@dataclass
class OtherProject:
    """A project with one object of each type that has an address."""

    project: Project
    owner: User
    worker: Member
    cluster: Cluster
    study: Study
    round: Round
    answer: Answer
    invitation: Invitation
    imported: Import
    mapping: SavedMapping
    job: Job
    release: Release
    token: ApiToken
    link: ParticipantLink
    run: Run
    embargo: Embargo
    endpoint: ProjectEndpoint
    rated: Round
    judge_run: JudgeRun
    protocol: ProtocolVersion
    finding: Finding
    pair: EffectPair
    search: Search
    split: DataSplit
    training: FineTuning
    recruit: Recruit

    def recruit_ids(self) -> dict[str, Any]:
        return {"round_id": self.round.pk, "link_id": self.recruit.recruitment.link_id}

    def submission(self) -> dict[str, Any]:
        """Return a valid submission for the assignment of the project's one answer."""
        return {
            "assignment": self.answer.assignment_id,
            "revision": 0,
            "kind": "label",
            "outcome": "answered",
            "shown": 1,
            "value": label_value(),
            "have": [],
        }

    def state(self) -> dict[str, Any]:
        """Return what must not change when others try."""
        p = self.project
        return {
            "project": list(Project.objects.filter(pk=p.pk).values()),
            "members": list(p.members.order_by("pk").values()),
            "rounds": list(p.rounds.order_by("pk").values("pk", "status", "name", "created_by")),
            "participants": list(self.round.participants.order_by("pk").values("member", "left_at")),
            "answers": list(Answer.objects.filter(assignment__round__project=p).order_by("pk").values()),
            "slots": list(self.round.assignments.order_by("pk").values("pk", "person", "number", "revision")),
            "guidelines": p.guidelines.count(),
            "invitations": list(p.invitations.order_by("pk").values("pk", "revoked_at", "accepted_at")),
            "jobs": list(p.jobs.order_by("pk").values("pk", "status", "cancel_requested")),
            "releases": list(Release.objects.filter(project=p).values_list("pk", "version")),
            "imports": p.imports.count(),
            "mappings": list(p.mappings.values()),
            "log": Entry.objects.filter(project=p.pk).count(),
            "links": list(self.round.participant_links.order_by("pk").values()),
            "recruits": list(
                Recruit.objects.filter(link__round__project=p).values("pk", "state", "external__external_id")
            ),
            "systems": list(p.systems.order_by("pk").values("pk", "name", "versions__hash")),
            "runs": list(Run.objects.filter(version__system__project=p).order_by("pk").values()),
            "endpoints": list(p.endpoints.order_by("pk").values()),
            "judges": list(JudgeRun.objects.of_project(p.pk).order_by("pk").values("pk", "state", "judge", "job")),
            "embargoes": list(Embargo.objects.filter(member__project=p).order_by("pk").values()),
            "protocols": list(p.protocols.order_by("pk").values("pk", "name", "versions__digest")),
            "findings": list(p.findings.order_by("pk").values("pk", "decision")),
            "searches": list(p.searches.order_by("pk").values()),
            "splits": list(p.splits.order_by("pk").values()),
            "trainings": list(p.fine_tunings.order_by("pk").values()),
            "tokens": list(ApiToken.objects.filter(user=self.owner).values("pk", "revoked_at")),
        }


def make_other_project(project: Project | None = None, owner: User | None = None) -> OtherProject:
    """Fill a project, by default a new one with its own members."""
    n = next(_count)
    owner = owner or User.objects.create_user(email=f"owner{n}@example.org", name="Ottilie Owner")
    user = User.objects.create_user(email=f"worker{n}@example.org", name="Wendelin Worker")
    if project is None:
        project = Project.objects.create(slug=f"world{n}", name="World", licence="CC0-1.0")
        Member.objects.create(project=project, user=owner, role="lead", pseudonym=f"O{n}")
    worker = Member.objects.create(project=project, user=user, role="annotator", pseudonym=f"W{n}")
    cluster = build_cluster(project, number=100 + n)
    people = [worker, project.members.get(user=owner)]
    round = build_round(project, people, name=f"round {n}")
    split = build_split(project)
    run = build_run(build_version(project, f"system {n}", by=owner), {cluster.unit_id: "A summary."})
    embargo = Embargo.objects.create(run=run, member=worker)
    rated = open_rating(project, [worker], [run], name=f"ratings {n}")
    return OtherProject(
        project=project,
        owner=owner,
        worker=worker,
        cluster=cluster,
        study=Study.objects.filter(project=project).order_by("-pk")[0],
        round=round,
        answer=answer(user, next_assignments(user=user, round=round)[0]).answer,
        invitation=invite(project=project, email=f"invited{n}@example.org", role="viewer", by=owner)[0],
        imported=Import.objects.create(
            project=project,
            format="m3",
            level="3",
            file_name="f",
            sha256=uuids.uuid4().hex * 2,
            size=1,
            counts={},
            report={"totals": {}, "values": {}, "notices": []},
            created_by=owner,
            created_at=timezone.now(),
        ),
        mapping=SavedMapping.objects.create(
            project=project, name="answers", content='{"columns": {}}', created_by=owner, changed_at=timezone.now()
        ),
        job=jobs.enqueue(project=project, kind="finish_round", params={"round": round.pk}, by=owner),
        release=released(project, f"1.0.{n}", owner),
        token=make_token(user=owner, name="mine")[0],
        link=make_links(round=round, by=owner, labels=["Volunteer 1"])[0][0],
        run=run,
        embargo=embargo,
        endpoint=ProjectEndpoint.objects.create(project=project, name=f"models-{n}", url="https://models.example"),
        rated=rated,
        judge_run=build_judge_run(rated, f"Zaqjudge {n}"),
        protocol=create_protocol(project=project, name=f"protocol {n}", content=CONTENT, by=owner),
        finding=build_finding(project, cluster.unit_id, rule="relation"),
        pair=EffectPair.objects.create(review=cluster.review, position=0, intervention="nepralin", outcome="relapse"),
        search=Search.objects.create(project=project, query="relapse", state="stopped", created_by=owner),
        split=split,
        recruit=build_recruit(round, owner),
        training=FineTuning.objects.create(project=project, name="BART", trainer="seq2seq", split=split, config={}),
    )


def build_judge_run(rated: Round, name: str) -> JudgeRun:
    """Create a judge, and a run of it that was stopped at once."""
    judge = Judge.objects.create(
        project=rated.project,
        name=name,
        number=1,
        endpoint="lab",
        model="zaqmodel",
        prompt={"template": "concord-judge 2", "extra": "", "reasons": True},
        decoding={
            "temperature": 0,
            "max_tokens": 99,
            "seed": 0,
            "send_seed": True,
            "json_mode": False,
            "retries": 1,
            "timeout": 9,
        },
        facts={"base URL": "https://zaqhost.example/v1"},
        digest=f"{rated.pk:064d}",
    )
    return JudgeRun.objects.create(
        judge=judge,
        design=RatingDesign.objects.get(round=rated),
        both_orders=False,
        requests_count=1,
        host="zaqhost.example",
        is_outside=True,
        licences={"allowed": 0, "forbidden": 0, "unknown": 1},
        salt="0" * 32,
        state="stopped",
    )


def build_recruit(round: Round, lead: User) -> Recruit:
    """Create a link for a recruitment platform, and a person who came by it and has not entered the round."""
    settings = {"platform": "prolific", "parameters": dict(PARAMETERS["prolific"]), "ends": {"completed": "DONE"}}
    link = make_links(round=round, by=lead, labels=["Crowd"], capacity=9, recruitment=settings)[0][0]
    now = timezone.now()
    ParticipantLink.objects.filter(pk=link.pk).update(used=1)  # the round has no free unit
    own_link, _ = add_volunteer(link, now)
    return add_recruit(Recruitment.objects.get(link=link), own_link, Ids(EXTERNAL_ID), now)


def released(project: Project, version: str, by: User) -> Release:
    """Freeze a release without the snapshot's own transaction, since a test runs in one already."""
    with patch("releases.publishing.actions.snapshot", nullcontext):
        return freeze(project=project, version=version, by=by)
