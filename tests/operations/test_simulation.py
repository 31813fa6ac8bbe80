"""The simulated annotator: valid labels, the requested error rate, reproducible bytes."""

import json
import random
from collections.abc import Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from accounts.models import User
from annotation.kinds.label.serializers import LabelValueSerializer
from measures import spans
from operations.sample_project import SAMPLE, seed
from operations.simulation.annotator import Annotator, Noise, disturbed
from operations.simulation.client import Client, GaveUp, NotDone
from operations.simulation.history import ROUND, UNITS, JobFailed, Study, play_history
from operations.simulation.labels import Thought, from_file, guess
from operations.simulation.transport import Broken, InProcess, Raw
from projects.models import Answer, Decision, Member, Project, Round
from tests.builders import TEXT, build_cluster, build_round


def items() -> Iterator[tuple[str, str]]:
    """Return (key, text) of every proposition of the sample corpus."""
    for line in SAMPLE.read_text(encoding="utf-8").splitlines():
        item = json.loads(line)
        texts = [item["target_text"], *(s["source_text"] for s in item["input_studies"])]
        yield from ((f"{item['docid']}/{n}", text) for n, text in enumerate(texts))


def is_sound(value: dict[str, Any], text: str) -> bool:
    serializer = LabelValueSerializer(data=value)
    for cue in ("polarity_cue", "modality_cue"):
        if fragments := value[cue]:
            spans.check_quotes(text, [(f["start"], f["end"]) for f in fragments], [f["quote"] for f in fragments])
    return serializer.is_valid()


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_noisy_values_are_always_valid(share: float) -> None:
    truth = from_file(SAMPLE)
    for key, text in items():
        card = {"unit": {"key": key}, "text": text}
        for thought in (truth(card), guess(card)):
            for n in range(10):
                value = disturbed(thought, text, Noise.of(share), random.Random(n)).value(text)
                assert is_sound(value, text), (key, value)


def test_simulated_annotators_err_as_often_as_their_noise_says() -> None:
    thought = Thought("positive", "weak", ((0, 7),))
    assert disturbed(thought, TEXT, Noise(), random.Random(1)) == thought
    rng = random.Random(5)
    said = [disturbed(thought, TEXT, Noise(polarity=0.2, dropped=0.5), rng) for _ in range(2000)]
    assert 0.17 < sum(s.polarity != "positive" for s in said) / 2000 < 0.23
    assert 0.46 < sum(not s.polarity_cue for s in said) / 2000 < 0.54
    assert {s.modality for s in said} == {"weak"}


def test_a_probability_above_one_is_refused() -> None:
    with pytest.raises(ValueError, match="jitter"):
        Noise(jitter=1.5)


def test_the_published_labels_are_found_by_unit() -> None:
    first = json.loads(SAMPLE.read_text(encoding="utf-8").splitlines()[0])
    thought = from_file(SAMPLE)({"unit": {"key": f"{first['docid']}/0"}, "text": first["target_text"]})
    assert thought.polarity == first["target_direction"]
    [(start, end)] = thought.polarity_cue
    assert first["target_text"][start:end] == first["target_direction_span"]


def test_a_file_of_another_form_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text('{"docid": 1}\n')
    with pytest.raises(ValueError, match="not in M3's level 3 format"):
        from_file(tmp_path / "x.jsonl")


class Flaky:
    """A connection that fails as planned and then works; it records what was sent."""

    address = "http://test"

    def __init__(self, *failures: Broken | int) -> None:
        self.failures = list(failures)
        self.bodies: list[bytes | None] = []

    def send(self, method: str, path: str, headers: Mapping[str, str], body: bytes | None) -> Raw:
        self.bodies.append(body)
        if self.failures:
            failure = self.failures.pop(0)
            if isinstance(failure, Broken):
                raise failure
            return Raw(failure, {}, b'{"detail": "no"}')
        done = {
            "answer": {"uuid": path.split("/")[-2], "assignment": 1, "revision": 1, "counted": True},
            "held": [],
            "fetched": [],
        }
        return Raw(200, {}, json.dumps(done).encode())

    def cookie(self, name: str) -> str:
        return ""


def test_an_answer_is_sent_again_byte_for_byte_until_it_is_acknowledged() -> None:
    flaky = Flaky(Broken("cut off", sent=True), 503, Broken("no server", sent=False), 500)
    client = Client(flaky, longest_wait=0.01)
    client.submit({"value": "é", "n": 1})
    assert len(flaky.bodies) == 5
    assert len(set(flaky.bodies)) == 1
    [done] = client.ledger.acknowledged.values()
    assert (done.sends, client.ledger.broken, client.ledger.replies_lost, client.ledger.in_flight) == (5, 1, 1, 0)


def test_a_refusal_is_not_repeated_and_not_acknowledged() -> None:
    flaky = Flaky(409)
    client = Client(flaky)
    with pytest.raises(NotDone, match="409: no"):
        client.submit({"n": 1})
    assert (len(flaky.bodies), client.ledger.acknowledged) == (1, {})
    assert len(client.ledger.sent) == 1


def test_a_client_gives_up_after_its_patience() -> None:
    flaky = Flaky(*[Broken("away", sent=False)] * 100)
    with pytest.raises(GaveUp, match="away"):
        Client(flaky, patience=0.05, longest_wait=0.01).submit({"n": 1})


def test_non_idempotent_requests_are_sent_once() -> None:
    flaky = Flaky(503)
    with pytest.raises(NotDone):
        Client(flaky).post("projects/", {})
    assert len(flaky.bodies) == 1


@pytest.mark.django_db
def test_a_simulated_annotator_answers_a_unit_alike_in_any_order(project: Project, ann1: User, ann2: User) -> None:
    for number in range(3):
        build_cluster(project, number)
    said: list[dict[str, Any]] = []
    for n, (user, order) in enumerate(((ann1, "corpus"), (ann2, "shuffled"))):
        round = build_round(project, [Member.objects.get(user=user)], name=f"r{n}", order=order, seed=3)
        robot = Annotator(Client(InProcess(user)), round.pk, noise=Noise(polarity=0.5, modality=0.5, skip=0.2), seed=9)
        assert robot.work() == 9
        assert robot.requests == 10
        answers = Answer.objects.filter(assignment__round=round).order_by("assignment__unit")
        said.append(
            {a.assignment.unit.key: (a.outcome, a.label.polarity if a.outcome == "answered" else "") for a in answers}
        )
    assert said[0] == said[1]
    assert len(set(said[0].values())) > 1


@pytest.mark.django_db
def test_the_illustrative_project_gets_some_history_once(tmp_path: Path, settings: Any) -> None:
    project = seed().project
    decisions = Decision.objects.count()
    assert play_history(project, truth=from_file(SAMPLE))
    round = Round.objects.get(project=project, name=ROUND)
    assert (round.status, round.purpose, round.units_count) == ("closed", "measure only", UNITS)
    assert Answer.objects.filter(assignment__round=round).count() == 3 * UNITS
    assert Decision.objects.count() == decisions, "a reliability study does not touch gold"
    came_in = User.objects.exclude(last_login=None).exclude(email__startswith="simulated")
    assert not came_in.exists(), "whoever comes in first is not told of a stranger"
    assert project.rounds.filter(status="open").count() == 1, "people have a round to work in"
    simulated = Member.objects.filter(project=project, user__email__startswith="simulated")
    assert [m.user.name for m in simulated.order_by("pk")] == ["Simulated One", "Simulated Two", "Simulated Three"]
    assert set(simulated.values_list("role", flat=True)) == {"annotator"}
    assert not play_history(project)
    assert Answer.objects.filter(assignment__round=round).count() == 3 * UNITS


@pytest.mark.django_db
def test_a_file_with_faults_ends_the_study_with_what_the_check_found(project: Project, lead: User) -> None:
    from operations.simulation.history import do_waiting_jobs

    study = Study(Client(InProcess(lead)), project.slug, pump=do_waiting_jobs)
    with pytest.raises(JobFailed):
        study.import_file("bad.jsonl", b'{"docid": 1}\n')


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"noise": 2.0, "email": "a@example.org"}, "Expected a probability from 0 to 1"),
        ({}, "Give --email"),
        ({"url": "nonsense", "email": "a@example.org"}, "is not a valid address"),
        ({"think": -1.0, "email": "a@example.org"}, "must not be negative"),
        ({"truth": Path("absent.jsonl"), "email": "a@example.org"}, "absent.jsonl"),
    ],
)
def test_the_command_says_in_one_line_what_is_wrong(
    options: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CONCORD_TOKEN", raising=False)
    monkeypatch.setattr("sys.stdin", StringIO("password\n"))
    with pytest.raises(CommandError, match=message):
        call_command("simulate", round=1, **options)


def test_the_old_name_of_the_command_works_with_a_deprecation_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("CONCORD_TOKEN", raising=False)
    with pytest.raises(CommandError, match="Give --email"):
        call_command("robot", round=1)
    assert "is now `simulate`" in capsys.readouterr().err
