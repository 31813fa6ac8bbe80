"""Units that a new version of a guideline concerns: current or answered with a stated value, under earlier versions."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import User
from annotation.models import Label
from api.problems import Refused
from projects.concerns.queries import GuidelineChange
from projects.curation.actions import correct
from projects.gold.actions import finish_round, imported_decision, insert_decisions
from projects.guidelines.actions import write_guideline
from projects.models import Answer, Assignment, Decision, Guideline, Import, Member, Origin, Project, Round, Unit
from projects.queue import queries as queue_queries
from projects.queue.actions import next_assignments
from projects.rounds.actions import close_round
from projects.staleness.actions import changed
from projects.stored_figures.actions import compute_and_store
from tests.builders import answer, build_cluster, build_round, label_value, skip

pytestmark = pytest.mark.django_db
WEAK, MODERATE, STRONG = (label_value("negative", modality) for modality in ("weak", "moderate", "strong"))
CLARIFIED = {"scope": "values", "concerns": [{"field": "modality", "values": ["weak"]}], "reason": "May is weak."}
SCOPES = ("", "wording", "values", "all")
PLANNED = "/api/v1/projects/eye/guideline-changes/planned/"
#: Value of each person, None to skip; one person's value alone stands for everybody's.
Values = Mapping[str, Sequence[dict[str, Any] | None]]


class Fixture:
    """Propositions that are named by their text, and rounds over a group of them."""

    def __init__(self, project: Project, people: Sequence[Member]) -> None:
        self.project, self.people = project, people
        self.units: dict[str, Unit] = {}

    def unit(self, group: str, name: str) -> Unit:
        if name not in self.units:
            cluster = build_cluster(self.project, len(self.units), inputs=0, text=f"[{group}] {name}")
            self.units[name] = cluster.propositions.get().unit
        return self.units[name]

    def round(
        self, name: str, group: str, values: Values, people: int = 3, *, closed: bool = True, **plan: Any
    ) -> Round:
        """Open a round over the group, answer it, and close it unless told otherwise."""
        for unit in values:
            self.unit(group, unit)
        workers = list(self.people[:people])
        plan = {"overlap": people, "filters": {"search": f"[{group}]"}} | plan
        round = build_round(self.project, workers, name=name, **plan)
        names = {unit.pk: name for name, unit in self.units.items()}
        for n, person in enumerate(workers):
            while held := next_assignments(user=person.user, round=round):
                of_people = values[names[held[0].unit_id]]
                value = of_people[n % len(of_people)]
                shown = queue_queries.cards(round, held[:1])[0]["references"] if round.meaning.shows_value else ()
                assert person.user
                if value is None:
                    skip(person.user, held[0])
                else:
                    answer(person.user, held[0], value, references=shown)
        if closed:
            close_round(round=round, by=None)
            round.refresh_from_db()
            finish_round(round=round, by=None)
        return round

    def names(self, units: Any) -> set[str]:
        by_id = {unit.pk: name for name, unit in self.units.items()}
        return {by_id[pk] for pk in units.values_list("pk", flat=True)}

    def write(self, **fields: Any) -> Guideline:
        return write_guideline(project=self.project, kind="label", text="New text", by=None, **fields)


@pytest.fixture
def people(project: Project, ann1: User, ann2: User, evaluator: User) -> list[Member]:
    Member.objects.filter(user=evaluator).update(role="annotator")
    return [Member.objects.get(project=project, user=u) for u in (ann1, ann2, evaluator)]


@pytest.fixture
def made(project: Project, people: list[Member]) -> Fixture:
    return Fixture(project, people)


@pytest.fixture
def by(project: Project, lead: User) -> Member:
    return Member.objects.get(project=project, user=lead)


def before_the_change(made: Fixture, by: Member) -> None:
    """Create values and answers under version 1."""
    made.round(
        "first",
        "a",
        {
            "all weak": [WEAK],
            "one of three weak": [MODERATE, WEAK, MODERATE],
            "none weak": [MODERATE],
            "corrected from weak": [WEAK],
            "corrected to weak": [MODERATE],
            "contested": [WEAK, MODERATE, STRONG],
            "curated from weak": [WEAK],
            "curated to weak": [STRONG],
            "stale": [WEAK],
            "superseded": [WEAK],
            "curated since": [WEAK],
            "confirmed since": [WEAK],
            "corrected since": [WEAK],
        },
    )
    made.round("second", "b", {"skipped": [None], "late": [WEAK], "revised": [WEAK]}, people=1, closed=False)
    late = Assignment.objects.get(unit=made.units["late"])
    Assignment.objects.filter(pk=late.pk).update(number=-late.pk)
    revised = Assignment.objects.get(unit=made.units["revised"])
    answer(made.people[0].user, revised, STRONG)
    made.round("study", "c", {"only measured": [WEAK, STRONG]}, people=2, purpose="measure only")
    made.round("running", "d", {"not closed": [WEAK]}, people=1, closed=False)
    shown = {"corrected from weak": [MODERATE], "corrected to weak": [WEAK]}
    for name, values in shown.items():
        key = made.units[name].proposition.cluster.key
        made.round(
            f"correct {name}", "a", {name: values}, people=1, purpose="review and correct", filters={"cluster": key}
        )
    for name, value in {"curated from weak": MODERATE, "curated to weak": WEAK, "curated other": STRONG}.items():
        correct(unit=made.unit("e", name), kind="label", value=value, reason="It is.", by=by)
    # A file without a guideline.
    unit = made.unit("f", "imported")
    source = Import.objects.create(
        project=made.project, format="m3", file_name="f", sha256="0" * 64, size=1, created_at=timezone.now()
    )
    Label.objects.create(unit=unit, imported=source, polarity="negative", modality="weak")
    insert_decisions(
        imported_decision(unit.pk, "label", f, source.pk, timezone.now()) for f in ("polarity", "modality")
    )
    # Decisions of another kind, and practice.
    weak = Answer.objects.filter(assignment__unit=made.units["all weak"]).first()
    insert_decisions(
        [
            Decision(
                unit=made.units["none weak"],
                kind="blind_check",
                field="modality",
                origin=Origin.SINGLE,
                answer=weak,
                decided_at=timezone.now(),
            )
        ]
    )
    key = made.units["none weak"].proposition.cluster.key
    made.round("practice", "a", {"none weak": [WEAK]}, people=1, purpose="practice", filters={"cluster": key})
    changed(units=[made.units["stale"]], what="tuple", reason="Another outcome.", by=by)
    Unit.objects.filter(pk=made.units["superseded"].pk).update(superseded_by=made.unit("g", "successor"))


CURRENT = {"all weak", "corrected to weak", "curated to weak", "stale", "imported"}
ONLY_ANSWERED = {
    "one of three weak",
    "corrected from weak",
    "curated from weak",
    "contested",
    "only measured",
    "not closed",
}
REVISITED = {"curated since", "confirmed since", "corrected since"}


def after_the_change(made: Fixture, by: Member) -> None:
    """Create values and answers under version 2."""
    correct(unit=made.units["curated since"], kind="label", value=MODERATE, reason="By version 2.", by=by)
    for name, value in {"confirmed since": WEAK, "corrected since": STRONG}.items():
        key = made.units[name].proposition.cluster.key
        made.round(
            f"since {name}", "a", {name: [value]}, people=1, purpose="review and correct", filters={"cluster": key}
        )
    made.round("new", "h", {"weak since": [WEAK]}, people=1)


def test_a_change_of_weak_concerns_exactly_the_units_with_a_weak_value_or_answer(made: Fixture, by: Member) -> None:
    before_the_change(made, by)
    change = GuidelineChange.planned(made.project, "label", "values", CLARIFIED["concerns"])  # type: ignore[arg-type]
    assert made.names(change.affected_current()) == CURRENT | REVISITED
    assert made.names(change.affected()) == CURRENT | ONLY_ANSWERED | REVISITED
    version = made.write(**CLARIFIED)
    after_the_change(made, by)
    change = GuidelineChange.of(version)
    assert made.names(change.affected_current()) == CURRENT
    assert made.names(change.affected()) == CURRENT | ONLY_ANSWERED
    assert made.names(change.concerned()) == CURRENT | ONLY_ANSWERED | REVISITED
    assert made.names(change.waiting()) == {"contested"}
    assert made.names(change.correctable()) == CURRENT | ONLY_ANSWERED - {"contested", "only measured", "not closed"}


def test_one_click_opens_a_correction_round_of_exactly_these_units(
    made: Fixture, by: Member, client_of: Callable[[User], APIClient], lead: User
) -> None:
    before_the_change(made, by)
    client = client_of(lead)
    version = made.write(**CLARIFIED)
    url = f"/api/v1/projects/eye/guidelines/{version.pk}/"
    proposal = client.get(f"{url}change/").json()
    found = proposal["figures"]
    assert (proposal["as_of"], proposal["job"]) == (None, None), "a small project is counted in the request"
    assert (found["concerned"], found["revisited"], found["changed"]) == (14, 0, 0)
    assert found["left"] == {"units": 14, "current": 8, "answered": 6}
    assert (found["correctable"], found["waiting"], found["assigned"]) == (11, 1, 0)
    assert [(r["name"], r["units"]) for r in found["waiting_in"]] == [("first", 1)]
    # The running round is the last one of the task that asks for the modality.
    assert proposal["people"] == [made.people[0].pk]
    made_ = client.post(f"{url}correction/", {"name": proposal["name"], "people": proposal["people"]}, format="json")
    assert made_.status_code == 201, made_.json()
    round = Round.objects.get(pk=made_.json()["id"])
    units = Unit.objects.filter(assignments__round=round)
    expected = CURRENT | REVISITED | {"one of three weak", "corrected from weak", "curated from weak"}
    assert made.names(units) == expected
    assert (round.purpose, round.guideline_id, round.overlap) == ("review and correct", version.pk, 1)
    assert round.sampling["filters"] == {"guideline_version": 2}
    assert round.sampling["guideline_change"] == {
        "version": 2,
        "scope": "values",
        "concerns": [{"field": "modality", "values": ["weak"]}],
    }
    shown = client.get(f"/api/v1/rounds/{round.pk}/").json()["revisits"]
    assert shown == {"number": 2, "concerns": ["modality: Weak"], "reason": "May is weak."}
    again = client.post(f"{url}correction/", {"name": "Again", "people": proposal["people"]}, format="json")
    assert again.status_code == 422, "the units are already assigned"

    names = {unit.pk: name for name, unit in made.units.items()}
    now_strong = {"all weak", "imported", "curated to weak"}
    while held := next_assignments(user=made.people[0].user, round=round):
        card = queue_queries.cards(round, held[:1])[0]
        value = STRONG if names[held[0].unit_id] in now_strong else card["value"]
        assert made.people[0].user
        answer(made.people[0].user, held[0], value, references=card["references"])
    close_round(round=round, by=None)
    round.refresh_from_db()
    finish_round(round=round, by=None)
    reply = client.get(f"{url}change/").json()
    found = reply["figures"]
    assert (found["concerned"], found["revisited"], found["changed"]) == (14, 11, 3)
    assert found["changes"] == [
        {"field": "modality", "title": "modality", "before": "Weak", "after": "Strong", "units": 3}
    ]
    assert found["left"] == {"units": 3, "current": 0, "answered": 3}
    assert reply["rounds"] == [{"id": round.pk, "name": round.name, "status": "closed"}]


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"scope": "values", "concerns": [], "reason": "x"}, "concerns"),
        ({"scope": "values", "concerns": [{"field": "tone", "values": []}], "reason": "x"}, "concerns"),
        ({"scope": "values", "concerns": [{"field": "modality", "values": ["tiny"]}], "reason": "x"}, "concerns"),
        ({"scope": "values", "concerns": [{"field": "modality", "values": []}] * 2, "reason": "x"}, "concerns"),
        ({"scope": "all", "concerns": [{"field": "modality", "values": []}], "reason": "x"}, "concerns"),
        ({"scope": "all", "reason": " "}, "reason"),
        (CLARIFIED | {"reason": ""}, "reason"),
    ],
)
def test_a_change_names_known_fields_and_values_and_a_reason(made: Fixture, fields: Any, field: str) -> None:
    made.write()
    with pytest.raises(Refused) as refused:
        made.write(**fields)
    assert refused.value.errors[0]["field"] == field


def test_a_first_version_and_a_change_of_wording_need_no_reason(made: Fixture) -> None:
    assert made.write(scope="all").reason == ""
    assert made.write(scope="wording").scope == "wording"


def test_all_concerns_every_answer_and_wording_none(made: Fixture) -> None:
    made.round("first", "a", {"weak": [WEAK], "strong": [STRONG]}, people=1)
    count = {scope: GuidelineChange.planned(made.project, "label", scope, []).affected().count() for scope in SCOPES}
    assert count == {"": 0, "wording": 0, "values": 0, "all": 2}


def test_a_field_without_values_is_concerned_with_any_value(made: Fixture) -> None:
    made.round("with", "a", {"cue": [WEAK]}, people=1)
    made.round("without", "b", {"no cue": [WEAK]}, people=1, purpose="measure only", options={"with_cues": False})
    whole = [{"field": "polarity_cue", "values": []}]
    assert made.names(GuidelineChange.planned(made.project, "label", "values", whole).affected()) == {"cue"}
    marked = [{"field": "polarity_cue", "values": ["marked"]}]
    assert made.names(GuidelineChange.planned(made.project, "label", "values", marked).affected()) == set()


def test_the_form_counts_before_anything_is_stored(
    made: Fixture, client_of: Callable[[User], APIClient], lead: User, ann1: User
) -> None:
    made.round("first", "a", {"weak": [WEAK], "one": [WEAK, STRONG, STRONG], "strong": [STRONG]})
    body = {"kind": "label", "scope": "values", "concerns": CLARIFIED["concerns"]}
    assert client_of(lead).post(PLANNED, body, format="json").json() == {"units": 2, "current": 1, "answered": 1}
    assert client_of(ann1).post(PLANNED, body, format="json").status_code == 403
    assert Guideline.objects.count() == 1


def test_figures_cost_the_same_however_many_units(
    made: Fixture, client_of: Callable[[User], APIClient], lead: User
) -> None:
    client = client_of(lead)

    def cost(name: str, units: int) -> int:
        made.round(name, name, {f"{name} {n}": [WEAK] for n in range(units)}, people=1)
        version = made.write(**CLARIFIED)
        made.round(
            f"{name} again",
            name,
            {f"{name} {n}": [STRONG] for n in range(units)},
            people=1,
            purpose="review and correct",
        )
        with CaptureQueriesContext(connection) as queries:
            found = client.get(f"/api/v1/projects/eye/guidelines/{version.pk}/change/").json()
        assert found["figures"]["changed"] >= units
        return len(queries)

    assert cost("few", 1) == cost("many", 6)


def test_a_large_project_shows_the_figures_that_a_job_stored(
    made: Fixture, client_of: Callable[[User], APIClient], lead: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    made.round("first", "a", {"weak": [WEAK], "strong": [STRONG]}, people=1)
    version = made.write(**CLARIFIED)
    client, url = client_of(lead), f"/api/v1/projects/eye/guidelines/{version.pk}/change/"
    now = client.get(url).json()["figures"]
    assert now["concerned"] == 1
    monkeypatch.setattr("projects.guideline_changes.queries.LARGE", 1)
    before = client.get(url).json()
    assert (before["figures"], before["as_of"], before["job"]["status"]) == (None, None, "queued")
    compute_and_store(project=made.project)
    with CaptureQueriesContext(connection) as queries:
        after = client.get(url).json()
    assert after["figures"] == now
    assert after["as_of"]
    assert not any("decision" in query["sql"] for query in queries), "nothing is counted in the request"


def test_a_curator_sees_the_version_that_concerns_a_contested_unit(
    made: Fixture, client_of: Callable[[User], APIClient], lead: User
) -> None:
    round = made.round(
        "first", "a", {"contested": [WEAK, MODERATE, STRONG], "other": [MODERATE, STRONG, label_value()]}
    )
    made.write(**CLARIFIED)
    client = client_of(lead)

    def notes(name: str) -> list[dict[str, Any]]:
        reply = client.get(f"/api/v1/rounds/{round.pk}/adjudication/{made.units[name].pk}/")
        found: list[dict[str, Any]] = reply.json()["guideline_changes"]
        return found

    assert notes("contested") == [{"number": 2, "concerns": ["modality: Weak"], "reason": "May is weak."}]
    assert notes("other") == []
