"""Pages of MS^2's reviews and studies: spans, pairs, directions, and what is decided, withheld or unknown."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import User
from annotation.models import EffectPair, MachineReading, Review, Study, Target
from projects.gold.actions import finish_round
from projects.models import Import, Member, Project
from projects.queue.actions import next_assignments
from projects.rounds.actions import close_round
from projects.stored_figures.actions import compute_and_store
from projects.uploads.files import Source
from tests.annotation import test_mslr as mslr_files
from tests.annotation.ms2_files import SAMPLE, effect, import_records, published, reference, review, study, write
from tests.builders import answer, build_round

pytestmark = pytest.mark.django_db
Client = Callable[[User], APIClient]


def get(client: APIClient, path: str) -> Any:
    reply = client.get(f"/api/v1/{path}/readings/")
    assert reply.status_code == 200, reply.json()
    return reply.json()


def review_page(client: APIClient, pmid: int = 7) -> Any:
    return get(client, f"reviews/{Review.objects.get(pmid=str(pmid)).pk}")


def quotes(text: Any, element: str) -> list[str]:
    return [text["text"][span["start"] : span["end"]] for span in text["spans"] if span["element"] == element]


@published
def test_the_published_sample_has_its_pairs_directions_and_weak_evidence(
    project: Project, lead: User, client_of: Client
) -> None:
    import_records(project, Source.of(SAMPLE))
    page = get(client_of(lead), f"reviews/{Review.objects.get().pk}")
    assert (page["year"], page["sentences"], page["state"], len(page["pairs"])) == (None, 12, "machine", 27)
    assert len(page["abstract"]["spans"]) == 24
    assert page["agreement"] == {"n": 540, "count": 293}
    assert page["evidence"]["included"] == {"n": 540, "weak": 540}
    assert (page["evidence"]["review"]["n"], page["evidence"]["general"]["n"]) == (27, 378)
    roles = [one["role"] for one in page["studies"]]
    assert (roles.count("included"), roles.count("general")) == (20, 15)
    assert sum(one["spans"] for one in page["studies"] if one["role"] == "included") == 438
    assert {"element": "o", "text": "vertebral fractures", "within": "nonvertebral fractures"} in page["without_pair"]
    assert page["target"]["text"].startswith("CONCLUSIONS This systematic review")
    assert page["background"]["text"].startswith("BACKGROUND Observational")


def test_pages_take_the_same_number_of_queries_for_401_studies(
    project: Project, lead: User, client_of: Client, tmp_path: Path
) -> None:
    few = review(7, included_studies=[study(reference(str(n))) for n in range(30, 32)])
    many = review(8, included_studies=[study(reference(str(n))) for n in range(100, 501)])
    import_records(project, write(tmp_path / "reviews.jsonl", [few, many]))
    client = client_of(lead)
    costs = set()
    for pmid in ("7", "8"):
        with CaptureQueriesContext(connection) as queries:
            page = review_page(client, int(pmid))
        costs.add(len(queries))
    assert len(costs) == 1
    assert costs.pop() <= 27
    assert sum(one["role"] == "included" for one in page["studies"]) == 401
    assert page["agreement"] == {"n": 802, "count": 401}
    with CaptureQueriesContext(connection) as queries:
        pair = get(client, f"effect-pairs/{page['pairs'][0]['id']}")
    assert len(queries) <= 12
    assert len(pair["studies"]) == 402


def test_studies_are_listed_oldest_first_and_those_without_a_year_last(
    project: Project, lead: User, client_of: Client, tmp_path: Path
) -> None:
    years = {"31": 2004, "32": None, "33": 1999}
    studies = [
        study(reference(pmid, metadata={"YEAR": year, "SO": "A Journal", "AU": []})) for pmid, year in years.items()
    ]
    import_records(project, write(tmp_path / "r", [review(included_studies=studies, general_references=[])]))
    page = review_page(client_of(lead))
    assert [(one["pmid"], one["year"]) for one in page["studies"]] == [("33", 1999), ("31", 2004), ("32", None)]
    assert page["year"] is None


def test_a_span_within_another_says_that_it_has_no_pair(
    project: Project, lead: User, client_of: Client, tmp_path: Path
) -> None:
    one_pair = [effect("drug a", "pain in adults .", "Death is not affected .")]
    alone = review(significances=one_pair, included_studies=[], general_references=[])
    import_records(project, write(tmp_path / "r", [alone]))
    page = review_page(client_of(lead))
    assert page["without_pair"] == [
        {"element": "o", "text": "pain", "within": "pain in adults ."},
        {"element": "o", "text": "death", "within": ""},
    ]


def test_background_and_target_have_the_spans_of_their_sentences(
    project: Project, lead: User, client_of: Client, tmp_path: Path
) -> None:
    import_records(project, write(tmp_path / "r", [review()]))
    page = review_page(client_of(lead))
    assert page["target"]["text"] == "Drug A lowers pain\nDeath is not affected ."
    assert quotes(page["target"], "o") == ["pain", "Death"]
    # The tags of "pain in adults ." end in the next sentence.
    assert quotes(page["background"], "o") == ["Pain", "pain in adults ."]
    assert {span["is_machine"] for span in page["background"]["spans"]} == {True}


def test_a_newer_reading_of_the_classes_changes_neither_background_nor_target(
    project: Project, lead: User, client_of: Client, tmp_path: Path
) -> None:
    import_records(project, write(tmp_path / "r", [review()]))
    before = review_page(client_of(lead))
    imported = MachineReading.objects.get(task="sentences")
    sentences = [one | {"class": "ETC"} for one in imported.values["sentences"]]
    MachineReading.objects.create(
        task="sentences",
        review=imported.review,
        values={"sentences": sentences},
        model="tiny",
        weights="a" * 64,
        imported=imported.imported,
    )
    assert review_page(client_of(lead)) == before
    assert quotes(before["target"], "o") == ["pain", "Death"]


def test_a_withheld_target_is_on_no_page(project: Project, lead: User, client_of: Client, tmp_path: Path) -> None:
    import_records(project, write(tmp_path / "r", [review()]))
    Target.objects.update(is_withheld=True, text="")
    page = review_page(client_of(lead))
    assert (page["target"], page["target_is_withheld"]) == (None, True)


def test_a_study_in_two_reviews_keeps_the_pairs_and_spans_of_each(
    project: Project, lead: User, client_of: Client, tmp_path: Path
) -> None:
    other = reference(
        "11",
        abstract="Adults had <out> less pain </out> .",
        significances=[effect("drug b", "sleep", "Adults had less pain .", most=2)],
    )
    of_review = [effect("drug b", "sleep", "Death is not affected .")]
    second = review(8, included_studies=[study(other)], general_references=[], significances=of_review)
    import_records(project, write(tmp_path / "r", [review(), second]))
    page = get(client_of(lead), f"studies/{Study.objects.get(pmid='11').pk}")
    asked = {
        one["pmid"]: [(pair["outcome"], pair["effect"]["direction"], pair["of_review"]) for pair in one["pairs"]]
        for one in page["reviews"]
    }
    assert asked == {
        "7": [("pain", "decreased", "no difference"), ("death", "no difference", "no difference")],
        "8": [("sleep", "increased", "no difference")],
    }
    found = {one["pmid"]: (quotes(one["abstract"], "p"), quotes(one["abstract"], "o")) for one in page["reviews"]}
    assert found == {"7": (["Adults"], []), "8": ([], ["less pain"])}
    assert page["evidence"]["study"] == {"n": 3, "weak": 0}


def test_what_people_decide_is_named_and_replaces_what_a_model_read(
    project: Project, lead: User, ann1: User, client_of: Client, tmp_path: Path
) -> None:
    import_records(project, write(tmp_path / "r", [review()]))
    member = Member.objects.get(project=project, user=ann1)
    round = build_round(project, [member], kind="effect", options={"effect_texts": "both"})
    client = client_of(lead)
    assert review_page(client)["state"] == "asked"
    said = {"7 pair 1": ("increased", 4), "7 pair 1 study 11": ("increased", 1)}
    while slots := next_assignments(user=ann1, round=round):
        direction, sentence = said.get(slots[0].unit.key, ("not reported", None))
        value = {"effect_direction": direction, "effect_sentence": sentence, "suggestion": ""}
        answer(ann1, slots[0], value, kind="effect")
    close_round(round=round, by=lead)
    finish_round(round=round, by=lead)
    page = review_page(client)
    assert page["state"] == "decided"
    first = page["pairs"][0]["effect"]
    assert (first["direction"], first["is_machine"], first["sentence"]) == ("increased", False, "Drug A lowers pain")
    assert first["machine"]["direction"] == "no difference"
    [included] = [one for one in page["studies"] if one["role"] == "included"]
    assert (included["directions"], included["decided"]) == ([2, 3], [0, 1])
    assert page["agreement"] == {"n": 1, "count": 1}, "not reported does not count"
    pair = get(client, f"effect-pairs/{EffectPair.objects.get(position=1).pk}")
    assert [one["agrees"] for one in pair["studies"] if one["role"] == "included"] == [None]
    rows = client.get("/api/v1/projects/eye/materials/reviews/").json()["results"]
    assert [(row["cells"], row["page"]) for row in rows] == [
        (["Drug A for pain: review 7", "7", None, "1", "stated", "decided"], f"reviews/{page['id']}")
    ]
    for state, n in (("decided", 1), ("asked", 0), ("machine", 0)):
        assert client.get(f"/api/v1/projects/eye/materials/reviews/?state={state}").json()["count"] == n


def test_the_newest_reading_is_shown_whichever_model_gave_it(
    project: Project, lead: User, client_of: Client, tmp_path: Path
) -> None:
    import_records(project, write(tmp_path / "r", [review()]))
    assert review_page(client_of(lead))["abstract"]["spans"]
    folder = Import.objects.create(
        project=project, format="readings", file_name="tagger", sha256="b" * 64, size=1, created_at=timezone.now()
    )
    MachineReading.objects.create(
        task="pio", review=Review.objects.get(), weights="a" * 64, model="tagger", values={"tags": []}, imported=folder
    )
    assert review_page(client_of(lead))["abstract"]["spans"] == []


def test_reviews_of_mslr_are_listed_with_their_pages(
    project: Project, lead: User, client_of: Client, tmp_path: Path
) -> None:
    """Their tables have neither titles nor abstracts of reviews."""
    mslr_files.import_tables(project, tmp_path, mslr_files.tables("train"))
    client = client_of(lead)
    kinds = client.get(f"/api/v1/projects/{project.slug}/materials/").json()["kinds"]
    assert "reviews" in [kind["key"] for kind in kinds]
    rows = client.get(f"/api/v1/projects/{project.slug}/materials/reviews/").json()["results"]
    assert {row["page"] for row in rows} == {f"reviews/{pk}" for pk in Review.objects.values_list("pk", flat=True)}
    compute_and_store(project=project)
    kinds = client.get(f"/api/v1/projects/{project.slug}/materials/").json()["kinds"]
    assert {kind["key"]: kind["count"] for kind in kinds}["reviews"] == len(rows)
