"""The target of a review of MS^2 follows the classes of its sentences."""

from collections.abc import Callable
from pathlib import Path

import pytest

from accounts.models import User
from annotation.kinds.supersede import supersede_target
from annotation.models import Input, Review, Target
from generation.models import UnitLevel
from generation.sources import materials
from projects.curation.actions import correct
from projects.gold.actions import finish_round
from projects.models import Member, Project
from projects.people.actions import create_project
from projects.queue.actions import next_assignments
from projects.rounds.actions import close_round
from releases.formats import m3
from releases.formats.notes import Notes
from tests.annotation.ms2_files import SENTENCES, import_records, review, write
from tests.builders import answer, build_round

pytestmark = [pytest.mark.django_db, pytest.mark.engine]
FIRST, SECOND = "Drug A lowers pain", "Death is not affected ."
IMPORTED = ["BACKGROUND", "GOAL", "METHODS", "EFFECT", "EFFECT"]
Relabel = Callable[..., None]


@pytest.fixture
def project(lead: User, tmp_path: Path) -> Project:
    project = create_project(slug="ms2", name="MS^2", by=lead)
    import_records(project, write(tmp_path / "a.jsonl", [review(), review(8)]))
    return project


@pytest.fixture
def member(project: Project, lead: User) -> Member:
    return Member.objects.get(project=project, user=lead)


@pytest.fixture
def relabel(member: Member) -> Relabel:
    def relabel(*labels: str, pmid: str = "7") -> None:
        unit = Review.objects.get(pmid=pmid).unit
        correct(unit=unit, kind="sentences", value=value(labels), reason="A wrong class.", by=member)

    return relabel


def value(labels: object) -> dict[str, object]:
    listed = enumerate(list(labels), start=1)  # type: ignore[call-overload]
    return {"sentence_classes": [{"number": n, "said": label} for n, label in listed]}


def versions(pmid: str = "7") -> list[str]:
    return list(Target.objects.filter(review__pmid=pmid).order_by("version").values_list("text", flat=True))


def current(project: Project, pmid: str = "7") -> list[str]:
    """Return the texts that scores compare with."""
    unit = Review.objects.get(pmid=pmid).unit_id
    found = materials(project, UnitLevel.DOCUMENT, [unit])
    return [reference.text for material in found.values() for reference in material.references]


def test_a_relabelled_effect_changes_the_target_and_keeps_the_imported_one(project: Project, relabel: Relabel) -> None:
    relabel(*IMPORTED[:4], "ETC")
    assert current(project) == [FIRST]
    assert versions() == [f"{FIRST}\n{SECOND}", FIRST]
    assert list(Input.objects.filter(target__text=FIRST).values_list("study__pmid", flat=True)) == ["11"]
    assert current(project, "8") == versions("8") == [f"{FIRST}\n{SECOND}"]
    [(_, lines)] = [file for file in m3.files(project, Notes()) if "level1" in file[0]]
    assert FIRST in (released := b"".join(lines).decode())
    assert released.count(SECOND) == 1, "only in the other review"
    relabel(*IMPORTED)
    assert versions() == [f"{FIRST}\n{SECOND}", FIRST, f"{FIRST}\n{SECOND}"]


def test_a_class_that_is_no_effect_changes_no_target(project: Project, relabel: Relabel) -> None:
    relabel("GOAL", *IMPORTED[1:])
    assert versions() == [f"{FIRST}\n{SECOND}"]


def test_a_corrected_text_stays_until_other_sentences_state_the_effect(
    project: Project, member: Member, relabel: Relabel
) -> None:
    target = Target.objects.select_related("unit").get(review__pmid="7")
    supersede_target(target=target, text="Drug A lowers pain.", reason="A typing error.", by=member)
    relabel("GOAL", *IMPORTED[1:])
    assert current(project) == ["Drug A lowers pain."]
    relabel("GOAL", *IMPORTED[1:3], "ETC", "EFFECT")
    assert current(project) == [SECOND]


def test_without_an_effect_there_is_no_target_and_with_one_again_it_returns(project: Project, relabel: Relabel) -> None:
    relabel(*IMPORTED[:3], "ETC", "ETC")
    assert current(project) == []
    relabel(*IMPORTED[:3], "ETC", "ETC")
    relabel(*IMPORTED[:3], "ETC", "EFFECT")
    assert current(project) == [SECOND]
    assert versions() == [f"{FIRST}\n{SECOND}", SECOND]


def test_a_first_effect_gives_a_review_its_target(project: Project, relabel: Relabel, tmp_path: Path) -> None:
    import_records(project, write(tmp_path / "b.jsonl", [review(9, sentences=SENTENCES[:3])]))
    assert versions("9") == []
    relabel("BACKGROUND", "GOAL", "EFFECT", pmid="9")
    assert current(project, "9") == ["Trials were sought ."]


def test_a_round_changes_targets_too(project: Project, member: Member, lead: User) -> None:
    options = {"sentence_task": "sentence_classes"}
    round = build_round(project, [member], kind="sentences", overlap=1, options=options)
    while slots := next_assignments(user=lead, round=round):
        labels = [*IMPORTED[:4], "ETC"] if slots[0].unit.key == "7" else IMPORTED
        answer(lead, slots[0], value(labels), kind="sentences")
    close_round(round=round, by=lead)
    finish_round(round=round, by=lead)
    finish_round(round=round, by=lead)
    assert versions() == [f"{FIRST}\n{SECOND}", FIRST]
    assert versions("8") == [f"{FIRST}\n{SECOND}"]
