"""`manage.py score`."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from generation.models import Scoring
from projects.models import Project
from tests.annotation.m3_files import cluster, import_records, write
from tests.generation.summaries import build_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def systems(project: Project, tmp_path: Path) -> Project:
    import_records(project, write(tmp_path / "level3.jsonl", [cluster("111_0"), cluster("111_1")]))
    build_run(project, "Lead")
    build_run(project, "Empty", write=lambda material: "")
    return project


def score(*words: str) -> list[str]:
    out = StringIO()
    call_command("score", "--project", "eye", *words, stdout=out, stderr=StringIO())
    return out.getvalue().splitlines()


def test_score_computes_all_metrics_that_need_no_weights(systems: Project) -> None:
    lines = score()
    assert "rouge: Lead (proposition): n = 2 summaries, 2 rows" in lines
    assert "copying: Empty (proposition): n = 2 summaries, 4 rows" in lines
    made = Scoring.objects.count()
    assert made == len(lines)
    assert score() == lines
    assert Scoring.objects.count() == made, "nothing is scored twice"


def test_score_computes_one_metric_of_one_system_with_parameters(systems: Project) -> None:
    assert score("--metric", "rouge", "--system", "Lead", "--set", "stemmer=true") == [
        "rouge: Lead (proposition): n = 2 summaries, 2 rows"
    ]
    assert Scoring.objects.get().params == {"stemmer": True}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--system", "Lad"], "has no summaries of Lad"),
        (["--metric", "length", "--set", "stemmer=true"], "takes no parameters"),
        (["--metric", "rouge", "--set", "stemmer=perhaps"], "Expected true or false"),
    ],
)
def test_errors_are_one_clear_line(systems: Project, words: list[str], said: str) -> None:
    with pytest.raises(CommandError, match=said):
        score(*words)
    assert not Scoring.objects.exists()


def test_an_unknown_project_is_named(db: None) -> None:
    with pytest.raises(CommandError, match="Unknown project 'eye'"):
        score()
