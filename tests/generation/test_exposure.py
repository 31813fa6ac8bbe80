"""Units that a model has seen in a training: across projects, through base models, and by weights or texts."""

from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from annotation.kinds.effect.units import get_or_create
from annotation.models import Cluster, EffectUnit, Question, Review, Study
from generation.exposure import Exposures, key_of, keys_of_materials
from generation.models import Run, UnitLevel
from generation.sources import materials, units_of
from projects.models import Member, Project, Role
from tests.annotation.m3_files import import_records, write
from tests.annotation.test_splits import item
from tests.generation.exposures import build_trained_version, build_training
from tests.generation.questions import bring_questions

pytestmark = pytest.mark.django_db


@pytest.fixture
def other(stranger: User) -> Project:
    made = Project.objects.create(name="Secret heart", slug="secret-heart")
    Member.objects.create(project=made, user=stranger, role=Role.LEAD)
    return made


@pytest.fixture
def corpus(project: Project, tmp_path: Path) -> Project:
    import_records(project, write(tmp_path / "a.jsonl", [item(200 + n, str(300 + n)) for n in range(4)]))
    return project


def seen(project: Project, folder: str, level: str = "proposition", *, weights: str = "") -> list[str]:
    version = build_trained_version(project, f"{folder} {level}", folder, level, weights)
    Run.objects.create(version=version)
    units = Exposures(project).units(version.pk)
    rows = Cluster.objects.filter(unit__in=units) if level == "proposition" else Question.objects.filter(unit__in=units)
    return sorted(rows.values_list("key", flat=True))


def test_studies_and_reviews_of_a_training_of_another_project_are_found(corpus: Project, other: Project) -> None:
    training = build_training(other, "one", ["301", "202", "999"])
    assert seen(corpus, "trained-one") == ["201_0", "202_0"]
    assert seen(corpus, "copied", weights=training.result["weights"]) == ["201_0", "202_0"]
    assert seen(corpus, "bart") == []


def test_a_model_that_was_trained_further_has_seen_what_its_base_has_seen(corpus: Project, other: Project) -> None:
    build_training(other, "one", ["300"])
    build_training(corpus, "two", ["302"], base="trained-one")
    assert seen(corpus, "trained-two") == ["200_0", "202_0"]
    assert seen(corpus, "trained-one") == ["200_0"]


def test_ids_that_are_not_pubmeds_are_compared_by_text(project: Project, other: Project, tmp_path: Path) -> None:
    import_records(project, write(tmp_path / "a.jsonl", [item(200, "1"), item(201, "2")]))
    Study.objects.filter(pmid="1").update(pmid="my study")
    Study.objects.filter(pmid="2").update(pmid="your study")
    text = Cluster.objects.get(key="200_0").propositions.get(position=1).text
    build_training(other, "one", [key_of("study 1", text), key_of("your study", "another text")])
    assert seen(project, "trained-one") == ["200_0"]


def test_questions_are_compared_by_their_texts(project: Project, other: Project, tmp_path: Path) -> None:
    bring_questions(other, tmp_path, 2)
    of_other = materials(other, "answer", units_of(other, "answer")[:1])
    [keys] = keys_of_materials("answer", of_other).values()
    assert len(keys) == 2
    build_training(other, "one", keys)
    bring_questions(project, tmp_path, 3)
    assert seen(project, "trained-one", "question") == ["1"]


def test_what_a_training_stores_of_each_unit_finds_the_unit(corpus: Project, other: Project) -> None:
    units = units_of(corpus, "proposition")
    keys = keys_of_materials("proposition", materials(corpus, "proposition", units))
    assert keys[units[0]] == ("200", "300")


def test_every_level_is_searched_in_one_query(corpus: Project, other: Project) -> None:
    for n in range(3):
        build_training(other, f"many-{n}", ["200", "302"])
    review = Review.objects.get(project=corpus, pmid="200")
    pair = review.effect_pairs.create(position=0, intervention="nepralin", outcome="relapse")
    get_or_create([(pair, None)])
    for level in UnitLevel.values:
        for n in range(3):
            Run.objects.create(version=build_trained_version(corpus, f"{level}-{n}", f"trained-many-{n}", level))
    with CaptureQueriesContext(connection) as queries:
        exposures = Exposures(corpus)
        found = {level: exposures.of_level(level) for level in UnitLevel.values}
    assert len(queries) == 2 + len(UnitLevel.values)
    assert found == {level: set() for level in UnitLevel.values} | {
        "proposition": set(Cluster.objects.filter(key__in=["200_0", "202_0"]).values_list("unit", flat=True)),
        "pair": {EffectUnit.objects.get(pair=pair).unit_id},
    }
