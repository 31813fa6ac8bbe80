"""Concurrent curators on the same cells: one wins, the others are told; repeated requests count once."""

import threading
import uuid
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.db import IntegrityError, OperationalError
from rest_framework.test import APIClient

from accounts.models import User
from annotation.kinds.evidence import current
from annotation.kinds.supersede import supersede_target
from annotation.models import Cluster, EvidencePair, Input, Proposition, Review, Target
from audit.verify import findings
from projects.curation.actions import correct, correct_all
from projects.gold.actions import finish_round
from projects.models import Answer, Assignment, Decision, Member, Project
from projects.queue.actions import next_assignments
from projects.rounds.actions import close_round
from projects.staleness import actions as staleness_actions
from tests.annotation.m3_files import cluster, import_records, write
from tests.annotation.test_evidence_kind import build_review, support
from tests.builders import answer, build_round
from tests.conftest import person
from tests.projects.test_contests import at_once

pytestmark = pytest.mark.django_db(transaction=True)
Client = Callable[[User], APIClient]
CURATORS = 4
LABEL = {"polarity": "negative", "modality": "moderate", "polarity_cue": [], "modality_cue": []}


@pytest.fixture
def curators(project: Project, tmp_path: Path) -> list[User]:
    import_records(project, write(tmp_path / "level3.jsonl", [cluster("26258610_0")]))
    users = [person(f"curator{n}") for n in range(CURATORS)]
    for n, user in enumerate(users):
        Member.objects.create(project=project, user=user, role="curator", pseudonym=f"C{n}")
    return users


def post(client: APIClient, address: str, body: dict[str, Any], replies: list[int]) -> None:
    try:
        replies.append(client.post(f"/api/v1/{address}", body, format="json").status_code)
    except OperationalError:  # SQLite, busy beyond its timeout: on a 503 the page would retry
        replies.append(503)


def test_concurrent_corrections_of_a_row_are_stored_once_and_others_conflict(
    curators: list[User], client_of: Client
) -> None:
    review = Review.objects.get()
    clients = [client_of(user) for user in curators]
    [shown] = clients[0].get(f"/api/v1/reviews/{review.pk}/curation/").json()["clusters"]
    rows = [
        {"unit": p["unit"], "kind": "label", "value": LABEL, "shown": 1, "seen": p["label"]["seen"]}
        for p in shown["propositions"]
    ]
    replies: list[int] = []
    address = f"reviews/{review.pk}/corrections/"
    bodies = [{"uuid": str(uuid.uuid4()), "reason": "Mine.", "rows": rows} for _ in clients]
    assert at_once(*(partial(post, c, address, b, replies) for c, b in zip(clients, bodies, strict=True))) == []
    assert replies.count(201) == 1, replies
    assert set(replies) <= {201, 409, 503}
    assert Answer.objects.count() == len(rows)
    assert len(set(Answer.objects.values_list("author", flat=True))) == 1
    assert Assignment.objects.filter(number=0).count() == len(rows)
    assert list(findings()) == []


def test_a_request_sent_several_times_at_once_is_carried_out_once(curators: list[User], client_of: Client) -> None:
    review = Review.objects.get()
    body = {"uuid": str(uuid.uuid4()), "rows": [{"text": "Nepralin helps.", "label": LABEL}]}
    replies: list[int] = []
    clients = [client_of(curators[0]) for _ in range(CURATORS)]
    assert at_once(*(partial(post, c, f"reviews/{review.pk}/clusters/", body, replies) for c in clients)) == []
    assert set(replies) <= {201, 503}
    assert 201 in replies
    assert sorted(Cluster.objects.values_list("key", flat=True)) == ["26258610_0", "26258610_1"]
    assert Decision.objects.filter(unit__key="26258610_1/0").count() == 4


def test_clusters_added_by_several_at_once_have_keys_of_their_own(curators: list[User], client_of: Client) -> None:
    review = Review.objects.get()
    replies: list[int] = []
    acts = [
        partial(
            post,
            client_of(user),
            f"reviews/{review.pk}/clusters/",
            {"uuid": str(uuid.uuid4()), "rows": [{"text": f"From {n}."}]},
            replies,
        )
        for n, user in enumerate(curators)
    ]
    assert at_once(*acts) == []
    assert set(replies) <= {201, 409, 503}
    assert Cluster.objects.count() == 1 + replies.count(201)
    assert len(set(Cluster.objects.values_list("key", flat=True))) == Cluster.objects.count()


@pytest.mark.parametrize(("clashes", "status"), [(1, 201), (9, 409)])
def test_conflicts_with_others_are_retried_and_then_reported(
    curators: list[User], client_of: Client, monkeypatch: pytest.MonkeyPatch, clashes: int, status: int
) -> None:
    """For example two decisions on two studies of one target, whose inputs have numbers in one sequence; also for
    scripts without a UUID."""
    tried: list[int] = []

    def clashing(*args: Any, **fields: Any) -> Any:
        tried.append(1)
        if len(tried) <= clashes:
            raise IntegrityError("one_input_per_position")
        return correct_all(*args, **fields)

    monkeypatch.setattr("projects.curation.views.correct_all", clashing)
    unit = Proposition.objects.order_by("pk")[0].unit_id
    body = {"kind": "label", "reason": "Mine.", "value": LABEL}
    for more in ({}, {"uuid": str(uuid.uuid4())}):
        tried.clear()
        reply = client_of(curators[0]).post(f"/api/v1/units/{unit}/corrections/", body | more, format="json")
        assert reply.status_code == status, reply.content
    assert Answer.objects.exists() == (status == 201)


class Pause:
    """Pauses one thread at a function until another has finished or waits for a lock."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, module: Any, name: str) -> None:
        self.reached, self.gone_on = threading.Event(), threading.Event()
        what = getattr(module, name)

        def halting(*args: Any, **named: Any) -> Any:
            self.reached.set()
            self.gone_on.wait(1)
            return what(*args, **named)

        monkeypatch.setattr(module, name, halting)

    def meanwhile(self, act: Callable[[], object]) -> None:
        assert self.reached.wait(30)
        act()
        self.gone_on.set()


@pytest.mark.parametrize("pauses", ["the correction", "the decision", "the forming of gold"])
def test_evidence_decided_during_a_correction_is_an_input_of_the_current_text(
    project: Project, lead: User, ann1: User, monkeypatch: pytest.MonkeyPatch, pauses: str
) -> None:
    build_review(project, studies=1, texts=("Nepralin reduces attacks.",))
    by, worker = (Member.objects.get(project=project, user=user) for user in (lead, ann1))
    round = build_round(project, [worker], kind="evidence")
    pair, target = EvidencePair.objects.select_related("unit").get(), Target.objects.select_related("unit").get()
    decide: Callable[[], object]
    if pauses == "the forming of gold":
        answer(ann1, next_assignments(user=ann1, round=round)[0], support(3), kind="evidence")
        close_round(round=round, by=lead)
        decide = partial(finish_round, round=round, by=lead)
    else:
        decide = partial(correct, unit=pair.unit, kind="evidence", value=support(3), reason="", by=by)
    reword = partial(supersede_target, target=target, text="It reduces attacks.", reason="Wrong.", by=by)
    if pauses == "the correction":
        pause = Pause(monkeypatch, staleness_actions, "superseded")
        assert at_once(reword, partial(pause.meanwhile, decide)) == []
    else:
        pause = Pause(monkeypatch, current, "_passages")
        assert at_once(decide, partial(pause.meanwhile, reword)) == []
    texts = Input.objects.current().filter(target__unit__superseded_by=None).values_list("target__text", "text")
    assert list(texts) == [("It reduces attacks.", "Nepralin reduced attacks of migraine.")]
