"""Labels of texts are compared with the target's by the declared meanings of options."""

from pathlib import Path
from typing import Any

import pytest

from accounts.models import User
from annotation.models import Cluster
from evaluation.models import PageTextOf, RatingDesign
from evaluation.protocols import shipped
from evaluation.protocols.actions import create_protocol
from evaluation.protocols.content import as_json
from evaluation.protocols.parts import Criterion
from evaluation.results.actions import compute_ratings
from evaluation.results.tables.m3_rated import Table5
from evaluation.unblinding.actions import unblind
from projects import reports
from projects.models import Project
from projects.reports.registry import Tables
from projects.rounds.actions import close_round
from tests.annotation.m3_files import cluster, import_records, write
from tests.evaluation.rating_rounds import default_choice, open_rating, rate_all
from tests.generation.builders import build_run, build_version

pytestmark = pytest.mark.django_db
SAID = {"Alder": "Positive", "Birch": "worse", "Cedar": "mixed"}


def in_own_words() -> Any:
    """M3's blind labels with two renamed options, and one without a meaning."""
    content = as_json(shipped.get("m3-table-5-blind").content)
    [polarity] = [each for each in content["criteria"] if each["key"] == "polarity"]
    positive, _, negative = polarity["scale"]["options"]
    positive["value"] = "Positive"
    negative |= {"value": "worse", "means": "negative"}
    polarity["scale"]["options"].append({"value": "mixed", "label": "Mixed", "anchor": "Now good, now bad"})
    return content


def labelled(project: Project, lead: User, rater: User, folder: Path) -> RatingDesign:
    """An unblinded round by that protocol; two of three targets are positive, one is negative."""
    directions = ("positive", "positive", "negative")
    records = [cluster(f"26258610_{n}", target_direction=each) for n, each in enumerate(directions)]
    import_records(project, write(folder / "level3.jsonl", records))
    units = list(Cluster.objects.values_list("unit", flat=True))
    runs = [
        build_run(build_version(project, name, decoding={"sentences": 7}), {u: f"{name} on {u}." for u in units})
        for name in SAID
    ]
    version = create_protocol(project=project, name="Own words", content=in_own_words(), by=lead)
    round = open_rating(project, [project.members.get(user=rater)], runs, str(version.pk))

    def choose(criterion: Criterion, key: str) -> str:
        if criterion.key == "polarity":
            return SAID[PageTextOf.objects.get(text__code=key, text__page__source__design__round=round).system.name]
        return "moderate" if criterion.key == "modality" else default_choice(criterion, key)

    rate_all(rater, round, choose)
    close_round(round=round, by=lead)
    design = RatingDesign.objects.select_related("round__project").get(round=round)
    unblind(design=design, by=lead)
    compute_ratings(design=design)
    return design


def test_a_label_with_another_name_counts_and_an_unknown_one_is_noted(
    project: Project, lead: User, evaluator: User, tmp_path: Path
) -> None:
    labelled(project, lead, evaluator, tmp_path)
    table = Tables(project).build(reports.get(Table5.key))
    at = [column.title for column in table.columns].index("Polarity")
    assert [(row[at].count, row[at].n) for row in table.rows[:2]] == [(2, 3), (1, 3)]
    assert table.rows[2][at].undefined == "every rating is N/A"
    assert (
        "ratings, Polarity: 3 ratings excluded, also from all correct and all wrong: 'mixed' corresponds to "
        "no label of the target."
    ) in table.notes
