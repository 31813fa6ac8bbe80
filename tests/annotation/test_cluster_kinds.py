"""The kinds for clusters: the PICO tuple and the relation between inputs."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.models import User
from annotation.kinds.supersede import supersede_text
from annotation.kinds.tuple.kind import TupleKind
from annotation.models import Cluster, PicoFragment, PicoTuple, Review, Target
from api.problems import Refused
from audit.verify import findings
from measures.agreement import coded
from measures.text_agreement import compared
from projects import kinds
from projects.curation.actions import confirm, correct
from projects.gold.actions import finish_round
from projects.gold.queries import current_decisions
from projects.models import Member, Project, Round, Unit
from projects.queue.actions import next_assignments
from projects.queue.queries import cards
from projects.rounds import choosing
from projects.rounds.actions import close_round
from projects.staleness.actions import stale_units
from tests.annotation.m3_files import checked, cluster, import_records, source, write
from tests.builders import answer, build_cluster, build_round

pytestmark = pytest.mark.django_db
Client = Callable[[User], APIClient]
Json = dict[str, Any]
PICO = "pico"


def test_every_kind_knows_the_review_of_each_of_its_units(
    project: Project, django_assert_num_queries: Callable[[int], AbstractContextManager[object]]
) -> None:
    """Intervals of agreement are clustered by review."""
    made = [build_cluster(project, number) for number in range(2)]
    Review.objects.update(abstract="What some kinds are asked of.")
    for number, one in enumerate(made):
        Target.objects.create(
            project=project,
            review=one.review,
            level="sentence",
            key=one.key,
            position=number,
            text="Another sort.",
            unit=Unit.objects.create(project=project, type="target sentence", key=one.key),
        )
    # Kinds with their own units (pages, blind texts, pairs with studies) have their own tests.
    here = [
        k
        for k in kinds.all_kinds()
        if type(k).__module__.startswith("annotation.")
        and not k.blind
        and (types := {unit.type for unit in k.units(project)})
        and types <= set(k.unit_types)
    ]
    for kind in here:
        units = dict(kind.units(project).values_list("pk", "key"))
        with django_assert_num_queries(1):
            found = kind.reviews(units)
        # A unit is a review, or its key names its cluster.
        assert {units[pk]: review for pk, review in found.items()} == {
            key: next(c.review.pmid for c in made if key == c.review.pmid or key.startswith(c.key))
            for key in units.values()
        }


def tuple_value(**texts: str) -> Json:
    value: Json = {slot: {"text": texts.get(slot, ""), "fragments": []} for slot in PICO}
    return value | {"c": value["c"] | {"stands_for": texts.get("stands_for", "")}}


@pytest.fixture
def people(project: Project, lead: User, ann1: User, ann2: User) -> list[Member]:
    return [Member.objects.get(project=project, user=u) for u in (lead, ann1, ann2)]


@pytest.fixture
def first(corpus: Project) -> Cluster:
    return Cluster.objects.get(key="26258610_0")


def say(project: Project, people: list[Member], kind: str, values: list[Json], **plan: Any) -> Round:
    """Each person answers for the first cluster; the round is closed and finished."""
    round = build_round(project, people, kind=kind, overlap=len(people), filters={"cluster": "26258610_0"}, **plan)
    for person, value in zip(people, values, strict=True):
        answer(person.user, next_assignments(user=person.user, round=round)[0], value, kind=kind)
    close_round(round=round, by=people[0].user)
    round.refresh_from_db()
    finish_round(round=round, by=people[0].user)
    return round


def slots(cluster: Cluster) -> dict[str, tuple[str, str]]:
    return {s.element: (s.text, s.form) for s in cluster.pico.all()}


# Tuples


def test_spaces_around_a_typed_element_are_removed(
    corpus: Project, people: list[Member], first: Cluster, client_of: Client
) -> None:
    typed = {
        slot: {"text": text} for slot, text in zip(PICO, ("  ", " nepralin ", " [placebo]", "relapse "), strict=True)
    }
    reply = client_of(people[0].user).post(
        f"/api/v1/units/{first.unit_id}/corrections/",
        {"kind": "tuple", "value": typed, "reason": "As typed."},
        format="json",
    )
    assert reply.status_code in (200, 201), reply.json()
    # Text that differs in spaces only is kept; only retyped elements are decided.
    assert slots(first) == {
        "p": ("", "blank"),
        "i": ("nepralin", "explicit"),
        "c": ("[placebo]", "implied"),
        "o": ("relapse", "explicit"),
    }
    assert {d.origin for d in first.unit.decisions.all()} == {"imported"}


def test_an_imported_element_keeps_its_spaces_until_it_is_edited(
    project: Project, file: Path, people: list[Member]
) -> None:
    pico = {"p": "", "i": "nepralin ", "c": "[placebo]", "o": "relapse"}
    import_records(project, write(file, [cluster("7_0", pico=pico)]))
    made = Cluster.objects.get(key="7_0")
    correct(
        unit=made.unit,
        kind="tuple",
        value=tuple_value(i="nepralin", c="[placebo]", o="risk"),
        reason="So.",
        by=people[0],
    )
    assert (slots(made)["i"][0], slots(made)["o"][0]) == ("nepralin ", "risk")
    assert [d.field for d in made.unit.decisions.filter(origin="decided by a curator")] == ["o"]


def test_a_decided_tuple_is_used_by_cards_search_and_releases(
    corpus: Project, people: list[Member], first: Cluster
) -> None:
    said = tuple_value(p="[adults]", i="nepralin", c="", o="risk of relapse", stands_for="none")
    say(corpus, people, "tuple", [said, said, tuple_value(i="Nepralin ", o="relapse")])
    assert slots(first) == {
        "p": ("[adults]", "implied"),
        "i": ("nepralin", "explicit"),
        "c": ("", "blank"),
        "o": ("risk of relapse", "reworded"),
    }
    assert first.pico.get(element="c").stands_for == "none"
    origins = {field: d.origin for (_, field), d in current_decisions([first.unit_id], "tuple").items()}
    assert origins == {"p": "by majority", "i": "unanimous", "c": "by majority", "o": "by majority"}
    assert list(Cluster.objects.found_by("[ADULTS]")) == [first]
    assert list(findings()) == []


def test_an_element_without_a_majority_stays_unchanged(corpus: Project, people: list[Member], first: Cluster) -> None:
    values = [tuple_value(i="nepralin", o=o) for o in ("relapse", "relapses", "reduces relapse")]
    say(corpus, people, "tuple", values)
    assert slots(first)["o"] == ("relapse", "explicit")
    assert slots(first)["c"] == ("", "blank")


def test_an_imported_tuple_stays_traceable_when_another_takes_its_place(
    corpus: Project, people: list[Member], first: Cluster, lead: User, client_of: Client, file: Path
) -> None:
    again = write(file.with_name("again.jsonl"), [cluster("26258610_0")])
    made = correct(
        unit=first.unit, kind="tuple", value=tuple_value(i="nepralin", o="relapse"), reason="Stated.", by=people[0]
    )
    assert [d.field for d in made] == ["c"]
    assert {t.imported_id is not None for t in PicoTuple.objects.filter(unit=first.unit)} == {True, False}
    history = client_of(lead).get(f"/api/v1/clusters/{first.pk}/").json()["history"]
    told = [(h["origin"], h["value"]) for h in history if (h["kind"], h["field"]) == ("tuple", "c")]
    assert told == [("imported", "[placebo]"), ("decided by a curator", "blank")]
    found = checked(corpus, again)
    assert not found.faults
    assert found.parsed[0][1].counts()["unchanged"] == 1, "the same file changes nothing"


def test_a_changed_tuple_makes_labels_and_relation_stale_but_the_same_one_nothing(
    corpus: Project, people: list[Member], first: Cluster
) -> None:
    same = tuple_value(i="nepralin", c="[placebo]", o="relapse")
    units = [first.unit_id, *first.propositions.values_list("unit", flat=True)]
    assert correct(unit=first.unit, kind="tuple", value=same, reason="", by=people[0]) == []
    assert stale_units(units) == set()
    correct(unit=first.unit, kind="tuple", value=same | {"p": same["i"]}, reason="Who?", by=people[0])
    assert stale_units(units) == {(units[0], "discourse"), (units[1], "label"), (units[2], "label")}


def test_marked_pieces_must_be_in_the_text(people: list[Member], first: Cluster) -> None:
    kind, text = TupleKind(), "The review shows that nepralin reduces relapse."
    pieces = [{"start": 4, "end": 10, "quote": "review"}, {"start": 22, "end": 30, "quote": "nepralin"}]
    value = tuple_value(o="relapse") | {"i": {"text": "review nepralin", "fragments": pieces}}
    correct(unit=first.unit, kind="tuple", value=value, reason="Marked.", by=people[0])
    placed = PicoFragment.objects.filter(element__cluster=first, element__element="i").values_list("start", "end")
    assert [text[s:e] for s, e in placed] == ["review", "nepralin"]
    assert slots(first)["i"] == ("review nepralin", "explicit")
    with pytest.raises(Refused) as refused:
        kind.check(
            kinds.curator_assignment(first.unit, kind.key, None),
            value | {"o": {"text": "x", "fragments": [{"start": 0, "end": 3, "quote": "She"}]}},
        )
    assert refused.value.errors[0]["field"] == "value.o.fragments"


@pytest.mark.parametrize(
    ("value", "field"),
    [
        ({}, "i"),
        ({"i": {"text": "  "}}, "i"),
        ({"i": {"text": "x"}, "c": {"text": "y", "stands_for": "none"}}, "c.stands_for"),
        ({"i": {"text": "x", "fragments": [{"start": 0, "end": 1, "quote": "y"}]}}, "i.text"),
        ({"i": {"text": "x"}, "c": {"text": "", "stands_for": "water"}}, "c.stands_for"),
    ],
)
def test_invalid_tuples_are_refused_by_field(
    lead: User, client_of: Client, first: Cluster, value: Json, field: str
) -> None:
    whole = {slot: {"text": ""} for slot in PICO} | value
    reply = client_of(lead).post(
        f"/api/v1/units/{first.unit_id}/corrections/", {"kind": "tuple", "value": whole, "reason": "x"}, format="json"
    )
    assert (reply.status_code, reply.json()["errors"][0]["field"]) == (422, f"value.{field}")


def test_people_see_the_current_tuple_only_in_correction_rounds(
    corpus: Project, people: list[Member], first: Cluster
) -> None:
    shown = {}
    for purpose in ("gold", "review and correct"):
        round = build_round(corpus, people[1:2], kind="tuple", name=purpose, purpose=purpose)
        [card, *_] = cards(round, next_assignments(user=people[1].user, round=round))
        shown[purpose] = card["current"]
        assert card["text"] == "The review shows that nepralin reduces relapse."
    assert shown["gold"] is None
    assert [s["text"] for s in shown["review and correct"]] == ["", "nepralin", "[placebo]", "relapse"]


def test_agreement_on_tuples_is_reported_by_element() -> None:
    kind = TupleKind()
    said = [
        ("u", "a", kind.row(tuple_value(i="nepralin", o="risk of relapse"))),
        ("u", "b", kind.row(tuple_value(i="Nepralin", o="relapse"))),
    ]
    found = {(a.name, a.method): a for a in compared(kind.comparisons, said, {})}
    assert found["I slot", "share of same texts"].value == 1
    assert found["O slot", "mean pairwise F1 of words"].value == pytest.approx(2 * 1 / 4)
    assert (found["P slot", "share of same texts"].value, found["P slot", "share of same texts"].both_empty) == (
        None,
        1,
    )
    assert found["tuple", "share of same tuples"].value == 0
    assert ("u", "a", "blank") in coded(kind.scales, said)["c: blank"]
    assert ("u", "a", "given") in coded(kind.scales, said)["i: blank"]
    assert compared(kind.comparisons, [], {})[0].undefined == "not enough ratings"


# Relations


def test_a_relation_that_a_round_decides_is_gold_and_its_agreement_is_measured(
    corpus: Project, people: list[Member], first: Cluster, lead: User, client_of: Client
) -> None:
    said = [{"relation": "contradiction", "suggestion": "edited"}, {"relation": "contradiction"}]
    round = say(corpus, people, "discourse", [*said, {"relation": "agreement"}], options={"suggestions": True})
    shown = client_of(lead).get(f"/api/v1/clusters/{first.pk}/").json()
    assert shown["relation"] == {"value": "contradiction", "origin": "by majority"}
    report = client_of(lead).get(f"/api/v1/rounds/{round.pk}/agreement/").json()
    assert [m["name"] for m in report["measures"]] == ["relation"]
    assert list(findings()) == []


def test_both_kinds_have_an_agreement_report(
    corpus: Project, people: list[Member], lead: User, client_of: Client
) -> None:
    round = say(corpus, people, "tuple", [tuple_value(i="nepralin", o=o) for o in ("relapse", "relapse", "x")])
    report = client_of(lead).get(f"/api/v1/rounds/{round.pk}/agreement/").json()
    assert len(report["measures"]) == 4
    assert {s["name"] for s in report["spans"]} == {"P slot", "I slot", "C slot", "O slot", "tuple"}


def test_a_cluster_card_shows_current_labels_and_suggestions_only_if_the_round_has_them(
    corpus: Project, people: list[Member]
) -> None:
    suggested = {}
    for suggestions in (True, False):
        round = build_round(
            corpus,
            people[1:2],
            kind="discourse",
            name=f"{suggestions}",
            options={"suggestions": suggestions},
            filters={"cluster": "26258610_1"},
        )
        [card] = cards(round, next_assignments(user=people[1].user, round=round))
        suggested[suggestions] = card["suggested"]
    assert suggested == {True: "contradiction", False: None}
    assert [(p["position"], p["polarity"], p["modality"]) for p in card["propositions"]] == [
        (0, "positive", "moderate"),
        (1, "positive", "weak"),
        (2, "no effect", "moderate"),
    ]


def test_units_of_both_kinds_are_found_by_the_filters_of_a_round(corpus: Project, people: list[Member]) -> None:
    def keys(**filters: Any) -> list[str]:
        return list(choosing.units(corpus, "tuple", filters).values_list("key", flat=True))

    assert len(keys()) == 3
    assert keys(review="30000001") == keys(search="ÄPFEL") == ["30000001_0"]
    unit = Unit.objects.get(type="cluster", key="30000001_0")
    correct(unit=unit, kind="tuple", value=tuple_value(i="nepralin"), reason="Shorter.", by=people[0])
    assert keys(gold="without") == ["26258610_0", "26258610_1"]
    assert keys(stale=True) == []


def test_a_tuple_whose_target_text_was_corrected_can_be_confirmed(
    corpus: Project, people: list[Member], first: Cluster
) -> None:
    value = tuple_value(i="nepralin", c="[placebo]", o="relapse", p="adults")
    correct(unit=first.unit, kind="tuple", value=value, reason="Who?", by=people[0])
    target = first.propositions.get(position=0)
    supersede_text(proposition=target, text="Nepralin reduces relapse in adults.", reason="Typo.", by=people[0])
    assert (first.unit_id, "tuple") in stale_units([first.unit_id])
    confirm(unit=Unit.objects.get(pk=first.unit_id), kind="tuple", reason="Still so.", by=people[0])
    assert (first.unit_id, "tuple") not in stale_units([first.unit_id])
    assert slots(first)["p"] == ("adults", "explicit")


def test_an_imported_tuple_whose_target_text_was_corrected_can_be_confirmed(
    corpus: Project, people: list[Member], first: Cluster
) -> None:
    say(corpus, people[1:2], "tuple", [tuple_value(i="nepralin")], purpose="measure only")
    target = first.propositions.get(position=0)
    supersede_text(proposition=target, text="Nepralin reduces relapse.", reason="Typo.", by=people[0])
    assert (first.unit_id, "tuple") in stale_units([first.unit_id])
    confirm(unit=Unit.objects.get(pk=first.unit_id), kind="tuple", reason="Still so.", by=people[0])
    assert (first.unit_id, "tuple") not in stale_units([first.unit_id])
    assert slots(first)["i"] == ("nepralin", "explicit")


def test_a_cluster_made_of_one_study_is_in_agreement_with_itself(
    project: Project, file: Path, people: list[Member]
) -> None:
    import_records(project, write(file, [cluster("5_0", [source()])]))
    round = build_round(project, people[1:2], kind="discourse", options={"suggestions": True})
    [card] = cards(round, next_assignments(user=people[1].user, round=round))
    assert card["suggested"] == "agreement"
